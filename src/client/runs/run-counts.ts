/** How many runs there are of each status, for the tabs of lists. */
import { RUN_STATUSES, type RunStatus } from '../../contract/run/run.ts';
import type { Access } from '../temporal/access.ts';
import { countOf } from '../visibility/count.ts';
import { currentPage } from '../visibility/current-runs.ts';
import { listBareExact, listFiltersOf } from '../visibility/exact-list-filter.ts';
import { type RunFilter, runQuery } from './run-list.ts';

interface RunCounts {
  /** Of every status. */
  readonly statuses: { readonly [status in RunStatus]: number };
  /** Some numbers may be too high: there were too many runs to find those that were retried since. */
  readonly isApproximate?: true;
}

/** Visibility has a row for each run of an execution, so runs of these statuses may have been retried since. */
const RETRYABLE_STATUSES: ReadonlySet<RunStatus> = new Set(['failed', 'aborted']);
/** Up to this number, the rows are read. Beyond it, Temporal's own count is taken. */
const MAX_ROWS_READ = 200;

/** @throws ClientError `invalid_query`. */
export async function countRuns(
  access: Access,
  org: string,
  filter: Omit<RunFilter, 'limit' | 'cursor' | 'status'>,
): Promise<RunCounts> {
  const counts = await Promise.all(RUN_STATUSES.map((status) => countStatus(access, org, { ...filter, status })));
  const statuses = Object.fromEntries(RUN_STATUSES.map((status, index) => [status, counts[index]!.count]));
  return {
    statuses: statuses as RunCounts['statuses'],
    ...(counts.some(({ isExact }) => !isExact) ? { isApproximate: true as const } : {}),
  };
}

async function countStatus(
  access: Access,
  org: string,
  { status, ...filter }: Omit<RunFilter, 'limit' | 'cursor' | 'status'> & { readonly status: RunStatus },
): Promise<{ readonly count: number; readonly isExact: boolean }> {
  const query = runQuery(org, { ...filter, status: [status] });
  const wanted = listFiltersOf(filter);
  const count = await countOf(access, query);
  if (count === 0 || (wanted.length === 0 && !RETRYABLE_STATUSES.has(status))) return { count, isExact: true };
  if (count > MAX_ROWS_READ) return { count, isExact: false };
  // Some more, since the list may be newer than the count.
  const page = await currentPage(access, org, { limit: 2 * MAX_ROWS_READ }, (request) =>
    listBareExact(access, query, wanted, request),
  );
  return { count: page.items.length, isExact: page.nextCursor === undefined };
}
