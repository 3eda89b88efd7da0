// Wrong clocks and lost answers: no timer fires early, whatever a worker's clock says, and an activity whose answer was
// lost is retried with the same key.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Definition } from '../../../src/definition/document/types.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { type ForkedWorker, forkWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { startRun } from '../runs/run-support.ts';

const HOUR_MS = 3_600_000;
let server: TestServer;
let other: HttpServer;
let lost = 0;

beforeAll(async () => {
  other = await serve((seen, response) => {
    // It has done its work, and its result is lost.
    if (seen.url === '/lost' && lost-- > 0) response.destroy();
    else response.setHeader('content-type', 'application/json').end('{"done": true}');
  });
  server = await testServer({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
});
afterAll(async () => {
  await server.close();
  await other.close();
});

/** Parallel sleeps of many lengths, each with the times that the run itself saw. */
const sleeps: Definition = {
  name: 'Sleeps',
  slug: 'sleeps',
  start: 'all',
  steps: {
    all: {
      stepType: 'forEach',
      config: { items: '{{ input.lengths }}', as: 'length', concurrency: 50 },
      nextSteps: { item: 'before', done: 'end' },
    },
    before: { stepType: 'set', config: { values: { at: '{{ nowMs }}' } }, nextSteps: { success: 'sleep' } },
    sleep: { stepType: 'sleep', config: { duration: '{{ length }}' }, nextSteps: { success: 'after' } },
    after: {
      stepType: 'mapping',
      config: { output: ['{{ length }}', '{{ steps.before.output.data.at }}', '{{ nowMs }}'] },
    },
    end: { stepType: 'finish', config: { output: '{{ steps.all.output.data }}' } },
  },
};
const LENGTHS = [0, 1, 7, 50, 99, 100, 250, 333, 500, 700, 999, 1_000, 1_001];

/** Timers of the history that fired before they were due, by the server's own clock. */
async function early(handle: Awaited<ReturnType<typeof startRun>>): Promise<{ count: number; early: string[] }> {
  const { events = [] } = await handle.fetchHistory();
  const at = (time: { seconds?: unknown; nanos?: number | null } | null | undefined): number =>
    Number(time?.seconds ?? 0) * 1_000 + Number(time?.nanos ?? 0) / 1e6;
  const due = new Map<string, number>();
  const found: string[] = [];
  for (const { eventTime, timerStartedEventAttributes: started, timerFiredEventAttributes: fired } of events ?? []) {
    if (started) due.set(String(started.timerId), at(eventTime) + at(started.startToFireTimeout));
    // The server keeps whole milliseconds.
    if (fired && at(eventTime) < due.get(String(fired.timerId))! - 1) found.push(String(fired.timerId));
  }
  return { count: due.size, early: found };
}

describe.each([
  ['ahead', HOUR_MS],
  ['behind', -HOUR_MS],
])('a worker whose clock is an hour %s', (_how, shiftMs) => {
  let worker: ForkedWorker;
  beforeAll(async () => {
    const shift = `const now = Date.now; Date.now = () => now() + ${shiftMs};`;
    worker = await forkWorker(server, { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` });
  });
  afterAll(() => worker.end());

  it('fires no timer early, and takes its times from the server', async () => {
    const begun = Date.now();
    const handle = await startRun(server, sleeps, { input: { lengths: LENGTHS } });
    const told = (await handle.result()) as [number, number, number][];
    expect(Date.now() - begun).toBeGreaterThanOrEqual(Math.max(...LENGTHS));
    expect(told).toHaveLength(LENGTHS.length);
    for (const [length, before, after] of told) {
      expect(after - before).toBeGreaterThanOrEqual(length);
      expect(Math.abs(before - begun)).toBeLessThan(60_000);
    }
    const timers = await early(handle);
    expect(timers.early).toEqual([]);
    expect(timers.count).toBeGreaterThan(5);
  });

  it('makes an effect whose answer was lost again under the same key', async () => {
    const before = other.seen.length;
    lost = 2;
    const handle = await startRun(server, {
      name: 'Lost',
      slug: 'lost',
      steps: {
        pay: {
          stepType: 'http',
          config: { method: 'POST', url: `${other.url}/lost`, body: { amount: 5 } },
          retry: { maxAttempts: 5, initialInterval: '10ms' },
        },
      },
    });
    expect(await handle.result()).toEqual({ done: true });
    const asked = other.seen.slice(before);
    expect(asked).toHaveLength(3);
    const keys = new Set(asked.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringContaining(handle.workflowId)]);
    expect(new Set(asked.map(({ body }) => body)).size).toBe(1);
  });
});
