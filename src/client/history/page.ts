/** Reads pages of history, and restores the payloads that are stored outside it (external-storage.ts). */

import type { temporal } from '@temporalio/proto';
import {
  extstoreInboundOptions,
  visit,
  walkGetWorkflowExecutionHistoryResponse,
} from '../../temporal-internals/sdk.ts';
import type { Access } from '../temporal/access.ts';
import { read, toClientError } from '../temporal/rpc.ts';
import { tokenPages } from '../temporal/token-pages.ts';

export type HistoryRequest = Omit<
  temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryRequest,
  'namespace' | 'skipArchival'
>;
type HistoryAccess = Pick<Access, 'client' | 'namespace'>;
export type HistoryPage = temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse;

/** One page. @throws ClientError `not_found`, `temporal_unreachable`, `blob_unavailable`. */
export async function historyPage(access: HistoryAccess, request: HistoryRequest): Promise<HistoryPage> {
  return resolveStoredPayloads(access, await rawHistoryPage(access, request));
}

/** One page as the server returns it. @throws ClientError `not_found`, `temporal_unreachable`. */
export function rawHistoryPage(access: HistoryAccess, request: HistoryRequest): Promise<HistoryPage> {
  return read(access, () => requestHistory(access, request));
}

/**
 * The call itself, for callers with a deadline of their own. Every read of a history is this call. A server that reads
 * archives, as Temporal's image does, looks there for a history that is past its retention. It finds none, since
 * nothing archives runs, and says so by another code than a server without archives.
 */
export function requestHistory({ client, namespace }: HistoryAccess, request: HistoryRequest): Promise<HistoryPage> {
  return client.workflowService.getWorkflowExecutionHistory({ ...request, namespace, skipArchival: true });
}

/** All pages, from the latest event back. @throws ClientError as historyPage. */
export const latestHistoryPages = (
  access: HistoryAccess,
  execution: temporal.api.common.v1.IWorkflowExecution,
  maximumPageSize: number,
): AsyncGenerator<HistoryPage> =>
  tokenPages(async (nextPageToken) => {
    const { client, namespace } = access;
    const request = { namespace, execution, maximumPageSize, nextPageToken };
    const page = await read(access, () => client.workflowService.getWorkflowExecutionHistoryReverse(request));
    return resolveStoredPayloads(access, page);
  });

/**
 * The page itself, changed in place. The input of a child stays a reference: it is not read here, and it may have been
 * removed with the child.
 * @throws ClientError `blob_unavailable`.
 */
export async function resolveStoredPayloads(access: Pick<Access, 'client'>, page: HistoryPage): Promise<HistoryPage> {
  const { externalStorage } = access.client.options.loadedDataConverter;
  try {
    const events = page.history?.events?.filter((event) => !event.startChildWorkflowExecutionInitiatedEventAttributes);
    const shown = { history: { events: events ?? [] } };
    await visit(shown, walkGetWorkflowExecutionHistoryResponse, extstoreInboundOptions(externalStorage));
    return page;
  } catch (error) {
    throw toClientError(error, false);
  }
}
