// Workers that freeze during an activity, and workers that are replaced by another bundle while runs are open.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiledRoot } from '../../../src/cli/start/project-root.ts';
import type { RunMemo } from '../../../src/contract/run/run.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { forkWorker, startWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { memoOf, startRun, until } from '../runs/run-support.ts';

const RUNS = 200;

let server: TestServer;
let other: HttpServer;
/** Answers that wait for the test. */
const held: ServerResponse[] = [];
let holds = 0;
beforeAll(async () => {
  other = await serve((seen, response) => {
    if (seen.url === '/slow' && holds-- > 0) held.push(response);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(seen.url));
  });
  server = await testServer({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
});
afterAll(async () => {
  await server.close();
  await other.close();
});

const keysOf = (url: string) =>
  other.seen.filter((seen) => seen.url === url).map(({ headers }) => headers['idempotency-key']);

describe('a worker that is stopped in the middle of an effect, and resumed', () => {
  it('is replaced, and what it says afterwards changes nothing', { timeout: 240_000 }, async () => {
    const first = await forkWorker(server);
    holds = 1;
    const handle = await startRun(server, {
      name: 'Slow',
      slug: 'slow',
      start: 'pay',
      steps: {
        pay: {
          stepType: 'http',
          timeout: '4s',
          // The polls of the stopped worker last a minute, and what they take meanwhile is lost.
          retry: { maxAttempts: 30, initialInterval: '10ms' },
          config: { method: 'POST', url: `${other.url}/slow` },
          nextSteps: { success: 'ask' },
        },
        ask: { stepType: 'approval', config: { message: 'Go on?' }, nextSteps: { approved: 'tell' } },
        tell: { stepType: 'http', config: { url: `${other.url}/told` } },
      },
    });
    await until(
      async () => held.length,
      (count) => count === 1,
    );
    first.child.kill('SIGSTOP');
    const second = await forkWorker(server);
    await until(
      () => handle.describe().then(({ memo }) => memo?.['status']),
      (status) => status === 'waiting',
      180_000,
    );
    expect(new Set(keysOf('/slow')).size).toBe(1);
    // Its own attempt ends now, long after another one was acknowledged.
    held.pop()?.setHeader('content-type', 'application/json').end('"late"');
    first.child.kill('SIGCONT');
    await second.end();
    await handle.signal('approve', { by: 'ann' });
    expect(await handle.result()).toBe('/told');
    // An attempt that reached the frozen worker may start now, with the same key and without an effect.
    expect(new Set(keysOf('/slow')).size).toBe(1);
    expect(keysOf('/told')).toHaveLength(1);
    const { events } = await handle.fetchHistory();
    const ended = (events ?? []).filter((event) => event.activityTaskCompletedEventAttributes);
    expect(ended).toHaveLength(2);
    await first.end();
  });
});

/** A person, a timer and an effect, in a loop: there is something of each to be replayed. */
const varied: Definition = {
  name: 'Varied',
  slug: 'varied',
  start: 'each',
  steps: {
    each: { stepType: 'loop', config: { items: [0, 1, 2] }, nextSteps: { loop: 'pause', done: 'ask' } },
    pause: { stepType: 'sleep', config: { duration: '{{ loop.item * 20 }}' }, nextSteps: { success: 'get' } },
    get: {
      stepType: 'http',
      config: { url: `{{ input.url }}/varied/{{ input.n }}/{{ loop.item }}` },
      nextSteps: { success: 'each' },
    },
    ask: { stepType: 'approval', config: { message: 'Go on?' }, nextSteps: { approved: 'last' } },
    last: {
      stepType: 'http',
      config: { url: '{{ input.url }}/varied/{{ input.n }}/last' },
      nextSteps: { success: 'end' },
    },
    end: { stepType: 'finish', config: { output: '{{ input.n }}' } },
  },
};

describe(`a worker with another bundle, and ${RUNS} runs on their way`, () => {
  const bundle = join(compiledRoot(), `workflow-bundle-${process.pid}.js`);
  afterAll(() => rmSync(bundle, { force: true }));

  it('takes all of them over where they are, and no effect is made twice', { timeout: 400_000 }, async () => {
    // What a later version is to Temporal: other code that gives the same commands.
    const code = readFileSync(join(compiledRoot(), 'workflow-bundle.js'), 'utf8');
    writeFileSync(bundle, `globalThis.__laterVersion = true;\n${code}`);
    const before = await startWorker(server);
    const handles = await Promise.all(
      Array.from({ length: RUNS }, (_, n) => startRun(server, varied, { input: { n, url: other.url } })),
    );
    const isAsked = ({ waitingFor }: RunMemo): boolean => waitingFor?.some(({ path }) => path === 'ask');
    // Some wait for a person by now, others are in the loop.
    await until(() => memoOf(handles[0]!), isAsked, 120_000);
    await before.stop();
    const after = await startWorker(server, { bundle });
    for (const handle of handles) await until(() => memoOf(handle), isAsked, 240_000);
    await Promise.all(handles.map((handle) => handle.signal('approve', { by: 'ann' })));
    expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual(handles.map((_handle, n) => n));
    const asked = other.seen.filter(({ url }) => url.startsWith('/varied/'));
    expect(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size).toBe(RUNS * 4);
    // One that was under way when the first worker ended may come again, under its own key.
    expect(asked.length).toBeLessThanOrEqual(RUNS * 4 + RUNS);
    for (const handle of handles.slice(0, 20)) {
      const { events } = await handle.fetchHistory();
      expect((events ?? []).filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
    }
    await after.stop();
  });
});
