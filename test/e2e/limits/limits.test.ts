// Limits (LANGUAGE.md §1, concurrency): how many runs are active, and what becomes of runs over the limit.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { approvalDefinition, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

let gateway: TestGateway;
/** Counts concurrent requests, by path. */
let upstream: Server;
const most = new Map<string, number>();
const now = new Map<string, number>();

beforeAll(async () => {
  upstream = createServer((req, res) => {
    const path = req.url ?? '';
    now.set(path, (now.get(path) ?? 0) + 1);
    most.set(path, Math.max(most.get(path) ?? 0, now.get(path)!));
    setTimeout(() => {
      now.set(path, now.get(path)! - 1);
      res.setHeader('content-type', 'application/json').end('{}');
    }, 100);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
});
afterAll(async () => {
  await gateway.close();
  upstream.close();
});

type Concurrency = { limit: number; key?: string; overflow?: string };

/** Stores a definition that asks somebody, under a limit. */
async function stored(concurrency: Concurrency, more: { [key: string]: Json } = {}): Promise<string> {
  const slug = unique('gated');
  const { config = {}, ...rest } = more as { config?: { [key: string]: Json } };
  const definition = approvalDefinition(slug, { ...rest, config: { ...config, concurrency: { ...concurrency } } });
  expect((await gateway.request('POST', '/api/workflows', { json: definition })).status).toBe(201);
  return slug;
}

const start = (workflowId: string, input: Json = { amount: 1 }) =>
  gateway.request('POST', '/api/triggers/manual/run', { json: { workflowId, input } });

async function started(workflowId: string, input?: Json): Promise<string> {
  const answer = await start(workflowId, input);
  expect(answer.status).toBe(201);
  return answer.body.executionId;
}

const statusIs = (id: string, status: string) =>
  gateway.until(`/api/executions/${id}`, ({ body }) => body.status === status);
const waitsFor = (id: string, kind: string) =>
  gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.[0]?.kind === kind);
const approve = (id: string) => gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } });

describe('a limit that queues', () => {
  it('has a run over the limit wait for a slot, shows its position, and resumes it when a run has ended', async () => {
    const slug = await stored({ limit: 1 });
    const first = await started(slug);
    await waitsFor(first, 'approval');
    const second = await started(slug);
    await waitsFor(second, 'slot');
    const third = await started(slug);
    const waiting = await gateway.until(`/api/executions/${third}`, ({ body }) => body.waitingFor[0]?.position === 2);
    expect(waiting.body).toMatchObject({ status: 'pending', waitingFor: [{ kind: 'slot', name: 'workflow' }] });
    await approve(first);
    await waitsFor(second, 'approval');
    const next = await gateway.until(`/api/executions/${third}`, ({ body }) => body.waitingFor[0].position === 1);
    expect(next.body.status).toBe('pending');
    await gateway.request('POST', `/api/executions/${second}/cancel`, { json: {} });
    await waitsFor(third, 'approval');
    const trace = await gateway.request('GET', `/api/executions/${third}/steps`);
    expect(trace.body).toMatchObject({ uncertain: false, items: [{ path: 'received' }, { path: 'review' }] });
  });

  it('takes the slot of a run back that was terminated', async () => {
    const slug = await stored({ limit: 1 });
    const first = await started(slug);
    await waitsFor(first, 'approval');
    const second = await started(slug);
    await waitsFor(second, 'slot');
    await gateway.server.client.workflow.getHandle(first).terminate('by somebody else');
    await waitsFor(second, 'approval');
  });

  it('counts runs of one key together, and of another apart', async () => {
    const slug = await stored({ limit: 1, key: '{{ input.customer }}' });
    await waitsFor(await started(slug, { amount: 1, customer: 'a' }), 'approval');
    await waitsFor(await started(slug, { amount: 1, customer: 'b' }), 'approval');
    await waitsFor(await started(slug, { amount: 1, customer: 'a' }), 'slot');
  });

  it('keeps messages for a run that waits, and can cancel it', async () => {
    const slug = await stored({ limit: 1 });
    const first = await started(slug);
    await waitsFor(first, 'approval');
    const second = await started(slug);
    await waitsFor(second, 'slot');
    expect((await gateway.request('POST', `/api/executions/${second}/messages/hello`, { json: 1 })).status).toBe(202);
    expect((await gateway.request('POST', `/api/executions/${second}/cancel`, { json: {} })).status).toBe(202);
    await statusIs(second, 'cancelled');
    await approve(first);
    await statusIs(first, 'completed');
  });
});

describe('a limit that rejects', () => {
  it('answers 429, and takes the next one as soon as one has ended', async () => {
    const slug = await stored({ limit: 1, overflow: 'reject' });
    const first = await started(slug);
    const refused = await start(slug);
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ code: 'limit_reached', limit: 1, scope: 'workflow' });
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    await waitsFor(first, 'approval');
    await approve(first);
    await gateway.request('GET', `/api/executions/${first}/result?wait=10`);
    const next = await started(slug);
    await waitsFor(next, 'approval');
    await gateway.server.client.workflow.getHandle(next).terminate('by somebody else');
    await started(slug);
  });
});

