// A worker that dies within a segment: every effect happens at least once, those shortly before its death twice, each
// with one key.
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readTrace } from '../../../src/client/runs/trace.ts';
import { serve } from '../../activities/server.ts';
import { sleep } from '../../support/stack.ts';
import { forkWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { readConsistently } from '../runs/consistent-trace.ts';
import { startRun, until } from '../runs/run-support.ts';

/** Heartbeats reach the server every 200 ms, a little later on a busy machine. */
const BEAT_MS = 500;
/** The attempts of a segment (workflows/run/activities-and-timers.ts). */
const ATTEMPTS = 5;

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
});
afterAll(() => server.close());

/** A run of effects one after the other, and how often the other side has seen the key of each. */
async function runOf(slug: string, effects: number, effectMs: number) {
  let mayAnswer = Number.POSITIVE_INFINITY;
  let held = 0;
  const other = await serve((_, response) => {
    if (mayAnswer-- > 0) setTimeout(() => response.end('done'), effectMs);
    else held++;
  });
  const handle = await startRun(server, {
    name: 'Killed',
    slug,
    steps: {
      each: {
        stepType: 'forEach',
        config: { items: Array.from({ length: effects }, (_, n) => n), concurrency: 1 },
        nextSteps: { item: 'get' },
      },
      get: { stepType: 'http', config: { url: other.url, as: 'text', idempotent: true } },
    },
  });
  const counts = (): number[] => {
    const seen = new Map<unknown, number>();
    for (const { headers } of other.seen) {
      const key = headers['idempotency-key'];
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
    return [...seen.values()];
  };
  const seen = (least: number): Promise<unknown> =>
    until(
      async () => other.seen.length,
      (count) => count >= least,
      30_000,
    );
  /** Answers so many requests more, and lets the others wait. */
  const answerOnly = (requests: number): void => {
    mayAnswer = requests;
    held = 0;
  };
  const heldOne = (): Promise<unknown> =>
    until(
      async () => held,
      (count) => count > 0,
      30_000,
    );
  return { handle, counts, seen, answerOnly, heldOne, close: () => other.close() };
}

/** The trace shows each effect once, and is what the run knows. */
async function isWhole(handle: WorkflowHandle, effects: number): Promise<void> {
  const { items } = await readTrace(server, handle.workflowId);
  expect(items.filter(({ stepSlug, status }) => stepSlug === 'get' && status === 'completed')).toHaveLength(effects);
  const { live, folded } = await readConsistently(server, handle);
  expect(folded).toEqual(live);
}

it('repeats what it did since its last heartbeat, and no more', { timeout: 90_000 }, async () => {
  const [effects, effectMs] = [300, 6];
  const first = await forkWorker(server);
  const run = await runOf('killed-in-a-segment', effects, effectMs);
  await run.seen(130);
  first.child.kill('SIGKILL');
  const second = await forkWorker(server);
  await run.handle.result();
  const all = run.counts();
  expect(all).toHaveLength(effects);
  expect(Math.max(...all)).toBeLessThanOrEqual(2);
  expect(all.filter((count) => count === 2).length).toBeLessThanOrEqual(Math.ceil(BEAT_MS / effectMs));
  await isWhole(run.handle, effects);
  await second.end();
  await run.close();
});

it('repeats no more when all attempts of the segment have died', { timeout: 180_000 }, async () => {
  const [effects, effectMs] = [250, 20];
  let worker = await forkWorker(server);
  const run = await runOf('killed-in-every-attempt', effects, effectMs);
  // The first segment is a local one, of 200 ms.
  await run.seen(20);
  // An attempt begins no effect after a second, so each waits for an answer when its worker dies.
  run.answerOnly(0);
  for (let deaths = 1; deaths <= ATTEMPTS; deaths++) {
    await run.heldOne();
    await sleep(BEAT_MS);
    worker.child.kill('SIGKILL');
    run.answerOnly(deaths === ATTEMPTS ? Number.POSITIVE_INFINITY : 2);
    worker = await forkWorker(server);
  }
  await run.handle.result();
  const all = run.counts();
  expect(all).toHaveLength(effects);
  const repeated = all.reduce((sum, count) => sum + count - 1, 0);
  expect(repeated).toBeLessThanOrEqual(ATTEMPTS * Math.ceil(BEAT_MS / effectMs));
  const { events } = await run.handle.fetchHistory();
  expect(events?.filter(({ activityTaskTimedOutEventAttributes: timedOut }) => timedOut)).toHaveLength(1);
  await isWhole(run.handle, effects);
  await worker.end();
  await run.close();
});
