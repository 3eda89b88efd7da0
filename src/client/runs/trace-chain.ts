/**
 * The folds of the runs of an execution (src/history). The fold of a closed run never changes, so it is cached up to a
 * bound. Of a long chain only the last run is read again.
 */

import type { RunState } from '../../engine/state/state.ts';
import type { FoldedRun } from '../../history/chain.ts';
import type { PendingAttempt, RunTrace } from '../../history/run-trace.ts';
import { type RowWindow, rowBytes } from '../../history/trace-rows.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { CooperativeScheduler } from '../concurrency/cooperative-scheduler.ts';
import { hasCode } from '../errors.ts';
import { historyOf } from '../history/histories.ts';
import type { Access } from '../temporal/access.ts';
import { read } from '../temporal/rpc.ts';
import { pendingAttempts } from './pending-activities.ts';
import { RunEvents } from './run-events.ts';

export type TraceAccess = Pick<Access, 'client' | 'namespace'> & Partial<Pick<Access, 'webUrl'>>;

/** Cached rows of one run. A page beyond them folds the run again. */
const CACHED_WINDOW: RowWindow = { from: 0, to: 50_000, bytes: 32_000_000 };
const NO_ROWS: RowWindow = { from: 0, to: 0 };
/** Limit of the cached folds of all closed runs, and of the rows that are held of one chain. */
const CACHED_BYTES = 64_000_000;
/** The least size that a cached run counts, however short it is. */
const MIN_CACHED_RUN_BYTES = 5_000;
/** The size of a visit without its values. */
const BRIEF_BYTES = 200;
/** The most visits without their values that are held of one chain. */
const MAX_BRIEFS = 200_000;

/**
 * Cached closed runs by id, the least recently read first. One map serves all organizations, because run ids cannot be
 * guessed.
 */
const runCache = new Map<string, FoldedRun>();
let cachedBytes = 0;

/**
 * The state of the run, folded from its history. Undefined where the run never began to walk. It equals the query
 * `state` (E6).
 */
export async function readFoldedState(
  access: TraceAccess,
  executionId: string,
  runId?: string,
): Promise<RunState | undefined> {
  return (await readFolded(access, executionId, runId)).state;
}

/** One run of the execution, the latest by default, without its rows. */
export async function readFolded(access: TraceAccess, executionId: string, runId?: string): Promise<RunTrace> {
  const lastRun = await describeLastRun(access, executionId, runId);
  return foldRun(access, executionId, lastRun.runId, NO_ROWS, lastRun.pending);
}

/**
 * The runs of the chain, oldest first. Of a long chain not all rows are held. Those that a page needs are folded again.
 */
export async function readChain(
  access: TraceAccess,
  executionId: string,
  { runId, pending }: LastRun,
): Promise<FoldedRun[]> {
  const last = await readFoldedRun(access, executionId, runId, pending);
  const chain = [last];
  let bytes = bytesOf(last);
  let visits = last.briefs.length;
  for (let before = last.continuedFrom; before !== undefined; before = chain[0]!.continuedFrom) {
    try {
      const run = await readFoldedRun(access, executionId, before, []);
      bytes += bytesOf(run);
      visits += run.briefs.length;
      const bounded = visits <= MAX_BRIEFS ? run : { ...run, briefs: [] };
      chain.unshift(bytes <= CACHED_BYTES ? bounded : { ...bounded, rows: [], window: NO_ROWS });
    } catch (error) {
      // The first runs are past their retention: the trace begins with the oldest run that the server has, and says so.
      if (!hasCode(error, 'not_found')) throw error;
      break;
    }
  }
  return chain;
}

async function readFoldedRun(
  access: TraceAccess,
  executionId: string,
  runId: string,
  pending: readonly PendingAttempt[],
): Promise<FoldedRun> {
  const known = runCache.get(runId);
  if (known !== undefined) {
    runCache.delete(runId);
    runCache.set(runId, known);
    return known;
  }
  const folded = withoutState(runId, await foldRun(access, executionId, runId, CACHED_WINDOW, pending));
  // An unreadable history may become readable when a key or a blob returns.
  if (folded.closed !== undefined && folded.unreadable === undefined) cacheRun(folded);
  return folded;
}

function cacheRun(run: FoldedRun): void {
  // Another reader may have folded it concurrently.
  if (runCache.has(run.runId)) return;
  runCache.set(run.runId, run);
  cachedBytes += bytesOf(run);
  for (const [runId, oldest] of runCache) {
    if (cachedBytes <= CACHED_BYTES || runId === run.runId) break;
    runCache.delete(runId);
    cachedBytes -= bytesOf(oldest);
  }
}

function bytesOf(run: FoldedRun): number {
  let bytes = MIN_CACHED_RUN_BYTES + run.bytes + BRIEF_BYTES * run.briefs.length;
  for (const end of run.ends.values()) bytes += rowBytes(end);
  return bytes;
}

/** One run, with its rows in the window and the number of its events. */
export async function foldRun(
  access: TraceAccess,
  executionId: string,
  runId: string,
  window: RowWindow,
  pending: readonly PendingAttempt[] = [],
): Promise<RunTrace & { readonly eventCount: number }> {
  const run = new RunEvents(executionId, runId, window);
  const scheduler = new CooperativeScheduler();
  const count = (): void => {
    run.emitted += run.takeEvents().length;
  };
  for await (const event of historyOf(access, executionId, runId)) {
    await scheduler.run(run.push(event));
    await scheduler.yieldIfDue();
    count();
  }
  await scheduler.run(run.settle());
  count();
  return { ...(await scheduler.run(run.fold.finishInChunks(pending))), eventCount: run.emitted };
}

/** The run to end with, and its open activities. */
export interface LastRun {
  readonly runId: string;
  readonly pending: readonly PendingAttempt[];
}

export async function describeLastRun(
  access: TraceAccess,
  workflowId: string,
  runId: string | undefined,
): Promise<LastRun> {
  const described = await read(access, () =>
    access.client.workflowService.describeWorkflowExecution({
      namespace: access.namespace,
      execution: { workflowId, ...omitUndefined({ runId }) },
    }),
  );
  return {
    runId: described.workflowExecutionInfo?.execution?.runId ?? runId ?? '',
    pending: await pendingAttempts(access.client.options.loadedDataConverter, described.pendingActivities),
  };
}

/** What is joined, and cached, of a fold. */
export function withoutState(runId: string, trace: RunTrace & { readonly eventCount: number }): FoldedRun {
  const { state: _state, program: _program, ...rest } = trace;
  return { runId, ...rest, closed: rest.closed && { ...rest.closed, argument: undefined } };
}
