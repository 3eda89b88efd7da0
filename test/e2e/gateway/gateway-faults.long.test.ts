import { describe, expect, it } from 'vitest';
import { sendMessage } from '../../../src/client/runs/run-actions.ts';
import { connect } from '../../../src/client/temporal/connect.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { startWorker, type TestWorker, writeAccess } from '../../support/temporal.ts';
import {
  type Answer,
  approvalDefinition,
  echoDefinition,
  requestTo,
  sharedGateway,
  testGateway,
  unique,
} from './gateway-support.ts';

const gateway = sharedGateway();

describe('the gateway while others fail', () => {
  it('answers 503 while Temporal is unavailable, and recovers by itself when it is back', async () => {
    const proxy = new TcpProxy(gateway.server.config.temporal.address ?? '');
    await proxy.open();
    const { config } = gateway.server;
    const temporal = await connect({ ...config, temporal: { ...config.temporal, address: `127.0.0.1:${proxy.port}` } });
    const second = await startGateway(config, { temporal });
    const ask = (method: string, path: string, json?: ReturnType<typeof echoDefinition>) =>
      requestTo(second.url, method, path, json === undefined ? {} : { json });
    try {
      const slug = unique('through');
      expect((await ask('PUT', `/api/workflows/${slug}`, echoDefinition(slug))).status).toBe(201);
      await proxy.cut();
      const answers = await Promise.all([
        ask('GET', `/api/workflows/${slug}`),
        ask('PUT', `/api/workflows/${slug}`, approvalDefinition(slug)),
        ask('POST', '/api/triggers/manual/run', { workflowId: slug, clientRequestId: 'one' }),
        ask('GET', '/readyz'),
      ]);
      for (const answer of answers) {
        expect(answer.status).toBe(503);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect((await ask('GET', '/healthz')).status).toBe(200);
      await proxy.open();
      const deadline = Date.now() + 20_000;
      let answer: Answer = await ask('GET', `/api/workflows/${slug}`);
      while (answer.status === 503 && Date.now() < deadline) answer = await ask('GET', `/api/workflows/${slug}`);
      expect(answer.status).toBe(200);
      expect([200, 201]).toContain(
        (await ask('POST', '/api/triggers/manual/run', { workflowId: slug, clientRequestId: 'one' })).status,
      );
    } finally {
      await second.close();
      await temporal.close();
      await proxy.cut();
    }
  });

  it('finds the run that another gateway has started before it died', async () => {
    const slug = unique('taken-over');
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    const { config } = gateway.server;
    const other = await startGateway(config, { temporal: gateway.server });
    const json = { workflowId: slug, input: { a: 1 }, clientRequestId: 'order 1' };
    const first = await requestTo(other.url, 'POST', '/api/triggers/manual/run', { json });
    await other.close();
    const again = await gateway.request('POST', '/api/triggers/manual/run', { json });
    expect(again).toMatchObject({ status: 200, body: { executionId: first.body.executionId } });
  });

  it('ends long waits when it closes', async () => {
    const slug = unique('waits');
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
    const id = await gateway.start(slug, { amount: 1 });
    const other = await startGateway(gateway.server.config, { temporal: gateway.server });
    const result = requestTo(other.url, 'GET', `/api/executions/${id}/result?wait=60`, {});
    await new Promise((resolve) => setTimeout(resolve, 300));
    await other.close();
    expect((await result).status).toBe(202);
  });
});

describe('the gateway without a worker', () => {
  it('starts, reads and lists, and says of a decision that its outcome is unknown', async () => {
    const lonely = await testGateway();
    let worker: TestWorker | undefined;
    try {
      const slug = unique('alone');
      const path = unique('alone');
      const triggers = [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }];
      await lonely.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug, { triggers }) });
      const executionId = await lonely.start(slug, { amount: 1 });
      await lonely.until(`/api/executions/${executionId}`, (answer) => answer.body.status === 'waiting');
      await lonely.stopWorker();

      expect((await lonely.request('GET', `/api/workflows/${slug}`)).body.definition.slug).toBe(slug);
      const accepted = await lonely.request('POST', `/webhooks/${path}`, { json: { amount: 2 } });
      expect(accepted.status).toBe(202);
      const read = await lonely.request('GET', `/api/executions/${executionId}`);
      expect(read.body).toMatchObject({ status: 'waiting', input: { amount: 1 }, waitingFor: [{ path: 'review' }] });
      const steps = await lonely.request('GET', `/api/executions/${executionId}/steps`);
      expect(steps.body.items).toMatchObject([
        { path: 'received', status: 'completed' },
        { path: 'review', status: 'waiting' },
      ]);
      const decided = await lonely.request('POST', `/api/executions/${executionId}/approve`, {
        json: { approve: true },
        headers: { 'idempotency-key': 'mine' },
      });
      expect(decided).toMatchObject({ status: 503, body: { code: 'outcome_unknown' } });

      worker = await startWorker(lonely.server);
      const again = await lonely.request('POST', `/api/executions/${executionId}/approve`, {
        json: { approve: true },
        headers: { 'idempotency-key': 'mine' },
      });
      // Either it was waiting there all the time, or it is done now; in both cases once.
      expect([200, 409]).toContain(again.status);
      const result = await lonely.request('GET', `/api/executions/${executionId}/result?wait=20`);
      expect(result.body.output).toEqual({ paid: 1 });
      await lonely.until(`/api/executions/${accepted.body.executionId}`, (answer) => answer.body.status === 'waiting');
    } finally {
      await worker?.stop();
      await lonely.close();
    }
  });
});

