// The store of large data becomes unavailable: workers die meanwhile, inputs cannot be read, states cannot be written.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type TestServer as HttpServer, type Seen, serve } from '../../activities/server.ts';
import { forkWorker } from '../../support/temporal.ts';
import { openUnavailableStore, type UnavailableStore } from './unavailable-store.ts';

const LARGE = 700_000;
const STORED_BYTES = 3_000_000;

let other: HttpServer;
let store: UnavailableStore;
/** What happens before an answer, and its status. */
let before: (seen: Seen) => number = () => 200;
beforeAll(async () => {
  other = await serve((seen, response) => {
    response.statusCode = before(seen);
    response.setHeader('content-type', 'text/plain');
    const { searchParams } = new URL(seen.url, 'http://x');
    const text = 'x'.repeat(Number(searchParams.get('length')));
    setTimeout(() => response.end(text), Number(searchParams.get('ms') ?? 0));
  });
  store = await openUnavailableStore({ SIGNALBOX_HISTORY_LIMIT: '20' });
});
afterEach(() => {
  store.restore();
  before = () => 200;
});
afterAll(async () => {
  await store.close();
  await other.close();
});

const seenAt = (path: string): Seen[] => other.seen.filter(({ url }) => url.startsWith(`${path}?`));
const keysAt = (path: string): number => new Set(seenAt(path).map(({ headers }) => headers['idempotency-key'])).size;

it('an attempt whose input cannot be read waits for it, and keeps its attempts', { timeout: 90_000 }, async () => {
  before = () => {
    if (seenAt('/input').length > 1) return 200;
    store.makeUnavailable();
    return 500;
  };
  const id = await store.start(
    {
      send: {
        stepType: 'http',
        config: { url: `${other.url}/input?length=9`, body: { text: '{{ input.text }}' } },
        retry: { maxAttempts: 2, initialInterval: 100 },
        nextSteps: { success: 'done' },
      },
      done: { stepType: 'finish', config: { output: '{{ steps.send.output.data }}' } },
    },
    { text: 'y'.repeat(LARGE) },
  );
  await store.waitsForStore(id, 2);
  expect(seenAt('/input')).toHaveLength(1);
  store.restore();
  expect(await store.resultOf(id)).toMatchObject({ status: 'completed', output: 'x'.repeat(9) });
  expect(seenAt('/input').map(({ body }) => body.length)).toEqual([LARGE + 11, LARGE + 11]);
});

it('a run whose state cannot be written continues when the store is back', { timeout: 120_000 }, async () => {
  const id = await store.start({
    fetch: {
      stepType: 'http',
      config: { url: `${other.url}/state?length=${LARGE}` },
      nextSteps: { success: 'ask' },
    },
    ask: { stepType: 'approval', config: { message: 'On?' }, nextSteps: { approved: 'send' } },
    send: {
      stepType: 'http',
      config: { url: `${other.url}/sent?length=1`, body: { text: '{{ steps.fetch.output.data }}' } },
      nextSteps: { success: 'again' },
    },
    again: { stepType: 'loop', config: { items: [1, 2, 3, 4, 5] }, nextSteps: { loop: 'rest', done: 'done' } },
    rest: { stepType: 'sleep', config: { duration: 5 }, nextSteps: { success: 'again' } },
    done: { stepType: 'finish', config: { output: '{{ steps.fetch.output.data.length }}' } },
  });
  await store.gateway.until(`/api/executions/${id}`, ({ body }) => body.status === 'waiting');
  const first = (await store.gateway.server.client.workflow.getHandle(id).describe()).runId;
  store.makeUnavailable();
  const approved = await store.gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } });
  expect([200, 503]).toContain(approved.status);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  expect(seenAt('/sent')).toHaveLength(0);
  store.restore();
  if (approved.status !== 200)
    await store.gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } });
  // It becomes unavailable once more, before the run continues as new.
  before = ({ url }) => {
    if (url.startsWith('/sent')) store.makeUnavailable();
    return 200;
  };
  await store.gateway.until(`/api/executions/${id}`, () => seenAt('/sent').length > 0, 60);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  store.restore();
  expect(await store.resultOf(id)).toMatchObject({ status: 'completed', output: LARGE });
  expect(seenAt('/sent')).toHaveLength(1);
  expect((await store.gateway.server.client.workflow.getHandle(id).describe()).runId).not.toBe(first);
});

it('segments with large lists continue, and their worker lives', { timeout: 120_000 }, async () => {
  store.makeUnavailable();
  const id = await store.start({
    each: {
      stepType: 'forEach',
      config: { items: Array.from({ length: 60 }, (_, n) => n), concurrency: 1 },
      nextSteps: { item: 'get', done: 'done' },
    },
    get: {
      stepType: 'http',
      config: { url: `${other.url}/light?length=50000&ms=15`, idempotent: true },
    },
    done: { stepType: 'finish', config: { output: 'all' } },
  });
  expect(await store.resultOf(id)).toMatchObject({ status: 'completed', output: 'all' });
  expect(keysAt('/light')).toBe(60);
  // Only the first list was lost.
  expect(seenAt('/light').length).toBeLessThan(110);
});

it('a step whose worker dies while it waits is repeated with its key', { timeout: 120_000 }, async () => {
  await store.gateway.stopWorker();
  store.makeUnavailable();
  const first = await forkWorker(store.gateway.server);
  const id = await store.start({
    fetch: {
      stepType: 'http',
      config: { url: `${other.url}/dies?length=${STORED_BYTES}`, maxBytes: 16_000_000 },
      timeout: '5s',
      nextSteps: { success: 'done' },
    },
    done: { stepType: 'finish', config: { output: '{{ steps.fetch.output.data.length }}' } },
  });
  await store.waitsForStore(id);
  first.child.kill('SIGKILL');
  const second = await forkWorker(store.gateway.server);
  try {
    await store.waitsForStore(id, 2);
    store.restore();
    expect(await store.resultOf(id)).toMatchObject({ status: 'completed', output: STORED_BYTES });
    expect([seenAt('/dies').length, keysAt('/dies')]).toEqual([2, 1]);
  } finally {
    await second.end();
  }
});
