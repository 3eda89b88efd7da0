/**
 * Lists show each execution once. Visibility has a row for every Temporal run, and a retry or a reset makes another run
 * under the same id. So rows that a later run of the same id has replaced are omitted.
 */
import { RUN_WORKFLOW } from '../../contract/run.ts';
import type { Access } from '../temporal/access.ts';
import { compare, oneOf, queryOf } from '../temporal/query.ts';
import { type BareRow, listBare, type Page, type PageRequest } from './listing.ts';
import { pagesOf } from './pages.ts';

/** Ids of one query, which then has some 20 KB. */
const AT_ONCE = 200;
const MOST_ROWS = 1_000;
/** Pages with replaced rows only that are skipped before an empty page is answered. */
const PATIENCE = 10;

/**
 * A page of `list` without replaced rows. It may have fewer rows than requested. It may even be empty although more
 * rows follow, which the cursor shows.
 */
export async function currentPage<T extends BareRow>(
  access: Access,
  org: string,
  request: PageRequest,
  list: (request: PageRequest) => Promise<Page<T>>,
): Promise<Page<T>> {
  let page = await list(request);
  for (let passed = 0; ; passed++) {
    const items = await currentOf(access, org, page.items);
    if (items.length > 0 || page.nextCursor === undefined || passed === PATIENCE) return { ...page, items };
    page = await list({ ...request, cursor: page.nextCursor });
  }
}

/** The rows that no later run of their id has replaced. An open row is the last of its id. */
async function currentOf<T extends BareRow>(access: Access, org: string, rows: readonly T[]): Promise<readonly T[]> {
  const ids = [...new Set(rows.filter((row) => row.status !== 'RUNNING').map((row) => row.workflowId))];
  if (ids.length === 0) return rows;
  const last = new Map<string, BareRow>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    for (const row of await runsOf(access, org, ids.slice(from, from + AT_ONCE))) {
      const before = last.get(row.workflowId);
      if (before === undefined || isLater(row, before)) last.set(row.workflowId, row);
    }
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
  for await (const some of pagesOf(MOST_ROWS, (request) => listBare(access, query, request))) rows.push(...some);
  return rows;
}
