/** Lists of runs (ARCHITECTURE.md §5): the filters of alloy, by Visibility. */

import { RUN_STATUSES, RUN_WORKFLOW } from '../../contract/run/run.ts';
import { modelValue } from '../../contract/search-attributes.ts';
import { ClientError } from '../errors.ts';
import {
  type AttributeName,
  all,
  any,
  type Clause,
  compare,
  isNull,
  type Operator,
  queryOf,
} from '../search-attributes/query.ts';
import type { Access } from '../temporal/access.ts';
import { describe } from '../temporal/actor-calls.ts';
import { definitionId } from '../temporal/ids.ts';
import { currentPage } from '../visibility/current-runs.ts';
import { listFiltersOf, matchesListFilters, stateValue } from '../visibility/exact-list-filter.ts';
import { listPage, type Page, type PageRequest, type Row } from '../visibility/listing.ts';
import { pagesOf } from '../visibility/pages.ts';
import { type ExecutionView, executionView } from './run-view.ts';
import { validMemo } from './valid-memo.ts';

const LISTENING_PAGE_SIZE = 1_000;

export const LISTED_STATUSES = [...RUN_STATUSES, 'waiting_approval'] as const;
export type ListedStatus = (typeof LISTED_STATUSES)[number];

/** Status names of other systems. */
export const STATUS_ALIASES: { readonly [name: string]: ListedStatus } = {
  created: 'pending',
  queued: 'pending',
  in_progress: 'running',
  suspended: 'waiting',
  paused: 'waiting',
  success: 'completed',
  succeeded: 'completed',
  exhausted: 'failed',
  timed_out: 'failed',
  canceled: 'cancelled',
  denied: 'cancelled',
  terminated: 'aborted',
};

/** Bounds of a range; `eq` is one value. Dates as epoch milliseconds. */
export interface Range {
  readonly eq?: number;
  readonly gt?: number;
  readonly gte?: number;
  readonly lt?: number;
  readonly lte?: number;
}

export interface RunFilter extends PageRequest {
  /** Any of these. */
  readonly status?: readonly ListedStatus[];
  readonly workflowId?: string;
  readonly executionId?: string;
  readonly conversationId?: string;
  readonly channel?: string;
  readonly employeeId?: string;
  readonly model?: string;
  readonly triggerId?: string;
  readonly triggerType?: string;
  readonly tag?: string;
  /** Searchable state: every key must have its value. */
  readonly state?: { readonly [key: string]: string };
  /** Values of searchable state as they are written: of each group any. Upper and lower case are alike. */
  readonly stateGroups?: readonly (readonly string[])[];
  /** The awaited kinds and persons, such as `approval` or `user:ann`: all of these. */
  readonly waiting?: readonly string[];
  /** The awaited kinds: any of these. Open runs only. */
  readonly awaited?: readonly string[];
  readonly started?: Range;
  readonly ended?: Range;
  /** Milliseconds. */
  readonly duration?: Range;
  readonly tokens?: Range;
}

export async function listRuns(access: Access, org: string, filter: RunFilter): Promise<Page<ExecutionView>> {
  const page = await listRows(access, org, filter);
  return { ...page, items: page.items.map((row) => executionView(access, { ...row, memo: validMemo(row.memo) })) };
}

/**
 * The runs of one workflow that `list` finds. A deleted workflow may still have runs.
 * @throws ClientError `not_found` where the workflow never existed.
 */
export async function listRunsOfWorkflow<T, Filter extends RunFilter>(
  access: Access,
  org: string,
  slug: string,
  filter: Filter,
  list: (access: Access, org: string, filter: Filter) => Promise<Page<T>>,
): Promise<Page<T>> {
  if ((await describe(access, definitionId(org, slug))) === undefined)
    throw new ClientError('not_found', `There is no workflow called ${slug}.`);
  const { workflowId = slug } = filter;
  return workflowId === slug ? list(access, org, { ...filter, workflowId }) : { items: [] };
}

/** Each execution once, in its present state. A page may hold fewer rows than requested. */
function listRows(access: Access, org: string, filter: RunFilter): Promise<Page<Row>> {
  const query = runQuery(org, filter);
  const wanted = listFiltersOf(filter);
  const list = async (request: PageRequest): Promise<Page<Row>> => {
    const page = await listPage(access, query, request);
    return { ...page, items: page.items.filter((row) => matchesListFilters(row, wanted)) };
  };
  return currentPage(access, org, filter, list, filtersByIdOnly(filter));
}

/** The members of a filter that all runs of an id fulfil, or none. */
const ID_FILTERS: ReadonlySet<string> = new Set<keyof RunFilter>(['limit', 'cursor', 'workflowId', 'executionId']);

const filtersByIdOnly = (filter: RunFilter): boolean =>
  Object.entries(filter).every(([name, value]) => value === undefined || ID_FILTERS.has(name));

/**
 * The open runs that wait for one of these values and had started by `startedBy` (epoch milliseconds). Each run is read
 * once, and its row must have exactly the value (exact-list-filter.ts).
 */
export async function listListeningRunIds(
  access: Access,
  org: string,
  tags: readonly string[],
  startedBy: number,
): Promise<string[]> {
  const query = queryOf(org, RUN_WORKFLOW, [
    openClause,
    any(...tags.map((tag) => compare('waiting', '=', tag))),
    ...timeRange('started', { lte: startedBy }),
  ]);
  const found: string[] = [];
  for await (const rows of pagesOf(LISTENING_PAGE_SIZE, (request) => listPage(access, query, request)))
    found.push(
      ...rows
        .filter((row) => tags.some((tag) => matchesListFilters(row, listFiltersOf({ waiting: [tag] }))))
        .map((row) => row.workflowId),
    );
  return found;
}

