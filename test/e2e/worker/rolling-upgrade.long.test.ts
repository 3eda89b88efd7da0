// 500 runs in flight while workers of a later version take over: each ends once, with what it would have ended with.
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunMemo } from '../../../src/contract/run/run.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { sleep } from '../../support/stack.ts';
import { forkWorker, startWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { startRun } from '../runs/run-support.ts';
import { nextBundle, tasksOf } from './version-support.ts';

const RUNS = 500;
const AT_ONCE = 20;
const LOOK_MS = 1_000;

/** An effect, sleeps and an approval: there is always something in flight. */
const busy: Definition = {
  name: 'Busy',
  slug: 'busy',
  start: 'tell',
  steps: {
    tell: {
      stepType: 'http',
      config: { method: 'POST', url: '{{ input.url }}', body: { n: '{{ input.n }}' } },
      nextSteps: { success: 'rest' },
    },
    rest: { stepType: 'sleep', config: { duration: '{{ input.rest }}' }, nextSteps: { success: 'review' } },
    review: { stepType: 'approval', config: { message: 'On?' }, nextSteps: { approved: 'more' } },
    more: { stepType: 'sleep', config: { duration: '200ms' }, nextSteps: { success: 'done' } },
    done: { stepType: 'finish', config: { output: '{{ input.n }}' } },
  },
} as unknown as Definition;

let server: TestServer;
let other: HttpServer;
let next: Awaited<ReturnType<typeof nextBundle>>;
beforeAll(async () => {
  server = await testServer({ SIGNALBOX_WORKER_VERSIONING: '1', SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
  next = await nextBundle();
  other = await serve((_seen, response) => response.setHeader('content-type', 'application/json').end('{}'));
});
afterAll(async () => {
  await server.close();
  next.remove();
  await other.close();
});

async function each<T>(items: readonly T[], act: (item: T, index: number) => Promise<void>): Promise<void> {
  let at = 0;
  const worker = async (): Promise<void> => {
    for (let index = at++; index < items.length; index = at++) await act(items[index]!, index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Looks rarely: 500 runs are looked at. */
async function waits(handle: WorkflowHandle): Promise<void> {
  for (;;) {
    const { status, memo } = await handle.describe();
    if (status.name !== 'RUNNING') throw new Error(`It has ended: ${status.name}`);
    // A run that sleeps waits too.
    const { waitingFor = [] } = (memo ?? {}) as unknown as Partial<RunMemo>;
    if (waitingFor.some(({ path }) => path === 'review')) return;
    await sleep(LOOK_MS);
  }
}

it(`loses none of ${RUNS} runs`, { timeout: 1_500_000 }, async () => {
  const handles: WorkflowHandle[] = [];
  const begin = (from: number, to: number): Promise<void> =>
    each(
      Array.from({ length: to - from }, (_, index) => from + index),
      async (n) => {
        handles[n] = await startRun(server, busy, { input: { n, url: other.url, rest: `${1 + (n % 20)}s` } });
      },
    );
  const before = await forkWorker(server);
  await begin(0, RUNS / 2);
  // Side by side: the new version becomes current while effects, sleeps and waits of the old one are open.
  const after = await startWorker(server, { bundle: next.file });
  expect(after.madeCurrent).toBe('set');
  await begin(RUNS / 2, RUNS);
  await before.end();
  await each(handles, async (handle) => {
    await waits(handle);
    await handle.signal('approve', { step: 'review' });
  });
  const outputs = new Map<number, unknown>();
  await each(handles, async (handle, n) => {
    outputs.set(n, await handle.result());
  });
  expect([...outputs].filter(([n, output]) => output !== n)).toEqual([]);
  expect(outputs.size).toBe(RUNS);
  // No effect was left out, and none has a key of another.
  expect(new Set(other.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(RUNS);

  let both = 0;
  let marked = 0;
  await each(handles, async (handle) => {
    const { buildIds, isMarked } = await tasksOf(handle);
    if (new Set(buildIds).size === 2) both += 1;
    if (isMarked) marked += 1;
    expect(buildIds.at(-1)).toBe(after.buildId);
  });
  console.log(`${both} of ${RUNS} runs were carried on by both versions; ${marked} began with the new one.`);
  expect(both).toBeGreaterThan(RUNS / 10);
  expect(marked).toBeGreaterThan(RUNS / 4);
  await after.stop();
});
