// Limits under load, and after faults: never one over the limit, and never a slot lost.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitersOf } from '../../../src/client/organization/limits.ts';
import { takeSlots } from '../../../src/client/starts/limiters.ts';
import { ABANDONED_LEASE_MS } from '../../../src/contract/limits/limiter.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import { startWorker, writeAccess } from '../../support/temporal.ts';
import { type Answer, approvalDefinition, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const STARTS = 200;
const LIMIT = 5;
/** Long enough for others to come meanwhile, also where the machine is busy. */
const UPSTREAM_MS = 500;
/** Parallel starts keep a small machine busy. */
const LOAD_MS = 150_000;

let gateway: TestGateway;
let upstream: Server;
let concurrent = 0;
let maxConcurrent = 0;

beforeAll(async () => {
  upstream = createServer((_req, res) => {
    maxConcurrent = Math.max(maxConcurrent, ++concurrent);
    setTimeout(() => {
      concurrent--;
      res.setHeader('content-type', 'application/json').end('{}');
    }, UPSTREAM_MS);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  gateway = await testGateway({
    SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8',
    // The limiters continue as new while they are asked.
    SIGNALBOX_HISTORY_LIMIT: '200',
  });
});
afterAll(async () => {
  await gateway.close();
  upstream.close();
});

const start = (workflowId: string): Promise<Answer> =>
  gateway.request('POST', '/api/triggers/manual/run', { json: { workflowId, input: { amount: 1 } } });
const startAll = (workflowId: string): Promise<Answer[]> =>
  Promise.all(Array.from({ length: STARTS }, () => start(workflowId)));

describe('two hundred parallel starts', () => {
  it('are admitted up to the limit, and the others refused', { timeout: LOAD_MS }, async () => {
    const slug = unique('refusing');
    await gateway.store(approvalDefinition(slug, { config: { concurrency: { limit: LIMIT, overflow: 'reject' } } }));
    const answers = await startAll(slug);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(LIMIT);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(STARTS - LIMIT);
  });

  it('wait where they queue, but for as many as may go', { timeout: LOAD_MS }, async () => {
    const slug = unique('queueing');
    await gateway.store(approvalDefinition(slug, { config: { concurrency: { limit: LIMIT } } }));
    const answers = await startAll(slug);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    const waiting = `/api/workflows/${slug}/executions?limit=1000&status=`;
    await gateway.until(`${waiting}waiting`, ({ body }) => body.items.length === LIMIT, 60);
    await gateway.until(
      `${waiting}pending`,
      ({ body }) =>
        body.items.length === STARTS - LIMIT &&
        body.items.every(({ waitingFor: [wait] }: { waitingFor: { kind: string }[] }) => wait?.kind === 'slot'),
      60,
    );
    expect((await gateway.request('GET', `${waiting}waiting`)).body.items).toHaveLength(LIMIT);
  });
});

describe('a queue', () => {
  it('hands every slot on, and never has more active runs than the limit', async () => {
    const slug = unique('handing-on');
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const fetch = { stepType: 'http', config: { url } };
    await gateway.store({ name: slug, slug, config: { concurrency: { limit: LIMIT } }, steps: { fetch } });
    const ids = await Promise.all(Array.from({ length: 4 * LIMIT }, async () => (await start(slug)).body.executionId));
    for (const id of ids) {
      const result = await gateway.until(`/api/executions/${id}/result?wait=10`, ({ status }) => status === 200, 50);
      expect(result.body.status).toBe('completed');
    }
    expect(maxConcurrent).toBeGreaterThan(1);
    expect(maxConcurrent).toBeLessThanOrEqual(LIMIT);
  });
});

describe('a starter that dies after it got a slot', () => {
  it('holds its slot no longer than a start may take', async () => {
    const slug = unique('abandoned');
    const definition = approvalDefinition(slug, { config: { concurrency: { limit: 1, overflow: 'reject' } } });
    await gateway.store(definition);
    const over = writeAccess(gateway.server);
    const subject = {
      definition: definition as unknown as Definition,
      input: { amount: 1 },
      trigger: { type: 'manual' as const },
    };
    const limiters = await limitersOf(over, 'default', subject);
    expect(await takeSlots(over, 'default', `run.default.${slug}.never`, limiters)).toMatchObject([{ as: 'granted' }]);
    expect((await start(slug)).status).toBe(429);
    await new Promise((resolve) => setTimeout(resolve, ABANDONED_LEASE_MS));
    expect((await start(slug)).status).toBe(201);
  });
});

describe('a worker that dies', () => {
  it('takes no slot along: what ended meanwhile makes room, and what waited resumes', async () => {
    const slug = unique('restarted');
    await gateway.store(approvalDefinition(slug, { config: { concurrency: { limit: 1 } } }));
    const first = (await start(slug)).body.executionId;
    await gateway.until(`/api/executions/${first}`, ({ body }) => body.status === 'waiting');
    const second = (await start(slug)).body.executionId;
    await gateway.until(`/api/executions/${second}`, ({ body }) => body.waitingFor[0]?.kind === 'slot');
    await gateway.stopWorker();
    await gateway.server.client.workflow.getHandle(first).terminate('while no worker was there');
    const worker = await startWorker(gateway.server);
    await gateway.until(`/api/executions/${second}`, ({ body }) => body.waitingFor[0]?.kind === 'approval', 40);
    await worker.stop();
  });
});
