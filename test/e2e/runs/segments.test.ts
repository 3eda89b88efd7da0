// Light steps that run together in segments: one activity for many steps, and nothing that a user sees is different.
import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readTrace } from '../../../src/client/runs/trace.ts';
import type { Definition, StepDefinition } from '../../../src/definition/document/types.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import type { TestServer } from '../../support/temporal.ts';
import { testGateway } from '../gateway/gateway-support.ts';
import { readConsistently } from './consistent-trace.ts';
import { startHttpPeer } from './http-peer-support.ts';
import { eventTypes, startRun, until } from './run-support.ts';

/** Requests by idempotency key. */
const requests = new Map<string, number>();
/** Within a regular segment some requests of so long end, within a test few of 200. */
const PATIENT_MS = 200;
let isPaused = false;
let other: HttpServer;
let server: TestServer;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ server, other, close } = await startHttpPeer(({ url, headers }, response) => {
    const key = String(headers['idempotency-key']);
    const count = (requests.get(key) ?? 0) + 1;
    requests.set(key, count);
    const { searchParams } = new URL(url, 'http://x');
    const ms = searchParams.has('patient') && !isPaused ? PATIENT_MS : Number(searchParams.get('ms'));
    const answer = (): void => {
      if (count <= Number(searchParams.get('fails'))) response.writeHead(503).end();
      else response.end('x'.repeat(Number(searchParams.get('bytes') ?? 4)));
    };
    if (ms > 0) setTimeout(answer, ms);
    else answer();
  }));
});
afterAll(() => close());

const get = (query: string, more: Partial<StepDefinition> = {}): StepDefinition => ({
  stepType: 'http',
  config: { url: `${other.url}/?${query}`, as: 'text', idempotent: true },
  ...more,
});
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const loop = (count: number, body: StepDefinition, more: Partial<Definition> = {}): Definition => ({
  name: 'Many',
  slug: 'many-light-steps',
  ...more,
  steps: {
    each: {
      stepType: 'forEach',
      config: { items: numbers(count), concurrency: 1 },
      nextSteps: { item: 'get' },
    },
    get: body,
  },
});
const keysOf = ({ workflowId }: WorkflowHandle): number[] =>
  [...requests].filter(([key]) => key.startsWith(`${workflowId}/`)).map(([, count]) => count);

/** The value with its bytes as text. */
function decoded(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map(decoded) : Object.entries(value).map(([key, one]) => [key, decoded(one)]);
}

async function scheduled(handle: WorkflowHandle): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: activity }) =>
    activity?.activityId == null ? [] : [activity.activityId],
  );
}

const count = (types: readonly string[], activity: string): number =>
  types.filter((type) => type === `activityTask${activity}`).length;

async function agrees(handle: WorkflowHandle): Promise<void> {
  const { live, folded } = await readConsistently(server, handle);
  expect(folded).toEqual(live);
}

describe('light steps one after the other', () => {
  it('run together, each with its row, key and times', async () => {
    // However long they take, the time of their segment is not over.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const handle = await startRun(server, loop(30, get('')));
    await handle.result().finally(() => clock.mockRestore());
    expect((await eventTypes(handle)).filter((type) => type === 'markerRecorded')).toHaveLength(1);
    expect((await scheduled(handle)).length).toBeLessThan(2);
    expect(keysOf(handle)).toEqual(Array.from({ length: 30 }, () => 1));
    const { items } = await readTrace(server, handle.workflowId);
    const rows = items.filter(({ stepSlug }) => stepSlug === 'get');
    expect(rows.map(({ path }) => path)).toEqual(Array.from({ length: 30 }, (_, n) => `each[${n}]/get`));
    let before = '';
    for (const { attempts, status, startedAt, completedAt, output } of rows) {
      expect({ attempts, status, output }).toMatchObject({
        attempts: 1,
        status: 'completed',
        output: { data: 'xxxx' },
      });
      expect(startedAt).toSatisfy((at: string) => at >= before);
      expect(completedAt).toSatisfy((at: string) => at >= startedAt);
      before = completedAt ?? 'never';
    }
    await agrees(handle);
  });

  it('go on in regular activities after a fifth of a second', async () => {
    const [began, before] = [performance.now(), requests.size];
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => began + 20 * (requests.size - before));
    const handle = await startRun(server, loop(40, get('')));
    await handle.result().finally(() => clock.mockRestore());
    expect(await scheduled(handle)).toEqual(['$segment']);
    expect(keysOf(handle)).toEqual(Array.from({ length: 40 }, () => 1));
    await agrees(handle);
  });

  it.each([
    ['the definition', (count: number) => loop(count, get(''), { config: { fuse: false } })],
    ['the step', (count: number) => loop(count, get('', { fuse: false }))],
  ])('run one by one where %s says so', async (_, definition) => {
    const handle = await startRun(server, definition(5));
    await handle.result();
    expect((await eventTypes(handle)).filter((type) => type === 'markerRecorded')).toHaveLength(5);
    await agrees(handle);
  });
});

