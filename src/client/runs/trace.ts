/**
 * The trace of an execution, folded from Temporal's history (src/history). No worker has to run, and closed runs have a
 * trace as open ones do. It covers all runs of the chain, from the latest back to the first that the server still
 * keeps.
 *
 * The fold of a closed run never changes, so it is cached up to a bound. Of a long chain only the last run is read
 * again.
 */

import type { RunError } from '../../contract/run.ts';
import type { RunState } from '../../engine/state/state.ts';
import {
  type ChainPosition,
  type FoldedRun,
  guessesOf,
  rangesOf,
  sliceOf,
  type TraceSlice,
} from '../../history/chain.ts';
import type { Unreadable } from '../../history/events.ts';
import { Fold } from '../../history/fold.ts';
import type { PendingAttempt, RunTrace } from '../../history/run-trace.ts';
import { type RowWindow, rowBytes, type TraceRow } from '../../history/trace-rows.ts';
import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { historyOf } from '../temporal/histories.ts';
import { read } from '../temporal/rpc.ts';
import { Turns } from '../temporal/turns.ts';
import { writable } from '../temporal/unreadable.ts';
import { pendingAttempts, type ShownRetrying, shownRetrying } from './pending.ts';

/** One visit of a step (ARCHITECTURE.md §5, "step"). Times are ISO 8601. */
export interface Step extends ShownRetrying {
  readonly path: string;
  readonly stepSlug: string;
  readonly stepType: string;
  readonly status: TraceRow['status'];
  readonly port?: string;
  readonly attempts: number;
  readonly input?: Json;
  readonly output?: Json;
  readonly error?: RunError;
  /** The number of the row's attempt, from 1. Present where attempts are requested. */
  readonly attempt?: number;
  readonly startedAt: string;
  readonly completedAt?: string;
  /** Why input, output or error are missing. */
  readonly unreadable?: Unreadable;
}

export interface TracePage {
  /** In the order of their starts. */
  readonly items: readonly Step[];
  readonly nextCursor?: string;
  /** The number of all visits so far, whatever the filter. */
  readonly total: number;
  /** The history is ambiguous (E6). `guesses` says where. */
  readonly uncertain: boolean;
  readonly guesses: readonly ChainPosition[];
  /** Why steps are missing: the history is unreadable from some event on. */
  readonly unreadable?: Unreadable;
}

/** Statuses of a visit. */
export const STEP_STATUSES = ['running', 'waiting', 'completed', 'failed', 'cancelled', 'skipped'] as const;

export interface TraceQuery {
  /** Only visits of these statuses. */
  readonly statuses?: readonly TraceRow['status'][];
  /** Only visits of this step: its slug, or the path of one visit. */
  readonly step?: string;
  /** Shows every attempt, and not only the last one; `limit` counts visits. */
  readonly attempts?: boolean;
  /** Default 1,000, at most 10,000. */
  readonly limit?: number;
  /** The nextCursor of the previous page. */
  readonly cursor?: string;
  /** The run of the chain to end with; default: the latest. */
  readonly runId?: string;
}

type Reading = Pick<Access, 'client' | 'namespace'>;

const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 10_000;
/** The most rows that a filtered page searches. The page is short, or empty, where few of them match. */
const MOST_SLICES = 4;
const SLICE_ROWS = 50_000;
/** A page ends early when its rows reach this size. */
const PAGE_BYTES = 8_000_000;
/** Cached rows of one run. A page beyond them folds the run again. */
const KEPT: RowWindow = { from: 0, to: 50_000, bytes: 32_000_000 };
const NO_ROWS: RowWindow = { from: 0, to: 0 };
/** Limit of the cached folds of all closed runs, and of the rows that are held of one chain. */
const CACHED_BYTES = 64_000_000;
/** The least size that a cached run counts, however short it is. */
const RUN_BYTES = 5_000;

/**
 * Cached closed runs by id, the least recently read first. One map serves all organizations, because run ids cannot be
 * guessed.
 */
const kept = new Map<string, FoldedRun>();
let keptBytes = 0;

/**
 * A page of the execution's trace. The caller checks that the execution may be seen.
 * @throws ClientError `not_found`, `invalid_cursor`, `temporal_unreachable`.
 */
export async function readTrace(access: Reading, executionId: string, query: TraceQuery = {}): Promise<TracePage> {
  const offset = offsetOf(query.cursor);
  const limit = Math.min(Math.max(Math.trunc(query.limit ?? DEFAULT_LIMIT), 1), MAX_LIMIT);
  const described = await describe(access, executionId, query.runId);
  const chain = await readChain(access, executionId, described);
  const items: TraceRow[] = [];
  const isMeant = filterOf(query);
  let next = offset;
  let bytes = 0;
  let total: number;
  for (let slices = 1; ; slices++) {
    const slice = await readSlice(access, executionId, described, chain, next, isMeant ? SLICE_ROWS : limit);
    total = slice.total;
    for (const row of slice.rows) {
      if (items.length === limit || bytes >= PAGE_BYTES) break;
      next += 1;
      if (isMeant?.(row) === false) continue;
      items.push(row);
      bytes += rowBytes(row);
    }
    const isFull = items.length === limit || bytes >= PAGE_BYTES;
    if (isMeant === undefined || isFull || slices === MOST_SLICES || slice.rows.length === 0) break;
  }
  const guesses = guessesOf(chain);
  const unreadable = chain.find((run) => run.unreadable !== undefined)?.unreadable;
  return {
    items: items.flatMap((row) => shownRows(row, query.attempts === true)),
    ...(next < total ? { nextCursor: String(next) } : {}),
    total,
    uncertain: guesses.length > 0,
    guesses,
    ...defined({ unreadable }),
  };
}

