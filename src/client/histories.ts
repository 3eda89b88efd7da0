/** Histories of runs, event by event, in the plain words of the fold (src/history/events.ts). */
import type { HistoryEvent } from '../history/events.ts';
import { Fold, type FoldOptions, type RunTrace } from '../history/fold.ts';
import type { Access } from './access.ts';
import { ClientError, hasCode } from './errors.ts';
import { historyPage } from './history-page.ts';
import { plainEvent } from './trace-events.ts';

type Reading = Pick<Access, 'client' | 'namespace'>;

/** Events a page; the server may give fewer. */
const EVENTS_PER_PAGE = 1_000;

/** The events of one run so far. @throws ClientError `not_found`, `temporal_unreachable`, `blob_unavailable`. */
export async function* historyOf(access: Reading, workflowId: string, runId: string): AsyncGenerator<HistoryEvent> {
  const converter = access.client.options.loadedDataConverter;
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await historyPage(access, {
      namespace: access.namespace,
      execution: { workflowId, runId },
      maximumPageSize: EVENTS_PER_PAGE,
      nextPageToken,
    });
    for (const event of page.history?.events ?? []) yield await plainEvent(converter, event);
    nextPageToken = page.nextPageToken ?? new Uint8Array();
  } while (nextPageToken.length > 0);
}

/** One run of a chain, folded otherwise than to its trace. @throws ClientError `not_retryable` past its retention. */
export async function foldWith(
  access: Reading,
  executionId: string,
  runId: string,
  options: FoldOptions,
): Promise<RunTrace> {
  const fold = new Fold(executionId, { from: 0, to: 0 }, options);
  try {
    for await (const event of historyOf(access, executionId, runId)) fold.push(event);
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error;
    throw new ClientError('not_retryable', 'A part of the history that is needed is no longer kept. Start a new run.', {
      cause: error,
    });
  }
  return fold.finish();
}