describe('limits that cancel', () => {
  it('cancel the oldest, and let the newest go once it has ended', async () => {
    const slug = await stored({ limit: 1, overflow: 'cancel-oldest' });
    const first = await started(slug);
    await waitsFor(first, 'approval');
    const others = await Promise.all([started(slug), started(slug)]);
    const { body } = await statusIs(first, 'cancelled');
    expect(body.error.message).toContain('a newer one took its place');
    const ended = await Promise.any(others.map((id) => statusIs(id, 'cancelled')));
    const left = others.find((id) => id !== ended.body.id)!;
    await waitsFor(left, 'approval');
  });

  it('cancel the newest', async () => {
    const slug = await stored({ limit: 1, overflow: 'cancel-newest' });
    const first = await started(slug);
    await waitsFor(first, 'approval');
    const { body } = await statusIs(await started(slug), 'cancelled');
    expect(body.error.message).toContain('this run is over it');
    expect((await gateway.request('GET', `/api/executions/${first}`)).body.status).toBe('waiting');
  });
});

describe('mode restart', () => {
  it('aborts the run of the same key, and rolls back what it has done', async () => {
    const slug = unique('restarted');
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const definition = {
      name: 'Restarted',
      slug,
      config: { mode: 'restart', debounce: { key: 'customer.id', seconds: 0 } },
      steps: {
        reserve: {
          stepType: 'http',
          config: { url: `${url}/reserve` },
          nextSteps: { success: 'review' },
          rollback: { stepType: 'http', config: { url: `${url}/undo-${slug}` } },
        },
        review: { stepType: 'approval', config: { message: 'Go on?' } },
      },
    };
    expect((await gateway.request('POST', '/api/workflows', { json: definition })).status).toBe(201);
    const input = { customer: { id: 7 } };
    const first = await started(slug, input);
    await waitsFor(first, 'approval');
    const other = await started(slug, { customer: { id: 8 } });
    await waitsFor(other, 'approval');
    const second = await started(slug, input);
    const aborted = await statusIs(first, 'aborted');
    expect(aborted.body.error).toMatchObject({ code: 'run_aborted' });
    expect(most.get(`/undo-${slug}`)).toBe(1);
    await waitsFor(second, 'approval');
    expect((await gateway.request('GET', `/api/executions/${other}`)).body.status).toBe('waiting');
    const trace = await gateway.request('GET', `/api/executions/${first}/steps`);
    expect(trace.body.uncertain).toBe(false);
  });
});

describe('runs that a run starts', () => {
  it('are under the limit of their definition, but for one that descends from a run that holds its slot', async () => {
    const [child, recursive] = [unique('limited-child'), unique('recursive')];
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/${child}`;
    const store = (definition: { [key: string]: Json }) =>
      gateway.request('POST', '/api/workflows', { json: definition });
    await store({
      name: child,
      slug: child,
      config: { concurrency: { limit: 1 } },
      steps: { fetch: { stepType: 'http', config: { url } } },
    });
    const parent = unique('parent');
    await store({
      name: parent,
      slug: parent,
      steps: {
        each: {
          stepType: 'forEach',
          config: { items: '{{ [1, 2, 3] }}', concurrency: 3 },
          nextSteps: { item: 'call' },
        },
        call: { stepType: 'run_workflow', config: { workflow: child, input: {} } },
      },
    });
    const id = await started(parent, {});
    await statusIs(id, 'completed');
    expect(most.get(`/${child}`)).toBe(1);

    await store({
      name: recursive,
      slug: recursive,
      config: { concurrency: { limit: 1 } },
      steps: {
        deep: {
          stepType: 'condition',
          config: { expression: 'input.depth > 0' },
          nextSteps: { true: 'again', false: 'done' },
        },
        again: {
          stepType: 'run_workflow',
          config: { workflow: recursive, input: { depth: '{{ input.depth - 1 }}' } },
        },
        done: { stepType: 'finish', config: { output: 'bottom' } },
      },
    });
    await statusIs(await started(recursive, { depth: 2 }), 'completed');
  });
});

describe('a run started by hand', () => {
  it('is under the limit of its definition as well', async () => {
    const slug = unique('by-hand');
    const definition = approvalDefinition(slug, { config: { concurrency: { limit: 1 } } });
    const byHand = (id: string) =>
      gateway.server.client.workflow.start('run', {
        workflowId: id,
        taskQueue: gateway.server.taskQueue,
        args: [{ definition, input: { amount: 1 } }],
      });
    const [first, second] = [unique('hand'), unique('hand')];
    await byHand(first);
    await waitsFor(first, 'approval');
    await byHand(second);
    await waitsFor(second, 'slot');
    await approve(first);
    await waitsFor(second, 'approval');
  });
});
