/**
 * The trace of a whole execution: the runs of its chain, oldest first, joined across continue-as-new and retries. The
 * row of a visit is where the visit began, and gets what later runs add to it. A retry has rows of its own.
 */
import { assert } from '../json/assert.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import type { Ambiguity } from './ambiguities.ts';
import type { RunTrace } from './run-trace.ts';
import { type RowOutline, rowBytes, type TraceRow, withEvaluated } from './trace-rows.ts';

/** The part of a run's trace that is joined. It leaves out the state, so that a chain of many runs fits into memory. */
export type FoldedRun = Omit<RunTrace, 'state' | 'program'> & {
  readonly runId: string;
  /** The number of its events in a stream of the execution (src/client/runs/run-events.ts). */
  readonly eventCount?: number;
};

/** The rows from `offset` on, at most `limit` of them, and the number of all rows. */
export interface TraceSlice {
  readonly rows: readonly TraceRow[];
  readonly total: number;
}

/** The rows of each run that a page needs, by their number in the run: [from, to), one pair for each run. */
export function rangesOf(chain: readonly FoldedRun[], offset: number, limit: number): { from: number; to: number }[] {
  let before = lostRows(chain).length;
  return chain.map((run) => {
    const from = Math.min(Math.max(offset - before, 0), run.count);
    const to = Math.min(Math.max(offset + limit - before, 0), run.count);
    before += run.count;
    return { from, to };
  });
}

/**
 * Joins the runs. The window of every run begins at its range (`rangesOf`) or before. A page ends early, but after at
 * least one row, when its rows reach `bytes`, and at the end of a window.
 */
export function sliceOf(
  chain: readonly FoldedRun[],
  offset: number,
  limit: number,
  bytes = Number.POSITIVE_INFINITY,
): TraceSlice {
  const lost = lostRows(chain);
  const total = totalOf(chain);
  const page: TraceRow[] = [];
  let bytesLeft = bytes;
  const take = (row: TraceRow, next: number): boolean => {
    if (bytesLeft <= 0) return false;
    const full = withLaterRuns(row, chain, next);
    page.push(full);
    bytesLeft -= rowBytes(full);
    return true;
  };
  for (const row of lost.slice(offset, offset + limit)) if (!take(row, 0)) return { rows: page, total };
  for (const [n, { from, to }] of rangesOf(chain, offset, limit).entries()) {
    const { rows, window } = chain[n]!;
    for (let number = from; number < to; number++) {
      const row = number < window.to ? rows[number - window.from] : undefined;
      if (row === undefined || !take(withRunId(row, chain[n]!.runId), n + 1)) return { rows: page, total };
    }
  }
  return { rows: page, total };
}

/** The number of all visits. */
export const totalOf = (chain: readonly FoldedRun[]): number =>
  chain.reduce((sum, run) => sum + run.count, lostRows(chain).length);

/** The ambiguities by run. `history_gone`: the server no longer has the previous run. */
export interface ChainAmbiguity {
  readonly runId: string;
  readonly eventId: number;
  readonly why: Ambiguity['why'] | 'history_gone';
}

export function ambiguitiesOf(chain: readonly FoldedRun[]): ChainAmbiguity[] {
  const first = chain[0];
  const lostHistory: ChainAmbiguity[] =
    first?.continuedFrom === undefined ? [] : [{ runId: first.continuedFrom, eventId: 0, why: 'history_gone' }];
  return [...lostHistory, ...chain.flatMap((run) => run.guesses.map((guess) => ({ runId: run.runId, ...guess })))];
}

/** Open visits that began in a run whose history is gone. */
function lostRows(chain: readonly FoldedRun[]): TraceRow[] {
  const first = chain[0];
  if (first?.continuedFrom === undefined) return [];
  return first.inherited.map((visit) => ({ ...visit, status: 'running', attempts: 1 }));
}

/** Every visit without its values, in order of start. A run whose briefs are not held leaves its visits out. */
export function outlinesOf(chain: readonly FoldedRun[]): RowOutline[] {
  const lost = lostRows(chain).map((row) => withLaterRuns(row, chain, 0));
  return [
    ...lost,
    ...chain.flatMap(({ briefs, runId }, n) => briefs.map((row) => withLaterRuns(withRunId(row, runId), chain, n + 1))),
  ];
}

const withRunId = (row: TraceRow, runId: string): TraceRow => (row.eventId === undefined ? row : { ...row, runId });

/** The row with what the runs from number `next` on add to it. An open row waits, runs, or ended with the run. */
function withLaterRuns(row: TraceRow, chain: readonly FoldedRun[], next: number): TraceRow {
  let full = row;
  for (let n = next; n < chain.length && full.completedAt === undefined; n++) {
    // A retry has rows of its own.
    if (chain[n]!.restarted) return { ...full, status: 'cancelled', completedAt: cancelledAt(full, chain[n - 1]!) };
    const more = chain[n]!.ends.get(row.path);
    if (more === undefined) continue;
    const { evaluated, ...end } = more;
    const { eventId = end.eventId, runId = eventId === undefined ? undefined : chain[n]!.runId } = full;
    const attempts = Math.max(full.attempts, more.attempts ?? 0);
    full = { ...full, ...end, attempts, ...omitUndefined({ eventId, runId }) };
    if (evaluated !== undefined) full = { ...full, input: withEvaluated(full.input, evaluated) };
  }
  if (full.completedAt !== undefined) return full;
  const last = chain.at(-1);
  assert(last !== undefined, 'A chain has at least one run.');
  if (last.closed !== undefined && last.closed.how !== 'continued') {
    return { ...full, status: 'cancelled', completedAt: cancelledAt(full, last) };
  }
  return { ...full, status: last.waiting.has(row.path) ? 'waiting' : 'running' };
}

const cancelledAt = ({ startedAt }: TraceRow, { closed }: FoldedRun): number => Math.max(closed?.time ?? 0, startedAt);