describe('messages', () => {
  it('are refused from 4,000 unread on; of signals a run keeps 5,000 and counts the others', async () => {
    const slug = unique('flooded');
    const definition = {
      name: 'Flooded',
      slug,
      steps: {
        received: { stepType: 'trigger', nextSteps: { success: 'open' } },
        open: { stepType: 'approval', config: { message: 'Read them?' }, nextSteps: { approved: 'take' } },
        take: {
          stepType: 'listen',
          config: { name: 'n', count: 5_000, timeout: '60s' },
          nextSteps: { received: 'done' },
        },
        done: { stepType: 'finish', config: { output: '{{ steps.take.output.data }}' } },
      },
    };
    expect(await gateway.request('PUT', `/api/workflows/${slug}`, { json: definition })).toMatchObject({ status: 201 });
    const id = await gateway.start(slug);
    await gateway.until(`/api/executions/${id}`, (answer) => answer.body.status === 'waiting');
    const { server } = gateway;
    const direct = writeAccess(server);
    let sent = 0;
    const sender = async () => {
      for (let n = sent++; n < 3_950; n = sent++)
        await sendMessage(direct, 'default', id, { name: 'n', payload: n, id: `m${n}` });
    };
    await Promise.all(Array.from({ length: 20 }, sender));

    const answers: Answer[] = [];
    for (let n = 3_950; n < 4_010; n++)
      answers.push(await gateway.request('POST', `/api/executions/${id}/messages/n`, { json: n }));
    expect(answers.slice(0, 50).every((answer) => answer.status === 202)).toBe(true);
    for (const answer of answers.slice(50))
      expect(answer).toMatchObject({ status: 429, body: { code: 'inbox_overflow' } });
    const run = server.client.workflow.getHandle(id);
    expect(await run.query('status')).toMatchObject({ unread: 4_000 });

    // Temporal itself refuses no operator: there is room for a thousand more.
    const signals = Array.from({ length: 1_200 }, (_, n) => 4_000 + n);
    const operator = async () => {
      for (let n = signals.shift(); n !== undefined; n = signals.shift()) {
        const signalled = run.signal('message', { name: 'n', payload: n });
        // A run that is just continuing as new takes none, and says so: it is not acknowledged, and sent again.
        await signalled.catch(() => signals.push(n));
      }
    };
    await Promise.all(Array.from({ length: 20 }, operator));
    expect(await gateway.request('POST', `/api/executions/${id}/messages/n`, { json: 0 })).toMatchObject({
      status: 429,
      body: { code: 'inbox_overflow' },
    });
    expect(await run.query('status')).toMatchObject({ unread: 5_000, dropped: 200 });

    expect((await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } })).status).toBe(
      200,
    );
    const result = await gateway.request('GET', `/api/executions/${id}/result?wait=60`);
    expect(result.body).toMatchObject({ status: 'completed' });
    expect(new Set(result.body.output).size).toBe(5_000);
    expect((await gateway.request('GET', `/api/executions/${id}`)).body.droppedMessages).toBe(200);
  }, 240_000);
});
