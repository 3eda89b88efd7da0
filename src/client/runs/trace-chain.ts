/**
 * The folds of the runs of an execution (src/history). The fold of a closed run never changes, so it is cached up to a
 * bound. Of a long chain only the last run is read again.
 */

import type { RunState } from '../../engine/state/state.ts';
import type { FoldedRun } from '../../history/chain.ts';
import type { PendingAttempt, RunTrace } from '../../history/run-trace.ts';
import { type RowWindow, rowBytes } from '../../history/trace-rows.ts';
import { defined } from '../../json/defined.ts';
import { hasCode } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { historyOf } from '../temporal/histories.ts';
import { read } from '../temporal/rpc.ts';
import { Turns } from '../temporal/turns.ts';
import { pendingAttempts } from './pending.ts';
import { RunEvents } from './run-events.ts';

export type Reading = Pick<Access, 'client' | 'namespace'> & Partial<Pick<Access, 'webUrl'>>;

/** Cached rows of one run. A page beyond them folds the run again. */
const KEPT: RowWindow = { from: 0, to: 50_000, bytes: 32_000_000 };
const NO_ROWS: RowWindow = { from: 0, to: 0 };
/** Limit of the cached folds of all closed runs, and of the rows that are held of one chain. */
const CACHED_BYTES = 64_000_000;
/** The least size that a cached run counts, however short it is. */
const RUN_BYTES = 5_000;
/** The size of a visit without its values. */
const BRIEF_BYTES = 200;
/** The most visits without their values that are held of one chain. */
const MOST_BRIEFS = 200_000;

/**
 * Cached closed runs by id, the least recently read first. One map serves all organizations, because run ids cannot be
 * guessed.
 */
const kept = new Map<string, FoldedRun>();
let keptBytes = 0;

/**
 * The state of the run, folded from its history. Undefined where the run never began to walk. It equals the query
 * `state` (E6).
 */
export async function readFoldedState(
  access: Reading,
  executionId: string,
  runId?: string,
): Promise<RunState | undefined> {
  return (await readFolded(access, executionId, runId)).state;
}

/** One run of the execution, the latest by default, without its rows. */
export async function readFolded(access: Reading, executionId: string, runId?: string): Promise<RunTrace> {
  const described = await describe(access, executionId, runId);
  return foldRun(access, executionId, described.runId, NO_ROWS, described.pending);
}

/**
 * The runs of the chain, oldest first. Of a long chain not all rows are held. Those that a page needs are folded again.
 */
export async function readChain(
  access: Reading,
  executionId: string,
  { runId, pending }: Described,
): Promise<FoldedRun[]> {
  const last = await readRun(access, executionId, runId, pending);
  const chain = [last];
  let bytes = bytesOf(last);
  let visits = last.briefs.length;
  for (let before = last.continuedFrom; before !== undefined; before = chain[0]!.continuedFrom) {
    try {
      const run = await readRun(access, executionId, before, []);
      bytes += bytesOf(run);
      visits += run.briefs.length;
      const held = visits <= MOST_BRIEFS ? run : { ...run, briefs: [] };
      chain.unshift(bytes <= CACHED_BYTES ? held : { ...held, rows: [], window: NO_ROWS });
    } catch (error) {
      // The first runs are past their retention: the trace begins with the oldest run that the server has, and says so.
      if (!hasCode(error, 'not_found')) throw error;
      break;
    }
  }
  return chain;
}

async function readRun(
  access: Reading,
  executionId: string,
  runId: string,
  pending: readonly PendingAttempt[],
): Promise<FoldedRun> {
  const known = kept.get(runId);
  if (known !== undefined) {
    kept.delete(runId);
    kept.set(runId, known);
    return known;
  }
  const folded = withoutState(runId, await foldRun(access, executionId, runId, KEPT, pending));
  // An unreadable history may become readable when a key or a blob returns.
  if (folded.closed !== undefined && folded.unreadable === undefined) keep(folded);
  return folded;
}

function keep(run: FoldedRun): void {
  // Another reader may have folded it concurrently.
  if (kept.has(run.runId)) return;
  kept.set(run.runId, run);
  keptBytes += bytesOf(run);
  for (const [runId, oldest] of kept) {
    if (keptBytes <= CACHED_BYTES || runId === run.runId) break;
    kept.delete(runId);
    keptBytes -= bytesOf(oldest);
  }
}

function bytesOf(run: FoldedRun): number {
  let bytes = RUN_BYTES + run.bytes + BRIEF_BYTES * run.briefs.length;
  for (const end of run.ends.values()) bytes += rowBytes(end);
  return bytes;
}

/** One run, with its rows in the window and the number of its events. */
export async function foldRun(
  access: Reading,
  executionId: string,
  runId: string,
  window: RowWindow,
  pending: readonly PendingAttempt[] = [],
): Promise<RunTrace & { readonly told: number }> {
  const run = new RunEvents(executionId, runId, window);
  const turns = new Turns();
  const count = (): void => {
    run.told += run.takeNews().length;
  };
  for await (const event of historyOf(access, executionId, runId)) {
    await turns.take(run.push(event));
    await turns.rest();
    count();
  }
  await turns.take(run.settle());
  count();
  return { ...(await turns.take(run.fold.finishInParts(pending))), told: run.told };
}

/** The run to end with, and its open activities. */
export interface Described {
  readonly runId: string;
  readonly pending: readonly PendingAttempt[];
}

export async function describe(access: Reading, workflowId: string, runId: string | undefined): Promise<Described> {
  const described = await read(access, () =>
    access.client.workflowService.describeWorkflowExecution({
      namespace: access.namespace,
      execution: { workflowId, ...defined({ runId }) },
    }),
  );
  return {
    runId: described.workflowExecutionInfo?.execution?.runId ?? runId ?? '',
    pending: await pendingAttempts(access.client.options.loadedDataConverter, described.pendingActivities),
  };
}

/** What is joined, and cached, of a fold. */
export function withoutState(runId: string, trace: RunTrace & { readonly told: number }): FoldedRun {
  const { state: _state, program: _program, ...rest } = trace;
  return { runId, ...rest, closed: rest.closed && { ...rest.closed, argument: undefined } };
}
