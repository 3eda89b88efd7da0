/** The input of a workflow and how it closed, read from its history. It takes one call and no worker. */

import type { WorkflowExecutionDescription } from '@temporalio/client';
// The package is CommonJS without named exports: its values come by the default, its types by name.
import proto, { type temporal } from '@temporalio/proto';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { decodeArrayFromPayloads, decodeOptionalFailureToOptionalError } from '../../temporal-internals/sdk.ts';
import type { Access } from '../temporal/access.ts';
import { GRPC } from '../temporal/grpc.ts';
import { grpcOf, toClientError } from '../temporal/rpc.ts';
import { type HistoryPage, type HistoryRequest, historyPage, requestHistory, resolveStoredPayloads } from './page.ts';
import { readCancellation, type TerminationReason, terminationReason } from './termination-reason.ts';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** The one argument of the workflow: of the given run, else of the latest run under that id. */
export async function readArgument<T>(access: Access, workflowId: string, runId?: string): Promise<T | undefined> {
  const events = await firstPage(access, { workflowId, ...omitUndefined({ runId }) });
  const payloads = events[0]?.workflowExecutionStartedEventAttributes?.input?.payloads;
  const [argument] = await decodeArrayFromPayloads(access.client.options.loadedDataConverter, payloads);
  return argument as T | undefined;
}

/** The run id of the first execution of the chain that this one belongs to. */
export const firstRunId = (description: WorkflowExecutionDescription): string =>
  description.raw.workflowExecutionInfo?.firstRunId || description.runId;

async function firstPage(access: Access, execution: { workflowId: string; runId?: string }): Promise<HistoryEvent[]> {
  const response = await historyPage(access, { execution, maximumPageSize: 1 });
  return response.history?.events ?? [];
}

/** How a run closed. */
export type CloseOutcome =
  | { readonly how: 'completed'; readonly output: unknown }
  | { readonly how: 'failed'; readonly error: Error | undefined }
  | { readonly how: 'cancelled' | 'terminated'; readonly words: TerminationReason }
  | { readonly how: 'timedOut' }
  | { readonly how: 'continued'; readonly runId: string };

/**
 * The event that closed the run, or undefined while it is open. Waits up to `waitMs` for it (a long poll of at most 20
 * s a call). A timeout is not an error.
 */
export async function readCloseOutcome(
  access: Access,
  workflowId: string,
  runId: string,
  waitMs = 0,
  signal?: AbortSignal,
): Promise<CloseOutcome | undefined> {
  const request = {
    execution: { workflowId, runId },
    historyEventFilterType: proto.temporal.api.enums.v1.HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
    waitNewEvent: waitMs > 0,
  };
  const response = waitMs > 0 ? await longPoll(access, waitMs, signal, request) : await historyPage(access, request);
  const event = response?.history?.events?.at(-1);
  if (event?.workflowExecutionCanceledEventAttributes)
    return { how: 'cancelled', words: await readCancellation(access, workflowId, runId) };
  return event ? decodeCloseOutcome(access, event) : undefined;
}

/** How long before the deadline of a long poll the server answers it. */
const SERVER_MARGIN_MS = 1_000;

async function longPoll(
  access: Access,
  waitMs: number,
  signal: AbortSignal | undefined,
  request: HistoryRequest,
): Promise<HistoryPage | undefined> {
  const { client } = access;
  // The server answers a long poll a second before its deadline. A caller that asked again until `waitMs` is over
  // would send hundreds of calls.
  const deadline = Date.now() + waitMs + SERVER_MARGIN_MS;
  const bounded = () => client.withDeadline(deadline, () => requestHistory(access, request));
  // The client does not notice a signal that was aborted before the call.
  if (signal?.aborted === true) return undefined;
  // The client leaves a listener at the signal with each call, so each call has its own signal.
  const own = new AbortController();
  const abort = (): void => own.abort();
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(abort, waitMs);
  let page: HistoryPage;
  try {
    page = await client.withAbortSignal(own.signal, bounded);
  } catch (error) {
    if (isTimeoutOrAbort(error)) return undefined;
    throw toClientError(error, false);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
  return resolveStoredPayloads(access, page);
}

/** The time has run out, or the caller disconnected. */
function isTimeoutOrAbort(error: unknown): boolean {
  const code = grpcOf(error)?.code;
  return code === GRPC.DEADLINE_EXCEEDED || code === GRPC.CANCELLED;
}

async function decodeCloseOutcome(access: Access, event: HistoryEvent): Promise<CloseOutcome | undefined> {
  const converter = access.client.options.loadedDataConverter;
  const completed = event.workflowExecutionCompletedEventAttributes;
  if (completed) {
    const [output] = await decodeArrayFromPayloads(converter, completed.result?.payloads);
    return { how: 'completed', output: output ?? null };
  }
  const failed = event.workflowExecutionFailedEventAttributes;
  if (failed) return { how: 'failed', error: await decodeOptionalFailureToOptionalError(converter, failed.failure) };
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (terminated) return { how: 'terminated', words: terminationReason(terminated.reason, terminated.identity) };
  if (event.workflowExecutionTimedOutEventAttributes) return { how: 'timedOut' };
  const continued = event.workflowExecutionContinuedAsNewEventAttributes;
  if (continued?.newExecutionRunId) return { how: 'continued', runId: continued.newExecutionRunId };
  return undefined;
}