describe('a step within a segment', () => {
  it('that fails is tried again as an activity of its own, and all attempts count', async () => {
    const retry = { maxAttempts: 3, initialInterval: '10ms' };
    const handle = await startRun(server, loop(3, get('fails=1', { retry })));
    await handle.result();
    expect(keysOf(handle)).toEqual([2, 2, 2]);
    const { items } = await readTrace(server, handle.workflowId);
    const rows = items.filter(({ stepSlug }) => stepSlug === 'get');
    expect(rows.map(({ attempts }) => attempts)).toEqual([2, 2, 2]);
    await agrees(handle);
  });

  it('that takes longer than two seconds is done as an activity of its own', async () => {
    const handle = await startRun(server, loop(1, get('ms=2500')));
    await handle.result();
    expect(await scheduled(handle)).toEqual(['each[0]/get']);
    await agrees(handle);
  });

  it('whose result is too large for the list is repeated alone, with its key', async () => {
    const handle = await startRun(server, loop(4, get('bytes=300000')));
    await handle.result();
    const { items } = await readTrace(server, handle.workflowId);
    const rows = items.filter(({ stepSlug }) => stepSlug === 'get');
    expect(rows.map(({ status, output }) => [status, String((output as { data: string }).data).length])).toEqual(
      Array.from({ length: 4 }, () => ['completed', 300_000]),
    );
    expect(Math.max(...keysOf(handle))).toBeLessThanOrEqual(2);
    const alone = await startRun(server, loop(1, get('bytes=900000')));
    await alone.result();
    expect(keysOf(alone)).toEqual([2]);
  });

  it('that loses a race is cancelled with its branch', async () => {
    const handle = await startRun(server, {
      name: 'Race',
      slug: 'race-of-light-steps',
      steps: {
        first: { stepType: 'race', nextSteps: { slow: 'slow', fast: 'fast' } },
        slow: get('ms=30000'),
        fast: get('ms=1'),
      },
    });
    await handle.result();
    const { items } = await readTrace(server, handle.workflowId);
    expect(Object.fromEntries(items.map(({ path, status }) => [path, status]))).toMatchObject({
      'first/slow/slow': 'cancelled',
      'first/fast/fast': 'completed',
    });
    await agrees(handle);
  });
});

describe('a segment', () => {
  it('keeps secrets out of the history, also where the other side sends them back', async () => {
    const gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
    const secret = `canary-${randomUUID()}`;
    const echo = await serve(({ headers }, response) => response.end(String(headers['x-key'])));
    try {
      const stored = await gateway.request('PUT', '/api/secrets/SEGMENT', { json: { value: secret } });
      expect(stored.status).toBeLessThan(300);
      const config = { url: echo.url, as: 'text', idempotent: true, headers: { 'x-key': '{{ secrets.SEGMENT }}' } };
      const handle = await startRun(gateway.server, loop(3, { stepType: 'http', config }));
      await handle.result();
      expect(echo.seen.map(({ headers }) => headers['x-key'])).toEqual([secret, secret, secret]);
      const { events } = await handle.fetchHistory();
      const text = (events ?? []).map((event) => JSON.stringify(decoded(event))).join('\n');
      expect(text).toContain('$segment');
      expect(text).not.toContain(secret);
    } finally {
      await gateway.close();
      await echo.close();
    }
  });
});

describe('while a segment runs', () => {
  const beside = (query = 'ms=10'): Definition => ({
    name: 'Beside',
    slug: 'beside-a-segment',
    steps: {
      both: { stepType: 'parallel', nextSteps: { work: 'each', ask: 'ask' } },
      each: { stepType: 'forEach', config: { items: numbers(200), concurrency: 1 }, nextSteps: { item: 'get' } },
      get: get(query),
      ask: { stepType: 'approval', config: { message: 'Well?' }, nextSteps: { approved: 'done' } },
      done: { stepType: 'set', config: { values: { answered: true } } },
    },
  });

  it('an approval is answered, and a second one refused', async () => {
    const handle = await startRun(server, beside());
    await until(
      () => scheduled(handle),
      (ids) => ids.includes('$segment'),
    );
    const answers = await Promise.allSettled([
      handle.executeUpdate('approve', { args: [{ step: 'ask', by: 'ann' }] }),
      handle.executeUpdate('approve', { args: [{ step: 'ask', by: 'bob' }] }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await handle.result();
    expect(keysOf(handle)).toEqual(Array.from({ length: 200 }, () => 1));
    await agrees(handle);
  });

  it('signals wait, and a pause takes effect after it', async () => {
    const handle = await startRun(server, beside('patient'));
    await until(
      () => scheduled(handle),
      (ids) => ids.includes('$segment'),
    );
    await handle.signal('pause', {});
    await until(
      () => handle.query<{ paused?: boolean }>('status'),
      ({ paused }) => paused === true,
    );
    // The segment has ended, and nothing else has begun.
    await until(
      () => eventTypes(handle),
      (types) =>
        types.findLast((type) => type.includes('Task')) === 'workflowTaskCompleted' &&
        count(types, 'Scheduled') === count(types, 'Completed'),
    );
    const { items } = await readTrace(server, handle.workflowId);
    const begun = items.filter(({ stepSlug }) => stepSlug === 'get');
    expect(keysOf(handle)).toEqual(begun.map(() => 1));
    expect(begun.length).toBeLessThan(200);
    // The effect that was open when the pause came has ended, and is taken up after the pause.
    expect(begun.filter(({ status }) => status !== 'completed').length).toBeLessThanOrEqual(1);
    await agrees(handle);
    isPaused = true;
    await handle.signal('resume', {});
    await handle.signal('approve', { step: 'ask' });
    await handle.result();
    isPaused = false;
    expect(keysOf(handle)).toEqual(Array.from({ length: 200 }, () => 1));
    await agrees(handle);
  });

  it('a cancellation hurries it', async () => {
    const handle = await startRun(server, loop(1_000, get('patient')));
    await until(
      () => scheduled(handle),
      (ids) => ids.includes('$segment'),
    );
    const before = keysOf(handle).length;
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(keysOf(handle).length - before).toBeLessThan(150);
    const { items } = await readTrace(server, handle.workflowId);
    const rows = items.filter(({ stepSlug }) => stepSlug === 'get');
    // All but what was in flight when the segment was cancelled.
    expect(keysOf(handle).length - rows.filter(({ status }) => status === 'completed').length).toBeLessThanOrEqual(1);
    await agrees(handle);
  });
});
