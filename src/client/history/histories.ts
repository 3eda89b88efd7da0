/** Reads histories of runs, event by event, in the terms of the fold (src/history/events.ts). */
import type { HistoryEvent } from '../../history/events.ts';
import { Fold, type FoldOptions } from '../../history/fold.ts';
import type { RunTrace } from '../../history/run-trace.ts';
import { CooperativeScheduler } from '../concurrency/cooperative-scheduler.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { tokenPages } from '../temporal/token-pages.ts';
import { toUnreadableError } from '../temporal/unreadable-data.ts';
import { decodeHistoryEvent, type RawEvent, unreadableEvent } from './event-decoder.ts';
import { type HistoryPage, rawHistoryPage, resolveStoredPayloads } from './page.ts';

type HistoryAccess = Pick<Access, 'client' | 'namespace'>;

/** Events a page. The server may return fewer. */
const EVENTS_PER_PAGE = 1_000;

/** The events of one run so far. @throws ClientError `not_found`, `temporal_unreachable`, `blob_unavailable`. */
export async function* historyOf(
  access: HistoryAccess,
  workflowId: string,
  runId: string,
): AsyncGenerator<HistoryEvent> {
  const execution = { workflowId, runId };
  const pages = tokenPages((nextPageToken) =>
    rawHistoryPage(access, { execution, maximumPageSize: EVENTS_PER_PAGE, nextPageToken }),
  );
  // One after another: the larger payloads of a whole page may take gigabytes together.
  for await (const { history } of pages)
    for (const event of history?.events ?? []) yield* await decodeHistoryPage(access, { history: { events: [event] } });
}

/** The events of a page. An unreadable event is marked, and the others stay readable. */
export async function decodeHistoryPage(access: HistoryAccess, page: HistoryPage): Promise<HistoryEvent[]> {
  const events = page.history?.events ?? [];
  const missing = await resolvePagePayloads(access, page);
  const converter = access.client.options.loadedDataConverter;
  return Promise.all(
    events.map(async (event) => {
      try {
        const failure = missing.get(event);
        if (failure !== undefined) throw failure;
        return await decodeHistoryEvent(converter, event);
      } catch (error) {
        return unreadableEvent(event, toUnreadableError(error));
      }
    }),
  );
}

/** Restores payloads that are stored outside history. Answers the events whose payload is missing, and why. */
async function resolvePagePayloads(access: HistoryAccess, page: HistoryPage): Promise<ReadonlyMap<RawEvent, unknown>> {
  const missing = new Map<RawEvent, unknown>();
  try {
    await resolveStoredPayloads(access, page);
  } catch {
    for (const event of page.history?.events ?? []) {
      try {
        await resolveStoredPayloads(access, { history: { events: [event] } });
      } catch (error) {
        missing.set(event, error);
      }
    }
  }
  return missing;
}

/** Folds one run of a chain with options of its own. @throws ClientError `not_retryable` past its retention. */
export async function foldSingleRun(
  access: HistoryAccess,
  executionId: string,
  runId: string,
  options: FoldOptions,
): Promise<RunTrace> {
  const fold = new Fold(executionId, { from: 0, to: 0 }, options);
  const scheduler = new CooperativeScheduler();
  try {
    for await (const event of historyOf(access, executionId, runId)) {
      await scheduler.run(fold.pushInChunks(event));
      await scheduler.yieldIfDue();
    }
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error;
    throw new ClientError('not_retryable', 'A part of the history that is needed is no longer kept. Start a new run.', {
      cause: error,
    });
  }
  const { unreadable } = fold;
  if (unreadable !== undefined) throw new ClientError(unreadable.code, unreadable.message);
  return scheduler.run(fold.finishInChunks());
}
