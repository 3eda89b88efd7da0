/**
 * Lists show each execution once. Visibility has a row for every Temporal run, and a retry or a reset makes another run
 * under the same id. So rows that a later run of the same id has replaced are omitted.
 */
import { RUN_WORKFLOW } from '../../contract/run/run.ts';
import { compare, oneOf, queryOf } from '../search-attributes/query.ts';
import type { Access } from '../temporal/access.ts';
import { type BareRow, listBare, type Page, type PageRequest } from './listing.ts';
import { pagesOf } from './pages.ts';

/** Ids of one query, which then has some 20 KB. */
const IDS_PER_QUERY = 200;
const MAX_ROWS = 1_000;
/** Pages with only replaced rows that are skipped before an empty page is answered. */
const MAX_EMPTY_PAGES = 10;

/**
 * A page of `list` without replaced rows. `hasAllRunsOfIds`: the list has all runs of an id, or none. On its first page
 * a later run of an id comes before an earlier one, because open runs come first, and then the latest end. So the page
 * itself shows which rows are replaced. Otherwise another query does.
 *
 * The page may have fewer rows than requested. It may even be empty although more rows follow, which the cursor shows.
 */
export async function currentPage<T extends BareRow>(
  access: Access,
  org: string,
  request: PageRequest,
  list: (request: PageRequest) => Promise<Page<T>>,
  hasAllRunsOfIds = false,
): Promise<Page<T>> {
  let page = await list(request);
  for (let skippedPages = 0; ; skippedPages++) {
    const isFirst = skippedPages === 0 && request.cursor === undefined;
    const items = isFirst && hasAllRunsOfIds ? latestOf(page.items) : await withoutReplaced(access, org, page.items);
    if (items.length > 0 || page.nextCursor === undefined || skippedPages === MAX_EMPTY_PAGES)
      return { ...page, items };
    page = await list({ ...request, cursor: page.nextCursor });
  }
}

/** The rows that no later run of their id has replaced. An open row is the last of its id. */
async function withoutReplaced<T extends BareRow>(
  access: Access,
  org: string,
  rows: readonly T[],
): Promise<readonly T[]> {
  const ids = [...new Set(rows.filter((row) => row.status !== 'RUNNING').map((row) => row.workflowId))];
  const all: BareRow[] = [];
  for (let from = 0; from < ids.length; from += IDS_PER_QUERY)
    all.push(...(await runsOf(access, org, ids.slice(from, from + IDS_PER_QUERY))));
  return latestOf(rows, all);
}

/** The rows without those that have a later run in `all`. */
function latestOf<T extends BareRow>(rows: readonly T[], all: readonly BareRow[] = rows): readonly T[] {
  const last = new Map<string, BareRow>();
  for (const row of all) {
    const before = last.get(row.workflowId);
    if (before === undefined || isLater(row, before)) last.set(row.workflowId, row);
  }
  return rows.filter((row) => {
    const newest = last.get(row.workflowId);
    return newest === undefined || row.status === 'RUNNING' || !isLater(newest, row);
  });
}

const isLater = (one: BareRow, other: BareRow): boolean =>
  one.runId !== other.runId && (one.status === 'RUNNING' || one.startTime > other.startTime);

/** Every run of these ids, except the runs that continued as new. */
async function runsOf(access: Access, org: string, ids: readonly string[]): Promise<readonly BareRow[]> {
  const query = queryOf(org, RUN_WORKFLOW, [
    compare('executionStatus', '!=', 'ContinuedAsNew'),
    oneOf('workflowId', ids),
  ]);
  const rows: BareRow[] = [];
  for await (const some of pagesOf(MAX_ROWS, (request) => listBare(access, query, request))) rows.push(...some);
  return rows;
}
