/** Rows about whole processes: the gateway's answer to a trigger, and the memory of a worker with parked runs. */
import { randomUUID } from 'node:crypto';
import type { RunInput } from '../../src/contract/run/run.ts';
import { startGateway } from '../../src/gateway/serve.ts';
import { forkWorker, type TestServer } from '../support/temporal.ts';
import { residentBytes } from './contenders/contender.ts';
import { approval, empty } from './definitions.ts';
import { paired, type Row, timed } from './rows.ts';

const PARKED = 2_000;

/** A manual trigger over HTTP, against the bare start of the same workflow by the client. */
export async function triggerRow(server: TestServer): Promise<Row> {
  const gateway = await startGateway(server.config, { temporal: server });
  try {
    const slug = `bench-${randomUUID().slice(0, 8)}`;
    const stored = await send(`${gateway.url}/api/workflows/${slug}`, 'PUT', { ...empty, slug });
    if (!stored.ok) throw new Error(await stored.text());
    const value = await paired(
      30,
      () =>
        timed(async () => {
          const answer = await send(`${gateway.url}/api/triggers/manual/run`, 'POST', { workflowId: slug, input: {} });
          if (answer.status !== 201) throw new Error(await answer.text());
          await answer.text();
        }),
      () =>
        timed(() =>
          server.client.workflow.start('run', {
            taskQueue: server.taskQueue,
            workflowId: `run.default.bench.${randomUUID()}`,
            args: [{ definition: empty } satisfies RunInput],
          }),
        ),
    );
    return { name: 'trigger to its answer / a bare start', value, unit: '', aim: { most: 3 } };
  } finally {
    await gateway.close();
  }
}

/** A decision and the result of its run through the gateway, against a signal and the result by the SDK's client. */
export async function approveRow(server: TestServer): Promise<Row> {
  const gateway = await startGateway(server.config, { temporal: server });
  try {
    const slug = `bench-${randomUUID().slice(0, 8)}`;
    const stored = await send(`${gateway.url}/api/workflows/${slug}`, 'PUT', { ...approval, slug });
    if (!stored.ok) throw new Error(await stored.text());
    const parked = async (): Promise<string> => {
      const answer = await send(`${gateway.url}/api/triggers/manual/run`, 'POST', { workflowId: slug, input: {} });
      const { executionId } = (await answer.json()) as { executionId: string };
      await new Promise((resolve) => setTimeout(resolve, 150));
      return executionId;
    };
    const value = await paired(
      40,
      async () => {
        const address = `${gateway.url}/api/executions/${await parked()}`;
        return timed(async () => {
          await (await send(`${address}/approve`, 'POST', { approve: true })).text();
          const result = (await (await fetch(`${address}/result?wait=10`)).json()) as { status: string };
          if (result.status !== 'completed') throw new Error(JSON.stringify(result));
        });
      },
      async () => {
        const handle = server.client.workflow.getHandle(await parked());
        return timed(async () => {
          await handle.signal('approve', {});
          await handle.result();
        });
      },
    );
    return { name: 'approve by REST to the result / a signal by the SDK', value, unit: '', aim: { most: 1.5 } };
  } finally {
    await gateway.close();
  }
}

/** Resident memory of the worker process with 2,000 runs that wait, against the same process with none. */
export async function memoryRow(server: TestServer): Promise<Row> {
  const worker = await forkWorker(server);
  try {
    const ids = Array.from({ length: PARKED }, () => `run.default.bench-parked.${randomUUID()}`);
    const start = (workflowId: string) =>
      server.client.workflow.start('run', {
        taskQueue: server.taskQueue,
        workflowId,
        args: [{ definition: approval } satisfies RunInput],
      });
    // One run first, so that what every run shares is there.
    await start(`run.default.bench-parked.${randomUUID()}`);
    await settled(server, 1);
    const none = residentBytes(worker.child.pid!);
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let id = ids[next++]; id !== undefined; id = ids[next++]) await start(id);
    };
    await Promise.all(Array.from({ length: 20 }, lane));
    await settled(server, PARKED + 1);
    const value = residentBytes(worker.child.pid!) / none;
    await server.client.workflowService.startBatchOperation({
      namespace: server.namespace,
      jobId: randomUUID(),
      reason: 'The bench is over.',
      visibilityQuery: `TaskQueue = '${server.taskQueue}' AND ExecutionStatus = 'Running'`,
      terminationOperation: { identity: 'bench' },
    });
    return { name: 'memory of the worker, 2,000 parked runs / none', value, unit: '', aim: { most: 2.5 } };
  } finally {
    await worker.end();
  }
}

/** Until so many runs wait, by Visibility; then a while for the garbage collector. */
async function settled(server: TestServer, count: number): Promise<void> {
  const query = `TaskQueue = '${server.taskQueue}' AND SignalboxStatus = 'waiting'`;
  for (let tries = 0; tries < 600; tries++) {
    if ((await server.client.workflow.count(query)).count >= count) break;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await new Promise((resolve) => setTimeout(resolve, 2_000));
}

function send(url: string, method: string, body: unknown): Promise<Response> {
  return fetch(url, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}
