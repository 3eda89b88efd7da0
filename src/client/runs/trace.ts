/**
 * The trace of an execution, folded from Temporal's history (src/history). No worker has to run, and closed runs have a
 * trace as open ones do. It covers all runs of the chain, from the latest back to the first that the server still
 * keeps.
 */

import type { MadeDecision, RunError } from '../../contract/run/run.ts';
import { stepSlug } from '../../definition/document/names.ts';
import {
  ambiguitiesOf,
  type ChainAmbiguity,
  type FoldedRun,
  outlinesOf,
  rangesOf,
  sliceOf,
  type TraceSlice,
  totalOf,
} from '../../history/chain.ts';
import type { Unreadable } from '../../history/events.ts';
import { frameMatcher } from '../../history/summary.ts';
import { type RowPlace, rowBytes, type TraceRow } from '../../history/trace-rows.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError } from '../errors.ts';
import { iso, isoTimespan } from '../temporal/timestamps.ts';
import { withoutTooDeep } from '../temporal/unreadable-data.ts';
import { type ShownRetrying, shownRetrying } from './pending-activities.ts';
import { eventUrlOf } from './run-view.ts';
import { describeLastRun, foldRun, type LastRun, readChain, type TraceAccess, withoutState } from './trace-chain.ts';

/** One visit of a step. Times are ISO 8601. */
export interface Step extends ShownRetrying, RowPlace {
  readonly path: string;
  readonly stepSlug: string;
  /** Absent where the step has no name, or it is its slug. */
  readonly stepName?: string;
  readonly stepType: string;
  readonly status: TraceRow['status'];
  readonly port?: string;
  readonly attempts: number;
  readonly input?: Json;
  readonly output?: Json;
  readonly error?: RunError;
  /** Who completed or failed an activity of the visit by hand, through Temporal. */
  readonly endedBy?: string;
  /** Of an approval, also of an agent's call: present once it is decided. */
  readonly decision?: MadeDecision;
  /** The event of Temporal's history that opened it, and its address in the Web UI. */
  readonly eventId?: number;
  readonly temporalUrl?: string;
  /** The number of the row's attempt, from 1. Present where attempts are requested. */
  readonly attempt?: number;
  readonly startedAt: string;
  readonly completedAt?: string;
  /** Why input, output or error are missing. */
  readonly unreadable?: Unreadable;
}

interface TracePage {
  /** In the order of their starts. */
  readonly items: readonly Step[];
  readonly nextCursor?: string;
  /** The number of all visits so far, whatever the filter. */
  readonly total: number;
  /** The history is ambiguous (E6). `guesses` says where. */
  readonly uncertain: boolean;
  readonly guesses: readonly ChainAmbiguity[];
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
  /** `step` may also be the id of a step in agent-ops: `step[0].then[1]`. */
  readonly names?: string;
  /** Only visits that asked for an approval, and got a decision. */
  readonly decided?: true;
  /** Only visits in this frame, at any depth. */
  readonly under?: string;
  /** Default: in the order of their starts. `desc`: the newest first. */
  readonly order?: 'asc' | 'desc';
  /** Members that are left out. */
  readonly exclude?: ReadonlySet<ExcludedMember>;
  /** Shows every attempt, and not only the last one; `limit` counts visits. */
  readonly attempts?: boolean;
  /** Default 1,000, at most 10,000. */
  readonly limit?: number;
  /** The nextCursor of the previous page. */
  readonly cursor?: string;
  /** The run of the chain to end with; default: the latest. */
  readonly runId?: string;
}

export const EXCLUDED_MEMBERS = ['input', 'output', 'error'] as const;
type ExcludedMember = (typeof EXCLUDED_MEMBERS)[number];

const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 10_000;
/** The most rows that a filtered page searches. The page is short, or empty, where few of them match. */
const MAX_SLICES = 4;
const SLICE_ROWS = 50_000;
/** Backwards, a slice is read whole. */
const DESCENDING_SLICE_ROWS = 10_000;
/** A page ends early when its rows reach this size. */
const PAGE_BYTES = 8_000_000;
/**
 * A page of the execution's trace. The caller checks that the execution may be seen.
 * @throws ClientError `not_found`, `invalid_cursor`, `temporal_unreachable`.
 */
export async function readTrace(access: TraceAccess, executionId: string, query: TraceQuery = {}): Promise<TracePage> {
  const isDescending = query.order === 'desc';
  const limit = Math.min(Math.max(Math.trunc(query.limit ?? DEFAULT_LIMIT), 1), MAX_LIMIT);
  const lastRun = await describeLastRun(access, executionId, query.runId);
  const chain = await readChain(access, executionId, lastRun);
  const items: TraceRow[] = [];
  const matches = filterOf(query, chain);
  // Forwards the number of the next row, backwards how many rows are left.
  let next = offsetOf(query.cursor) ?? (isDescending ? totalOf(chain) : 0);
  let bytes = 0;
  let total: number;
  for (let slices = 1; ; slices++) {
    const rows = matches === undefined ? limit : isDescending ? DESCENDING_SLICE_ROWS : SLICE_ROWS;
    const read = isDescending ? readSliceDescending : readSlice;
    const slice = await read(access, executionId, lastRun, chain, next, rows);
    total = slice.total;
    for (const row of slice.rows) {
      if (items.length === limit || bytes >= PAGE_BYTES) break;
      next += isDescending ? -1 : 1;
      if (matches?.(row) === false) continue;
      const shortened = withoutMembers(row, query.exclude);
      items.push(shortened);
      bytes += rowBytes(shortened);
    }
    const isFull = items.length === limit || bytes >= PAGE_BYTES;
    if (matches === undefined || isFull || slices === MAX_SLICES || slice.rows.length === 0) break;
  }
  const guesses = ambiguitiesOf(chain);
  const unreadable = chain.find((run) => run.unreadable !== undefined)?.unreadable;
  const hasMore = isDescending ? next > 0 : next < total;
  return {
    items: items.flatMap((row) => stepsOfRow(access, executionId, row, query.attempts === true)),
    ...(hasMore ? { nextCursor: String(next) } : {}),
    total,
    uncertain: guesses.length > 0,
    guesses,
    ...omitUndefined({ unreadable }),
  };
}

