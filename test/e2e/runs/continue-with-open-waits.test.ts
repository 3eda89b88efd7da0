/**
 * E2 on the real server: branches that wait for a person, a timer, a message, another run and a slow effect, within
 * iterations, within a loop, continue through one continue-as-new after another, and none holds up another.
 */

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { startWorker, type TestServer, type TestWorker, testServer } from '../../support/temporal.ts';
import { memoOf, startRun, until } from './run-support.ts';

const LIMIT = 30;
const CHILD = { name: 'Child', slug: 'child', steps: { hear: { stepType: 'listen', config: { name: 'back' } } } };

let server: TestServer;
let worker: TestWorker;
/** Ends the slow effects. */
let release: () => void = () => undefined;
beforeAll(async () => {
  server = await testServer({ SIGNALBOX_HISTORY_LIMIT: String(LIMIT) });
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  worker = await startWorker(server, {
    activities: {
      http: async () => {
        await slow;
        return { data: 'slow' };
      },
      resolveWorkflow: async () => ({ data: { definition: CHILD as unknown as Json, hash: 'sha256:0' } }),
    },
  });
});
afterAll(async () => {
  release();
  await worker.stop();
  await server.close();
});

const end =
  '{{ steps.ask.output.data.decision + " " + steps.first.output.data.winner + " " + steps.slow.output.data + " ' +
  '" + steps.call.output.data }}';

it('continues unchanged with every kind of open wait', async () => {
  const handle = await startRun(server, {
    name: 'Everything',
    slug: 'everything',
    steps: {
      rounds: { stepType: 'loop', config: { items: [1] }, nextSteps: { loop: 'each', done: 'report' } },
      each: {
        stepType: 'forEach',
        config: { items: ['a', 'b'], concurrency: 2 },
        nextSteps: { item: 'all', done: 'rounds' },
      },
      all: {
        stepType: 'parallel',
        nextSteps: { person: 'ask', clock: 'rest', either: 'first', run: 'call', effect: 'slow', done: 'sum' },
      },
      ask: { stepType: 'approval', config: { message: 'Take {{ item }}?' } },
      rest: { stepType: 'sleep', config: { duration: '1s' } },
      first: { stepType: 'race', nextSteps: { news: 'hear', late: 'wait' } },
      hear: { stepType: 'listen', config: { name: 'news-{{ item }}' }, nextSteps: { received: 'first' } },
      wait: { stepType: 'sleep', config: { duration: '1h' } },
      call: { stepType: 'run_workflow', config: { workflow: 'child' } },
      slow: { stepType: 'http', config: { url: 'https://slow.test' } },
      sum: { stepType: 'mapping', config: { output: end } },
      report: { stepType: 'mapping', config: { output: '{{ steps.each.output.data }}' } },
    },
  });
  const runs = new Set<string>();
  const noise = async (): Promise<void> => {
    for (let n = 0; n < LIMIT; n++)
      await handle.signal('message', { name: 'noise', payload: n }).catch(() => undefined);
    runs.add((await handle.describe()).runId);
  };
  const waits = (path: string) =>
    until(
      () => memoOf(handle),
      (memo) => memo.waitingFor?.some((wait) => wait.path.endsWith(path)) === true,
      30_000,
    );
  await waits('each[1]/all/person/ask');
  await noise();
  await noise();
  // Nothing is held up by the effect that is still under way.
  await handle.signal('message', { name: 'news-a', payload: 1 });
  await handle.signal('message', { name: 'news-b', payload: 1 });
  await handle.executeUpdate('approve', { args: [{ step: 'rounds~0/each[0]/all/person/ask' }] });
  await noise();
  release();
  await noise();
  await noise();
  for (const iteration of [0, 1]) {
    const path = `rounds~0/each[${iteration}]/all/run/call`;
    const memo = await waits(path);
    const child = memo.waitingFor.find((wait) => wait.path === path)?.executionId;
    await server.client.workflow.getHandle(child!).signal('message', { name: 'back', payload: 'back' });
    await noise();
  }
  await handle.executeUpdate('approve', { args: [{ step: 'rounds~0/each[1]/all/person/ask' }] });
  expect(await handle.result()).toEqual(['approved news slow back', 'approved news slow back']);
  expect(runs.size).toBeGreaterThan(2);
}, 90_000);