function filterOf({ statuses, step }: TraceQuery): ((row: TraceRow) => boolean) | undefined {
  if (statuses === undefined && step === undefined) return undefined;
  return (row) =>
    (statuses === undefined || statuses.includes(row.status)) &&
    (step === undefined || row.stepSlug === step || row.path === step);
}

/** Rows from `offset` on. A run whose rows are not held is folded again, and its rows stay in the chain. */
async function readSlice(
  access: Reading,
  executionId: string,
  described: Described,
  chain: FoldedRun[],
  offset: number,
  limit: number,
): Promise<TraceSlice> {
  for (const [n, range] of rangesOf(chain, offset, limit).entries()) {
    const { window, runId } = chain[n]!;
    if (range.from >= range.to || (range.from >= window.from && range.to <= window.to)) continue;
    const pending = runId === described.runId ? described.pending : [];
    const page = { ...range, bytes: PAGE_BYTES };
    chain[n] = withoutState(runId, await foldRun(access, executionId, runId, page, pending));
  }
  return sliceOf(chain, offset, limit, PAGE_BYTES);
}

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
async function readChain(access: Reading, executionId: string, { runId, pending }: Described): Promise<FoldedRun[]> {
  const last = await readRun(access, executionId, runId, pending);
  const chain = [last];
  let bytes = bytesOf(last);
  for (let before = last.continuedFrom; before !== undefined; before = chain[0]!.continuedFrom) {
    try {
      const run = await readRun(access, executionId, before, []);
      bytes += bytesOf(run);
      chain.unshift(bytes <= CACHED_BYTES ? run : { ...run, rows: [], window: NO_ROWS });
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
  let bytes = RUN_BYTES + run.bytes;
  for (const end of run.ends.values()) bytes += rowBytes(end);
  return bytes;
}

async function foldRun(
  access: Reading,
  executionId: string,
  runId: string,
  window: RowWindow,
  pending: readonly PendingAttempt[] = [],
): Promise<RunTrace> {
  const fold = new Fold(executionId, window, { tolerant: true });
  const turns = new Turns();
  for await (const event of historyOf(access, executionId, runId)) {
    await turns.take(fold.pushInParts(event));
    await turns.rest();
  }
  return turns.take(fold.finishInParts(pending));
}

interface Described {
  readonly runId: string;
  readonly pending: readonly PendingAttempt[];
}

async function describe(access: Reading, workflowId: string, runId: string | undefined): Promise<Described> {
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

function withoutState(runId: string, trace: RunTrace): FoldedRun {
  const { state: _state, program: _program, ...rest } = trace;
  return { runId, ...rest, closed: rest.closed && { ...rest.closed, argument: undefined } };
}

function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (!/^\d{1,9}$/.test(cursor)) {
    throw new ClientError('invalid_cursor', 'The cursor is not one of this list. Give the nextCursor of an answer.');
  }
  return Number(cursor);
}

/** One row for each visit; or, where attempts are requested, one for each attempt, with the visit's own row last. */
function shownRows(row: TraceRow, attempts: boolean): Step[] {
  const step = shown(row);
  if (!attempts) return [step];
  const { path, stepSlug, stepType } = step;
  const earlier = Array.from({ length: Math.max(0, row.attempts - 1) }, (_, n): Step => {
    const failed = { error: row.failures?.find(({ attempt }) => attempt === n + 1)?.error };
    const { error } = writable(failed, ['error']).value;
    return {
      path,
      stepSlug,
      stepType,
      status: 'failed',
      attempts: row.attempts,
      attempt: n + 1,
      ...defined({ error }),
      startedAt: step.startedAt,
    };
  });
  return [...earlier, { ...step, attempt: row.attempts }];
}

function shown(row: TraceRow): Step {
  const { startedAt, completedAt, failures: _failures, retrying, ...rest } = row;
  const { value: written, unreadable } = writable(rest, ['input', 'output', 'error']);
  return {
    ...written,
    ...defined({ unreadable }),
    ...(retrying === undefined || completedAt !== undefined ? {} : shownRetrying(retrying)),
    startedAt: new Date(startedAt).toISOString(),
    ...(completedAt === undefined ? {} : { completedAt: new Date(completedAt).toISOString() }),
  };
}
