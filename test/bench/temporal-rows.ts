/** Rows on the real server: the interpreter and a hand-written workflow with the same activities in one process. */
import { randomUUID } from 'node:crypto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { dataConverterOf } from '../../src/client/payloads/data-converter.ts';
import { startPreparedRun } from '../../src/client/starts/start-prepared-run.ts';
import type { WriteAccess } from '../../src/client/temporal/access.ts';
import { connectionOptions } from '../../src/client/temporal/connect.ts';
import type { RunInput } from '../../src/contract/run/run.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { startWorker, type TestServer, writeAccess } from '../support/temporal.ts';
import { approval, chain, empty, fanned, looped, pure } from './definitions.ts';
import { median, paired, type Row, timed } from './rows.ts';

const HISTORY_LIMIT = 1_000;
const HAND = 'bench-hand';

/** The effect of these rows: it answers at once. */
export const atOnceActivities = { http: async () => ({ data: 1 }) };

type Activities = Record<string, (...args: never[]) => Promise<unknown>>;

export interface Sides {
  readonly server: TestServer;
  readonly hand: string;
  readonly gateway: WriteAccess;
  stop(): Promise<void>;
}

/**
 * Both workers run in this process, with the same activities and data converter, so that their payloads cost the same.
 * Each has its own connection, bundle and task queue.
 */
export async function startSides(server: TestServer, handBundle: string, activities: Activities): Promise<Sides> {
  const ours = await startWorker(server, { activities });
  const connection = await NativeConnection.connect(connectionOptions(server.config));
  const hand = `${HAND}-${server.taskQueue}`;
  const worker = await Worker.create({
    connection,
    namespace: server.namespace,
    taskQueue: hand,
    workflowBundle: { code: handBundle },
    activities,
    dataConverter: dataConverterOf(server.config),
    maxCachedWorkflows: 100,
  });
  const running = worker.run();
  return {
    server,
    hand,
    gateway: writeAccess(server),
    stop: async () => {
      worker.shutdown();
      await running;
      await connection.close();
      await ours.stop();
    },
  };
}

export async function temporalRows(sides: Sides, only: (name: string) => boolean): Promise<Row[]> {
  const rows: Row[] = [];
  const row = async (name: string, aim: Row['aim'], measure: () => Promise<number>): Promise<void> => {
    if (only(name)) rows.push({ name, aim, unit: '', value: await measure() });
  };
  const ours = (definition: Definition): Promise<unknown> => execute(sides, definition);
  const hand = (workflow: string, ...args: unknown[]): Promise<unknown> => executeByHand(sides, workflow, args);

  await row('40 steps in a row / by hand', { most: 1.05 }, () => {
    const forty = chain(40);
    return paired(
      9,
      () => timed(() => ours(forty)),
      () => timed(() => hand('sequence', 40)),
    );
  });
  await row('1,000 steps across continue-as-new / by hand', { most: 1.1 }, () => {
    const thousand = looped(1_000);
    return paired(
      1,
      () => timed(() => ours(thousand)),
      () => timed(() => hand('longSequence', 1_000, HISTORY_LIMIT)),
    );
  });
  await row('of 1,000 steps, the last 100 / the first 100', { most: 1.1 }, () => lastToFirst(sides));
  await row('5,000 pure steps / an empty run', { most: 4 }, () => {
    const walked = pure(5_000);
    return paired(
      9,
      () => timed(() => ours(walked)),
      () => timed(() => ours(empty)),
    );
  });
  await row('3-step runs at concurrency 50, throughput / by hand', { least: 0.95 }, () => {
    const three = chain(3);
    const batch = (one: () => Promise<unknown>) => (): Promise<number> => timed(() => atOnce(150, 50, one));
    return paired(
      5,
      batch(() => hand('sequence', 3)),
      batch(() => ours(three)),
    );
  });
  await row('signal to next step / by hand', { most: 1.1 }, () =>
    paired(
      25,
      () => answered(sides, sides.server.taskQueue, 'run', [{ definition: approval } satisfies RunInput]),
      () => answered(sides, sides.hand, 'approved', []),
    ),
  );
  await row('forEach of 1,000 at concurrency 50 / by hand', { most: 1.1 }, () => {
    const fan = fanned(1_000, 50);
    return paired(
      2,
      () => timed(() => ours(fan)),
      () => timed(() => hand('fanOut', 1_000, 50)),
    );
  });
  await row('100,000 loop ticks: events of history', { most: 2_000 }, async () => {
    const id = runId();
    await sides.server.client.workflow.execute('run', {
      taskQueue: sides.server.taskQueue,
      workflowId: id,
      args: [{ definition: pure(200_000) } satisfies RunInput],
    });
    return (await sides.server.client.workflow.getHandle(id).describe()).historyLength;
  });
  return rows;
}

function runId(): string {
  return `run.default.bench.${randomUUID()}`;
}

/** As the gateway starts runs. */
export async function execute({ gateway }: Sides, definition: Definition): Promise<unknown> {
  const { executionId } = await startPreparedRun(gateway, 'default', {
    definition,
    input: {},
    trigger: { type: 'manual' },
  });
  return gateway.client.workflow.getHandle(executionId).result();
}

export function executeByHand({ server, hand }: Sides, workflow: string, args: unknown[]): Promise<unknown> {
  return server.client.workflow.execute(workflow, { taskQueue: hand, workflowId: runId(), args });
}

async function atOnce(count: number, lanes: number, one: () => Promise<unknown>): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (left-- > 0) await one();
    }),
  );
}

/** From the signal to the end of a run that has one step left. The run waits first: its start is not measured. */
async function answered({ server }: Sides, taskQueue: string, workflow: string, args: unknown[]): Promise<number> {
  const handle = await server.client.workflow.start(workflow, { taskQueue, workflowId: runId(), args });
  await new Promise((resolve) => setTimeout(resolve, 150));
  return timed(async () => {
    await handle.signal('approve', {});
    await handle.result();
  });
}

/** What the last hundred steps of a long run take, by the times in its history, to the first hundred. */
async function lastToFirst({ server }: Sides): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < 3; round++) {
    const id = runId();
    const handle = await server.client.workflow.start('run', {
      taskQueue: server.taskQueue,
      workflowId: id,
      args: [{ definition: looped(1_000) } satisfies RunInput],
    });
    const first = handle.firstExecutionRunId;
    await handle.result();
    const ends: number[] = [];
    for (let runId: string | undefined = first; runId !== undefined; ) {
      const history = await server.client.workflow.getHandle(id, runId).fetchHistory();
      runId = undefined;
      for (const event of history.events ?? []) {
        const { seconds, nanos } = event.eventTime ?? {};
        if (event.activityTaskCompletedEventAttributes) ends.push(Number(seconds) * 1_000 + (nanos ?? 0) / 1e6);
        runId = event.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? runId;
      }
    }
    ratios.push((ends[999]! - ends[899]!) / (ends[100]! - ends[0]!));
  }
  return median(ratios);
}
