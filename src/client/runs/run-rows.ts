/** Run lists with what is not in Visibility: the names of workflows, and the errors of runs that failed. */
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { Access } from '../temporal/access.ts';
import { tryRead } from '../temporal/unreadable-data.ts';
import { recentHead } from '../versions/definition-head.ts';
import type { Page } from '../visibility/listing.ts';
import { errorsOf } from './run-errors.ts';
import { listRuns, type RunFilter } from './run-list.ts';
import type { ExecutionView } from './run-view.ts';

export const ROW_PARTS = ['workflowName', 'error'] as const;
export type RowPart = (typeof ROW_PARTS)[number];

export interface RowFilter extends RunFilter {
  /** Runs that ended with one of these error codes. */
  readonly errorCode?: readonly string[];
}

/** Pages without a run of the wanted code that are passed before an empty page is answered. */
const MAX_EMPTY_PAGES = 10;
const STATUSES_WITH_ERROR: ReadonlySet<string> = new Set(['failed', 'aborted']);

/**
 * As listRuns, with `parts` in each row. With `errorCode` a page may be short or empty although more runs follow, which
 * the cursor shows.
 * @throws ClientError `invalid_cursor`, `invalid_query`.
 */
export async function listRunRows(
  access: Access,
  org: string,
  { errorCode, ...filter }: RowFilter,
  parts: ReadonlySet<RowPart>,
): Promise<Page<ExecutionView>> {
  if (errorCode === undefined) {
    const page = await listRuns(access, org, filter);
    return { ...page, items: await withParts(access, org, page.items, parts) };
  }
  const ended = { ...filter, status: filter.status ?? (['failed', 'aborted'] as const) };
  let page = await listRuns(access, org, ended);
  for (let emptyPages = 0; ; emptyPages++) {
    const rows = await withParts(access, org, page.items, new Set<RowPart>([...parts, 'error']));
    const items = rows.filter(({ error }) => error !== undefined && errorCode.includes(error.code));
    if (items.length > 0 || page.nextCursor === undefined || emptyPages === MAX_EMPTY_PAGES) return { ...page, items };
    page = await listRuns(access, org, { ...ended, cursor: page.nextCursor });
  }
}

async function withParts(
  access: Access,
  org: string,
  rows: readonly ExecutionView[],
  parts: ReadonlySet<RowPart>,
): Promise<readonly ExecutionView[]> {
  const names = parts.has('workflowName') ? await namesOf(access, org, rows) : new Map<string, string>();
  const failed = parts.has('error') ? rows.filter(({ status }) => STATUSES_WITH_ERROR.has(status)) : [];
  const errors = await errorsOf(
    access,
    failed.map(({ temporal }) => temporal),
  );
  return rows.map((row) => ({
    ...row,
    ...omitUndefined({
      workflowName: row.inline === true ? undefined : names.get(row.workflowId),
      error: errors.get(row.temporal.runId),
    }),
  }));
}

/** The present names of the workflows that are stored, by slug. */
async function namesOf(access: Access, org: string, rows: readonly ExecutionView[]): Promise<Map<string, string>> {
  const slugs = [...new Set(rows.map(({ workflowId }) => workflowId).filter((slug) => slug !== ''))];
  const heads = await Promise.all(slugs.map((slug) => tryRead(() => recentHead(access, org, slug))));
  return new Map(
    slugs.flatMap((slug, index) => {
      const name = heads[index]?.value?.name;
      return name === undefined ? [] : [[slug, name] as const];
    }),
  );
}
