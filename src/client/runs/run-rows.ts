/** Run lists with what is not in Visibility: the names of workflows, and the errors of runs that failed. */
import type { Client } from '@temporalio/client';
import type { RunError } from '../../contract/run.ts';
import { defined } from '../../json/defined.ts';
import { hasCode } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { readClosing } from '../temporal/first-event.ts';
import { legible } from '../temporal/unreadable.ts';
import { recentHead } from '../versions/definition-head.ts';
import type { Page } from '../visibility/listing.ts';
import { listRuns, type RunFilter } from './run-list.ts';
import { type ExecutionView, outcomeOf } from './run-view.ts';

export const ROW_PARTS = ['workflowName', 'error'] as const;
export type RowPart = (typeof ROW_PARTS)[number];

export interface RowFilter extends RunFilter {
  /** Runs that ended with one of these error codes. */
  readonly errorCode?: readonly string[];
}

/** Errors that are read at the same time. */
const AT_ONCE = 10;
/** Pages without a run of the wanted code that are passed before an empty page is answered. */
const PATIENCE = 10;
const LONGEST_MESSAGE = 300;
const MOST_KEPT = 2_000;
const WITH_ERROR: ReadonlySet<string> = new Set(['failed', 'aborted']);

type RowError = Omit<RunError, 'details'>;

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
  for (let passed = 0; ; passed++) {
    const rows = await withParts(access, org, page.items, new Set<RowPart>([...parts, 'error']));
    const items = rows.filter(({ error }) => error !== undefined && errorCode.includes(error.code));
    if (items.length > 0 || page.nextCursor === undefined || passed === PATIENCE) return { ...page, items };
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
  const errors = parts.has('error') ? await errorsOf(access, rows) : new Map<string, RowError>();
  return rows.map((row) => ({
    ...row,
    ...defined({
      workflowName: row.inline === true ? undefined : names.get(row.workflowId),
      error: errors.get(row.id),
    }),
  }));
}

/** The present names of the workflows that are stored, by slug. */
async function namesOf(access: Access, org: string, rows: readonly ExecutionView[]): Promise<Map<string, string>> {
  const slugs = [...new Set(rows.map(({ workflowId }) => workflowId).filter((slug) => slug !== ''))];
  const heads = await Promise.all(slugs.map((slug) => legible(() => recentHead(access, org, slug))));
  return new Map(
    slugs.flatMap((slug, index) => {
      const name = heads[index]?.value?.name;
      return name === undefined ? [] : [[slug, name] as const];
    }),
  );
}

/** The errors of runs that have ended never change. By Temporal's id of the run, the oldest first. */
const known = new WeakMap<Client, Map<string, RowError>>();

async function errorsOf(access: Access, rows: readonly ExecutionView[]): Promise<Map<string, RowError>> {
  const kept = known.get(access.client) ?? new Map<string, RowError>();
  known.set(access.client, kept);
  const found = new Map<string, RowError>();
  const failed = rows.filter(({ status }) => WITH_ERROR.has(status));
  for (let from = 0; from < failed.length; from += AT_ONCE)
    await Promise.all(
      failed.slice(from, from + AT_ONCE).map(async ({ id, temporal: { workflowId, runId } }) => {
        const error = kept.get(runId) ?? (await errorOf(access, workflowId, runId));
        if (error === undefined) return;
        found.set(id, error);
        kept.set(runId, error);
        if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value ?? '');
      }),
    );
  return found;
}

/** Undefined where Temporal no longer has it, and where it cannot be read. */
async function errorOf(access: Access, workflowId: string, runId: string): Promise<RowError | undefined> {
  const { value: closing } = await legible(() => readClosing(access, workflowId, runId)).catch((thrown: unknown) => {
    if (!hasCode(thrown, 'not_found')) throw thrown;
    return { value: undefined };
  });
  const error = closing === undefined ? undefined : outcomeOf(closing).error;
  if (error === undefined) return undefined;
  const { details: _details, message, ...rest } = error;
  return { ...rest, message: message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message };
}
