/** Pages of Visibility. Lists may lag behind by some hundred milliseconds; reads by id do not. */

import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import type { Unreadable } from '../../history/events.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { decodeMapFromPayloads, decodeTypedSearchAttributes } from '../../temporal-internals/sdk.ts';
import { ClientError } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { isInvalidArgument, read } from '../temporal/rpc.ts';
import { dateOf } from '../temporal/timestamps.ts';
import { toUnreadable, toUnreadableError } from '../temporal/unreadable-data.ts';
import { readCursor, writeCursor } from './cursor.ts';

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

export interface PageRequest {
  /** 1 to 1,000. */
  readonly limit: number;
  readonly cursor?: string;
}

/** The row of one workflow in a list. */
export interface Row {
  readonly workflowId: string;
  readonly runId: string;
  /** Temporal's name of the status: RUNNING, COMPLETED, … */
  readonly status: WorkflowExecutionInfo['status']['name'];
  readonly startTime: Date;
  readonly closeTime?: Date;
  /** Empty where it is unreadable. */
  readonly memo: { readonly [field: string]: unknown };
  /** Why the memo is unreadable, for example encrypted under an unknown master key. */
  readonly unreadable?: ClientError;
  readonly attributes: TypedSearchAttributes;
}

/** @throws ClientError `invalid_cursor`, `invalid_query` where Visibility cannot read a filter's value. */
export async function listPage(access: Access, query: string, page: PageRequest): Promise<Page<Row>> {
  return pageOf(access, query, page, (raw) => rowOf(access, raw));
}

/** A row without decoded values: cheap, for callers that only count and compare. */
export type BareRow = Pick<Row, 'workflowId' | 'runId' | 'status' | 'startTime'>;

/** As listPage. */
export function listBare(access: Access, query: string, page: PageRequest): Promise<Page<BareRow>> {
  return pageOf(access, query, page, bareOf);
}

async function pageOf<T>(
  access: Access,
  query: string,
  page: PageRequest,
  rowFrom: (raw: RawExecution) => T | Promise<T>,
): Promise<Page<T>> {
  const nextPageToken = page.cursor === undefined ? undefined : readCursor(access.keys.cursors, query, page.cursor);
  let response: Awaited<ReturnType<typeof access.client.workflowService.listWorkflowExecutions>>;
  try {
    response = await read(access, () =>
      access.client.workflowService.listWorkflowExecutions({
        namespace: access.namespace,
        query,
        pageSize: page.limit,
        ...omitUndefined({ nextPageToken }),
      }),
    );
  } catch (error) {
    if (!isInvalidArgument(error)) throw error;
    throw new ClientError(
      'invalid_query',
      'A filter of the list has a value that cannot be searched for. Check types and dates.',
      { cause: error },
    );
  }
  const items = await Promise.all(response.executions.map(rowFrom));
  const token = response.nextPageToken;
  return token && token.length > 0 ? { items, nextCursor: writeCursor(access.keys.cursors, query, token) } : { items };
}

type RawExecution = Awaited<
  ReturnType<Access['client']['workflowService']['listWorkflowExecutions']>
>['executions'][number];

const STATUS_NAMES: readonly Row['status'][] = [
  'UNSPECIFIED',
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TERMINATED',
  'CONTINUED_AS_NEW',
  'TIMED_OUT',
];

const bareOf = (raw: RawExecution): BareRow => ({
  workflowId: raw.execution?.workflowId ?? '',
  runId: raw.execution?.runId ?? '',
  status: STATUS_NAMES[raw.status ?? 0] ?? 'UNKNOWN',
  startTime: dateOf(raw.startTime) ?? new Date(0),
});

async function rowOf(access: Access, raw: RawExecution): Promise<Row> {
  return {
    ...bareOf(raw),
    ...optionalDate(dateOf(raw.closeTime)),
    ...(await memoOf(access, raw)),
    attributes: decodeTypedSearchAttributes(raw.searchAttributes?.indexedFields),
  };
}

/** An unreadable row must not hide the other rows. */
async function memoOf(access: Access, { memo }: RawExecution): Promise<Pick<Row, 'memo' | 'unreadable'>> {
  try {
    return { memo: (await decodeMapFromPayloads(access.client.options.loadedDataConverter, memo?.fields)) ?? {} };
  } catch (error) {
    return { memo: {}, unreadable: toUnreadableError(error) };
  }
}

/** What is known of a row whose memo is unreadable, beside the reason. */
export type UnreadableRow<Known> = Known & Unreadable;

/** The rows of a page that can be read, and what is known of the others: an unreadable row must not hide the rest. */
export function partitionRows<Known extends object>(
  rows: readonly Row[],
  known: (row: Row) => Known,
): { readonly readable: readonly Row[]; readonly unreadable: readonly UnreadableRow<Known>[] } {
  const readable: Row[] = [];
  const unreadable: UnreadableRow<Known>[] = [];
  for (const row of rows) {
    if (row.unreadable === undefined) readable.push(row);
    else unreadable.push({ ...known(row), ...toUnreadable(row.unreadable) });
  }
  return { readable, unreadable };
}

const optionalDate = (closeTime: Date | undefined) => (closeTime === undefined ? {} : { closeTime });
