/** Generated definitions on the real server, spoken to at random: the fold has to come to the live state (E6). */
import type { WorkflowHandle } from '@temporalio/client';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { readTrace } from '../../../src/client/runs/trace.ts';
import type { ChainAmbiguity } from '../../../src/history/chain.ts';
import { blocks, definitionOf } from '../../history/programs.ts';
import { startWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { readConsistently } from './consistent-trace.ts';
import { startRun } from './run-support.ts';

const RUNS = Number(process.env['TRACE_RUNS'] ?? 6);
const SEED = Number(process.env['TRACE_SEED'] ?? 20_260_101);

const UNAVOIDABLE: ReadonlySet<ChainAmbiguity['why']> = new Set([
  'local_activities_together',
  'local_activity_across_tasks',
  'task_timed_out',
]);

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/**
 * A worker of its own. With `cached` 1 nearly every task replays its run from the history, and the SDK loses some tasks
 * for 10 s; with 0 it loses queries too (TEMPORAL.md §6).
 */
async function open(cached: number): Promise<TestServer> {
  const server = await testServer({ SIGNALBOX_HISTORY_LIMIT: '40' });
  const http = async (): Promise<unknown> => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
    if (Math.random() < 0.1) throw new Error('Not this time.');
    return { data: 1 };
  };
  const worker = await startWorker(server, { activities: { http }, maxCachedWorkflows: cached });
  ends.push(async () => {
    await worker.stop();
    await server.close();
  });
  return server;
}

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;

async function talk(handle: WorkflowHandle): Promise<void> {
  for (let n = 0; n < 10; n++) {
    const said = Array.from({ length: 1 + Math.floor(Math.random() * 4) }, () =>
      pick([
        () => handle.signal('approve', {}),
        () => handle.signal('message', { name: 'news', payload: n }),
        () => handle.executeUpdate(pick(['approve', 'reject']), { args: [{}] }),
        () => handle.signal('skipTimer', {}),
        () => handle.signal('cancelStep', {}),
        () => handle.signal('retryStep', {}),
        () => handle.signal(pick(['pause', 'resume', 'resume']), {}),
      ])().catch(() => undefined),
    );
    await Promise.all(said);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
  }
  await handle.signal('resume', {}).catch(() => undefined);
}

it.each([
  ['that keep runs in memory', 100],
  ['that replay nearly every task', 1],
])(
  'folds random runs to their live state, with workers %s',
  async (_name, cached) => {
    const server = await open(cached);
    const definitions = fc.sample(blocks, { numRuns: RUNS, seed: SEED + cached }).map(definitionOf);
    const unsure: ChainAmbiguity[] = [];
    await Promise.all(
      definitions.map(async (definition) => {
        const handle = await startRun(server, definition);
        await talk(handle);
        const { live, folded } = await readConsistently(server, handle);
        const trace = await readTrace(server, handle.workflowId);
        const sure = !trace.uncertain;
        if (!sure) unsure.push(...trace.guesses);
        if (sure) expect(folded, JSON.stringify(definition)).toEqual(live);
        expect(new Set(trace.items.map((step) => step.path)).size).toBe(trace.items.length);
        await handle.terminate().catch(() => undefined);
      }),
    );
    // Only local activities, and their tasks that timed out on a busy machine, make the fold guess. Only runs with
    // these may differ.
    const guessed = unsure.filter(({ why }) => UNAVOIDABLE.has(why));
    const unexplained = unsure.filter(
      (place) =>
        !UNAVOIDABLE.has(place.why) &&
        !(place.why === 'carried_state_differs' && guessed.some(({ runId }) => runId === place.runId)),
    );
    expect(unexplained).toEqual([]);
  },
  120_000,
);
