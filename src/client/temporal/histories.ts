/** Reads histories of runs, event by event, in the terms of the fold (src/history/events.ts). */
import type { HistoryEvent } from '../../history/events.ts';
import { Fold, type FoldOptions } from '../../history/fold.ts';
import type { RunTrace } from '../../history/run-trace.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { Access } from './access.ts';
import { bareHistoryPage, type HistoryPage, withBlobs } from './history-page.ts';
import { tokenPages } from './token-pages.ts';
import { plainEvent, type RawEvent, unreadEvent } from './trace-events.ts';
import { Turns } from './turns.ts';
import { unreadableOf } from './unreadable.ts';

type Reading = Pick<Access, 'client' | 'namespace'>;

/** Events a page. The server may return fewer. */
const EVENTS_PER_PAGE = 1_000;

/** The events of one run so far. @throws ClientError `not_found`, `temporal_unreachable`, `blob_unavailable`. */
export async function* historyOf(access: Reading, workflowId: string, runId: string): AsyncGenerator<HistoryEvent> {
  const execution = { workflowId, runId };
  const pages = tokenPages((nextPageToken) =>
    bareHistoryPage(access, { execution, maximumPageSize: EVENTS_PER_PAGE, nextPageToken }),
  );
  // One after another: the larger payloads of a whole page may take gigabytes together.
  for await (const { history } of pages)
    for (const event of history?.events ?? []) yield* await plainEvents(access, { history: { events: [event] } });
}

/** The events of a page. An unreadable event is marked, and the others stay readable. */
export async function plainEvents(access: Reading, page: HistoryPage): Promise<HistoryEvent[]> {
  const events = page.history?.events ?? [];
  const missing = await withoutMissing(access, page);
  const converter = access.client.options.loadedDataConverter;
  return Promise.all(
    events.map(async (event) => {
      try {
        const why = missing.get(event);
        if (why !== undefined) throw why;
        return await plainEvent(converter, event);
      } catch (error) {
        return unreadEvent(event, unreadableOf(error));
      }
    }),
  );
}

/** Puts back payloads that are stored outside history. Answers the events whose payload is missing. */
async function withoutMissing(access: Reading, page: HistoryPage): Promise<ReadonlyMap<RawEvent, unknown>> {
  const missing = new Map<RawEvent, unknown>();
  try {
    await withBlobs(access, page);
  } catch {
    for (const event of page.history?.events ?? []) {
      try {
        await withBlobs(access, { history: { events: [event] } });
      } catch (error) {
        missing.set(event, error);
      }
    }
  }
  return missing;
}

/** Folds one run of a chain with options of its own. @throws ClientError `not_retryable` past its retention. */
export async function foldWith(
  access: Reading,
  executionId: string,
  runId: string,
  options: FoldOptions,
): Promise<RunTrace> {
  const fold = new Fold(executionId, { from: 0, to: 0 }, options);
  const turns = new Turns();
  try {
    for await (const event of historyOf(access, executionId, runId)) {
      await turns.take(fold.pushInParts(event));
      await turns.rest();
    }
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error;
    throw new ClientError('not_retryable', 'A part of the history that is needed is no longer kept. Start a new run.', {
      cause: error,
    });
  }
  const { unreadable } = fold;
  if (unreadable !== undefined) throw new ClientError(unreadable.code, unreadable.message);
  return turns.take(fold.finishInParts());
}
