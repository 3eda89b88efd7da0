/**
 * The trace of a whole execution: the runs of its chain, oldest first, joined across continue-as-new and retries. A
 * visit's row stands where the visit began; what later runs tell of it is put there. A retry has rows of its own.
 */
import type { Guess } from './ambiguities.ts';
import type { RunTrace } from './fold.ts';
import { rowBytes, type TraceRow, withEvaluated } from './rows.ts';

/** What joining needs of a run's trace; the state is not part of it, so that many can be kept. */
export type FoldedRun = Pick<
  RunTrace,
  | 'window'
  | 'rows'
  | 'bytes'
  | 'ends'
  | 'count'
  | 'waiting'
  | 'inherited'
  | 'guesses'
  | 'closed'
  | 'continuedFrom'
  | 'restarted'
  | 'unreadable'
> & {
  readonly runId: string;
};

/** The rows from `offset` on, at most `limit` of them, and how many there are in all. */
export interface Slice {
  readonly rows: readonly TraceRow[];
  readonly total: number;
}

/** Which rows of each run a page needs, by their number in the run: [from, to), one pair for each run. */
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
 * Joins the runs. Every run's window begins where `rangesOf` says, or before. A page ends early, but not before its first
 * row, when it has so many `bytes`, and where a window does.
 */
export function sliceOf(
  chain: readonly FoldedRun[],
  offset: number,
  limit: number,
  bytes = Number.POSITIVE_INFINITY,
): Slice {
  const lost = lostRows(chain);
  const total = chain.reduce((sum, run) => sum + run.count, lost.length);
  const page: TraceRow[] = [];
  let left = bytes;
  const take = (row: TraceRow, next: number): boolean => {
    if (left <= 0) return false;
    const full = settled(row, chain, next);
    page.push(full);
    left -= rowBytes(full);
    return true;
  };
  for (const row of lost.slice(offset, offset + limit)) if (!take(row, 0)) return { rows: page, total };
  for (const [n, { from, to }] of rangesOf(chain, offset, limit).entries()) {
    const { rows, window } = chain[n]!;
    for (let number = from; number < to; number++) {
      const row = number < window.to ? rows[number - window.from] : undefined;
      if (row === undefined || !take(row, n + 1)) return { rows: page, total };
    }
  }
  return { rows: page, total };
}

/** Where the fold had to guess, by run. `history_gone`: the run before is no longer kept by the server. */
export interface ChainPosition {
  readonly runId: string;
  readonly eventId: number;
  readonly why: Guess['why'] | 'history_gone';
}

export function guessesOf(chain: readonly FoldedRun[]): ChainPosition[] {
  const first = chain[0];
  const gone: ChainPosition[] =
    first?.continuedFrom === undefined ? [] : [{ runId: first.continuedFrom, eventId: 0, why: 'history_gone' }];
  return [...gone, ...chain.flatMap((run) => run.guesses.map((guess) => ({ runId: run.runId, ...guess })))];
}

/** Open visits that began in runs whose history is gone. */
function lostRows(chain: readonly FoldedRun[]): TraceRow[] {
  const first = chain[0];
  if (first?.continuedFrom === undefined) return [];
  return first.inherited.map((visit) => ({ ...visit, status: 'running', attempts: 1 }));
}

/** The row with what the runs from number `next` on say of it; an open one waits, runs, or was ended with the run. */
function settled(row: TraceRow, chain: readonly FoldedRun[], next: number): TraceRow {
  let full = row;
  for (let n = next; n < chain.length && full.completedAt === undefined; n++) {
    // A retry begins with rows of its own.
    if (chain[n]!.restarted)
      return { ...full, status: 'cancelled', completedAt: chain[n - 1]!.closed?.time ?? full.startedAt };
    const more = chain[n]!.ends.get(row.path);
    if (more === undefined) continue;
    const { evaluated, ...end } = more;
    full = { ...full, ...end, attempts: Math.max(full.attempts, more.attempts ?? 0) };
    if (evaluated !== undefined) full = { ...full, input: withEvaluated(full.input, evaluated) };
  }
  if (full.completedAt !== undefined) return full;
  const last = chain.at(-1)!;
  if (last.closed !== undefined && last.closed.how !== 'continued') {
    return { ...full, status: 'cancelled', completedAt: last.closed.time };
  }
  return { ...full, status: last.waiting.has(row.path) ? 'waiting' : 'running' };
}