/** The runs of a filter that a bulk operation applies to. */
export type BulkScope =
  | { readonly open: true }
  /** Runs that failed, timed out or were terminated by this time (epoch milliseconds). */
  | { readonly failedBy: number };

/** The query of a filter. The organization and the type come first, whatever the filter contains. */
export function runQuery(org: string, filter: Omit<RunFilter, 'limit' | 'cursor'>, scope?: BulkScope): string {
  const clauses: Clause[] = [compare('executionStatus', '!=', 'ContinuedAsNew')];
  if (scope !== undefined && 'open' in scope) clauses.push(openClause);
  else if (scope !== undefined)
    clauses.push(
      any(failedClause, timedOutClause, compare('executionStatus', '=', 'Terminated')),
      compare('closeTime', '<=', date(scope.failedBy)),
    );
  if (filter.status !== undefined && filter.status.length > 0) clauses.push(any(...filter.status.map(statusClause)));
  const equal: readonly (readonly [AttributeName, string | undefined])[] = [
    ['workflow', filter.workflowId],
    ['workflowId', filter.executionId],
    ['conversation', filter.conversationId],
    ['channel', filter.channel],
    ['employee', filter.employeeId],
    ['trigger', filter.triggerId],
    ['triggerType', filter.triggerType],
    ['tags', filter.tag],
  ];
  for (const [name, value] of equal) {
    if (value !== undefined) clauses.push(compare(name, '=', value));
  }
  const { model } = filter;
  if (model !== undefined) clauses.push(any(compare('model', '=', model), compare('state', '=', modelValue(model))));
  for (const [key, value] of Object.entries(filter.state ?? {}))
    clauses.push(compare('state', '=', stateValue(key, value)));
  for (const values of filter.stateGroups ?? [])
    clauses.push(any(...values.map((value) => compare('state', '=', value))));
  for (const who of filter.waiting ?? []) clauses.push(compare('waiting', '=', who));
  const { awaited = [] } = filter;
  // A run that was terminated keeps the attribute.
  if (awaited.length > 0) clauses.push(openClause, any(...awaited.map((kind) => compare('waiting', '=', kind))));
  clauses.push(...timeRange('started', filter.started), ...timeRange('closeTime', filter.ended));
  clauses.push(...numberRange('durationMs', filter.duration));
  const tokens = numberRange('tokens', filter.tokens);
  // A run without a model has no tokens attribute, and used no tokens.
  if (tokens.length > 0 && includesZero(filter.tokens)) clauses.push(any(all(...tokens), isNull('tokens')));
  else clauses.push(...tokens);
  // `ended` and `duration` apply to completed runs (alloy).
  if (filter.ended !== undefined || filter.duration !== undefined)
    clauses.push(compare('executionStatus', '=', 'Completed'));
  return queryOf(org, RUN_WORKFLOW, clauses);
}

const date = (epochMs: number): string => new Date(epochMs).toISOString();

function numberRange(name: 'durationMs' | 'tokens', bounds: Range | undefined): Clause[] {
  const operators: readonly (readonly [Operator, number | undefined])[] = [
    ['=', bounds?.eq],
    ['>', bounds?.gt],
    ['>=', bounds?.gte],
    ['<', bounds?.lt],
    ['<=', bounds?.lte],
  ];
  return operators.flatMap(([operator, value]) =>
    value === undefined ? [] : [compare(name, operator, Math.round(value))],
  );
}

/**
 * The bounds of a time in milliseconds, although Temporal may store a finer one. They are a nanosecond before a
 * millisecond begins, and no run has that time. SQLite compares times as texts, so .5 is less than .500.
 */
function timeRange(name: 'started' | 'closeTime', { eq, gt, gte, lt, lte }: Range = {}): Clause[] {
  const from = [gte, eq, nextMillisecond(gt)].filter((bound) => bound !== undefined);
  const before = [lt, nextMillisecond(eq), nextMillisecond(lte)].filter((bound) => bound !== undefined);
  return [
    ...from.map((bound) => compare(name, '>=', justBefore(bound))),
    ...before.map((bound) => compare(name, '<', justBefore(bound))),
  ];
}

const nextMillisecond = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms + 1);

const justBefore = (ms: number): string => date(ms - 1).replace('Z', '999999Z');

const includesZero = ({ eq = 0, gt = -1, gte = 0, lt = 1, lte = 0 }: Range = {}): boolean =>
  eq === 0 && gt < 0 && gte <= 0 && lt > 0 && lte >= 0;

const openClause = compare('executionStatus', '=', 'Running');
const failedClause = compare('executionStatus', '=', 'Failed');
const timedOutClause = compare('executionStatus', '=', 'TimedOut');

/** Temporal's status takes precedence over the run's own. */
function statusClause(status: ListedStatus): Clause {
  switch (status) {
    case 'completed':
      // A run that has returned stays open until its activities in flight end.
      return any(compare('executionStatus', '=', 'Completed'), all(openClause, compare('status', '=', 'completed')));
    case 'failed':
      return any(all(failedClause, any(compare('status', '!=', 'aborted'), isNull('status'))), timedOutClause);
    case 'cancelled':
      return compare('executionStatus', '=', 'Canceled');
    case 'aborted':
      // For Temporal, a run that was evicted and rolled back has failed.
      return any(compare('executionStatus', '=', 'Terminated'), all(failedClause, compare('status', '=', 'aborted')));
    case 'waiting_approval':
      return all(openClause, compare('status', '=', 'waiting'), compare('waiting', '=', 'approval'));
    case 'running':
      // A run started by hand has no status attribute until it first waits.
      return all(openClause, any(compare('status', '=', 'running'), isNull('status')));
    default:
      return all(openClause, compare('status', '=', status));
  }
}
