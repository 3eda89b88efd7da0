// Runs that do thousands of light effects: they go on in segments, whatever they have done before.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readTrace } from '../../../src/client/runs/trace.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import { startWorker, type TestServer, type TestWorker, testServer } from '../../support/temporal.ts';
import { readConsistently } from './consistent-trace.ts';
import { startRun } from './run-support.ts';

const EFFECTS = 10_000;
let server: TestServer;
let worker: TestWorker;
const calls = new Map<string, number>();
let called = 0;

beforeAll(async () => {
  server = await testServer();
  const http = async ({ path, execution }: { path: string; execution: { id: string } }): Promise<unknown> => {
    called++;
    calls.set(execution.id, (calls.get(execution.id) ?? 0) + 1);
    return { data: path.length };
  };
  worker = await startWorker(server, { activities: { http: http as never } });
});
afterAll(async () => {
  await worker.stop();
  await server.close();
});

const effect = { stepType: 'http', config: { url: 'https://example.com', idempotent: true } } as const;
const numbers = Array.from({ length: EFFECTS }, (_, n) => n);

it.each<[string, Definition['steps']]>([
  [
    'of a list, a hundred at a time',
    {
      each: { stepType: 'forEach', config: { items: numbers, concurrency: 100 }, nextSteps: { item: 'get' } },
      get: effect,
    },
  ],
  [
    'of a loop',
    {
      each: {
        stepType: 'loop',
        config: {
          initial: 0,
          next: '{{ loop.carry + 1 }}',
          while: `loop.carry < ${EFFECTS}`,
          maxIterations: EFFECTS,
        },
        nextSteps: { loop: 'get' },
      },
      get: effect,
    },
  ],
])('write less than one event for fifty light effects: %s', { timeout: 180_000 }, async (_, steps) => {
  // Each effect takes a tenth of a millisecond.
  const began = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => began + called / 10);
  const handle = await startRun(server, { name: 'Many', slug: 'many-effects', steps });
  await handle.result().finally(() => clock.mockRestore());
  expect(calls.get(handle.workflowId)).toBe(EFFECTS);
  let events = 0;
  for (let runId: string | null | undefined = (await handle.describe()).runId; runId; ) {
    const history = await server.client.workflow.getHandle(handle.workflowId, runId).fetchHistory();
    events += history.events?.length ?? 0;
    runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  }
  expect(events / EFFECTS).toBeLessThan(0.02);
  const { live, folded } = await readConsistently(server, handle);
  expect(folded).toEqual(live);
  const { items } = await readTrace(server, handle.workflowId);
  expect(new Set(items.map(({ status }) => status))).toEqual(new Set(['completed']));
});