function withoutMembers(row: TraceRow, exclude: TraceQuery['exclude']): TraceRow {
  if (exclude === undefined || exclude.size === 0) return row;
  const kept = { ...row };
  for (const member of exclude) delete kept[member];
  if (!exclude.has('error')) return kept;
  const { lastError: _error, ...retrying } = row.retrying ?? {};
  return { ...kept, failures: [], ...(row.retrying === undefined ? {} : { retrying }) };
}

function filterOf(
  { statuses, step, names, decided, under }: TraceQuery,
  chain: readonly FoldedRun[],
): ((row: TraceRow) => boolean) | undefined {
  if ([statuses, step, decided, under].every((one) => one === undefined)) return undefined;
  const isInside = under === undefined ? undefined : frameMatcher(outlinesOf(chain), under);
  const slug = step === undefined || names === undefined ? step : stepSlug(step);
  return (row) =>
    (statuses === undefined || statuses.includes(row.status)) &&
    (step === undefined || row.stepSlug === step || row.stepSlug === slug || row.path === step) &&
    (decided === undefined || row.decision !== undefined) &&
    isInside?.(row) !== false;
}

/** At most `limit` rows before `end`, the newest first. */
async function readSliceDescending(
  access: TraceAccess,
  executionId: string,
  lastRun: LastRun,
  chain: FoldedRun[],
  end: number,
  limit: number,
): Promise<TraceSlice> {
  const rows: TraceRow[] = [];
  let total = totalOf(chain);
  for (let at = Math.max(0, end - limit); at < end; ) {
    const slice = await readSlice(access, executionId, lastRun, chain, at, end - at);
    total = slice.total;
    if (slice.rows.length === 0) break;
    at += slice.rows.length;
    rows.push(...slice.rows);
  }
  return { rows: rows.reverse(), total };
}

/** Rows from `offset` on. A run whose rows are not held is folded again, and its rows stay in the chain. */
async function readSlice(
  access: TraceAccess,
  executionId: string,
  lastRun: LastRun,
  chain: FoldedRun[],
  offset: number,
  limit: number,
): Promise<TraceSlice> {
  for (const [n, range] of rangesOf(chain, offset, limit).entries()) {
    const { window, runId } = chain[n]!;
    if (range.from >= range.to || (range.from >= window.from && range.to <= window.to)) continue;
    const pending = runId === lastRun.runId ? lastRun.pending : [];
    const page = { ...range, bytes: PAGE_BYTES };
    chain[n] = withoutState(runId, await foldRun(access, executionId, runId, page, pending));
  }
  return sliceOf(chain, offset, limit, PAGE_BYTES);
}

function offsetOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  if (!/^\d{1,9}$/.test(cursor)) {
    throw new ClientError('invalid_cursor', 'The cursor is not one of this list. Give the nextCursor of an answer.');
  }
  return Number(cursor);
}

/** One row for each visit; or, where attempts are requested, one for each attempt, with the visit's own row last. */
function stepsOfRow(access: TraceAccess, executionId: string, row: TraceRow, attempts: boolean): Step[] {
  const step = stepOf(access, executionId, row);
  if (!attempts) return [step];
  const { path, stepSlug, stepName, stepType } = step;
  const earlier = Array.from({ length: Math.max(0, row.attempts - 1) }, (_, n): Step => {
    const failed = row.failures?.find(({ attempt }) => attempt === n + 1);
    const { error } = withoutTooDeep({ error: failed?.error }, ['error']).value;
    return {
      path,
      stepSlug,
      ...omitUndefined({ stepName }),
      stepType,
      status: 'failed',
      attempts: row.attempts,
      attempt: n + 1,
      ...omitUndefined({ error }),
      startedAt: failed?.startedAt === undefined ? step.startedAt : iso(failed.startedAt),
      ...(failed?.completedAt === undefined ? {} : { completedAt: iso(failed.completedAt) }),
    };
  });
  return [...earlier, { ...step, attempt: row.attempts }];
}

function stepOf(access: TraceAccess, executionId: string, row: TraceRow): Step {
  const { startedAt, completedAt, failures = [], retrying, runId, ...rest } = row;
  const lastError = failures.find(({ attempt }) => attempt === row.attempts - 1)?.error;
  const { value: written, unreadable } = withoutTooDeep({ ...rest, ...omitUndefined({ lastError }) }, [
    'input',
    'output',
    'error',
    'lastError',
  ]);
  const temporalUrl = eventUrlOf(access, executionId, runId, row.eventId);
  return {
    ...written,
    ...omitUndefined({ unreadable, temporalUrl }),
    ...(retrying === undefined || completedAt !== undefined ? {} : shownRetrying(retrying)),
    ...isoTimespan(startedAt, completedAt),
  };
}
