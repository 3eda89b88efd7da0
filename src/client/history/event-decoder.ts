/**
 * Converts the server's history events to the fold's: decodes payloads, and turns numbers and times into plain numbers.
 */

import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  type LoadedDataConverter,
  TimeoutFailure,
} from '@temporalio/common';
// The package is CommonJS without named exports: its values come by the default, its types by name.
import proto, { type temporal } from '@temporalio/proto';
import type { FailureCause } from '../../engine/state/failure-causes.ts';
import type { Closed, HistoryEvent, Unreadable } from '../../history/events.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
  decodeOptionalSinglePayload,
} from '../../temporal-internals/sdk.ts';
import { msOf, type Timestamp } from '../temporal/timestamps.ts';
import { operatorIn } from './termination-reason.ts';

export type RawEvent = temporal.api.history.v1.IHistoryEvent;
type Raw = RawEvent;
type Payloads = temporal.api.common.v1.IPayloads | null | undefined;
type Failure = temporal.api.failure.v1.IFailure | null | undefined;

const { TASK_QUEUE_KIND_STICKY } = proto.temporal.api.enums.v1.TaskQueueKind;
const { RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED } = proto.temporal.api.enums.v1.RetryState;
const LOCAL_ACTIVITY = 'core_local_activity';

/** The event in the fold's form. `other` for an event that does not concern a run. */
export async function decodeHistoryEvent(converter: LoadedDataConverter, raw: Raw): Promise<HistoryEvent> {
  const id = Number(raw.eventId);
  const time = msOf(raw.eventTime) ?? 0;
  const first = async (payloads: Payloads): Promise<unknown> =>
    (await decodeArrayFromPayloads(converter, payloads?.payloads))[0];
  const summary = async (): Promise<string> =>
    String((await decodeOptionalSinglePayload(converter, raw.userMetadata?.summary)) ?? '');

  if (raw.workflowTaskScheduledEventAttributes) {
    const sticky = raw.workflowTaskScheduledEventAttributes.taskQueue?.kind === TASK_QUEUE_KIND_STICKY;
    return { type: 'taskScheduled', id, time, sticky };
  }
  if (raw.workflowTaskStartedEventAttributes) return { type: 'taskStarted', id, time };
  const done = raw.workflowTaskCompletedEventAttributes;
  if (done) {
    const buildId = done.deploymentVersion?.buildId || done.workerVersion?.buildId;
    return { type: 'taskCompleted', id, time, ...(buildId ? { buildId } : {}) };
  }
  if (raw.workflowTaskFailedEventAttributes) return { type: 'taskFailed', id, time };
  if (raw.workflowTaskTimedOutEventAttributes) return { type: 'taskTimedOut', id, time };

  const scheduled = raw.activityTaskScheduledEventAttributes;
  if (scheduled) return { type: 'activityScheduled', id, time, activityId: scheduled.activityId ?? '' };
  const began = raw.activityTaskStartedEventAttributes;
  if (began) {
    const attempt = began.attempt || 1;
    const lastFailure = began.lastFailure ? { lastFailure: await causeOf(converter, began.lastFailure) } : {};
    return { type: 'activityStarted', id, time, scheduledId: Number(began.scheduledEventId), attempt, ...lastFailure };
  }
  const completed = raw.activityTaskCompletedEventAttributes;
  if (completed) {
    const result = await first(completed.result);
    const by = operatorIn(completed.identity);
    return {
      type: 'activityCompleted',
      id,
      time,
      scheduledId: Number(completed.scheduledEventId),
      result,
      ...omitUndefined({ by }),
    };
  }
  const failed = raw.activityTaskFailedEventAttributes ?? raw.activityTaskTimedOutEventAttributes;
  if (failed) {
    const cause = await causeOf(converter, failed.failure);
    const exhausted = failed.retryState === RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED ? { exhausted: true as const } : {};
    const by = operatorIn(raw.activityTaskFailedEventAttributes?.identity);
    const scheduledId = Number(failed.scheduledEventId);
    return { type: 'activityFailed', id, time, scheduledId, cause, ...exhausted, ...omitUndefined({ by }) };
  }
  const taken = raw.activityTaskCanceledEventAttributes;
  if (taken) {
    const scheduledId = Number(taken.scheduledEventId);
    return { type: 'activityFailed', id, time, scheduledId, cause: { kind: 'cancelled' } };
  }

  if (raw.timerStartedEventAttributes) return { type: 'timerStarted', id, time, summary: await summary() };
  const fired = raw.timerFiredEventAttributes;
  if (fired) return { type: 'timerFired', id, time, startedId: Number(fired.startedEventId) };

  const initiated = raw.startChildWorkflowExecutionInitiatedEventAttributes;
  if (initiated) return { type: 'childInitiated', id, time, executionId: initiated.workflowId ?? '' };
  const child =
    raw.childWorkflowExecutionStartedEventAttributes ?? raw.startChildWorkflowExecutionFailedEventAttributes;
  if (child) return { type: 'childStarted', id, time, initiatedId: Number(child.initiatedEventId) };

  const signal = raw.workflowExecutionSignaledEventAttributes;
  if (signal) {
    return { type: 'signal', id, time, name: signal.signalName ?? '', payload: await first(signal.input) };
  }
  if (raw.workflowExecutionCancelRequestedEventAttributes) return { type: 'cancelRequested', id, time };
  const admitted = raw.workflowExecutionUpdateAdmittedEventAttributes;
  if (admitted) return { type: 'updateAdmitted', id, time, ...(await requested(admitted.request)) };
  const accepted = raw.workflowExecutionUpdateAcceptedEventAttributes;
  if (accepted) {
    const sequencingId = Number(accepted.acceptedRequestSequencingEventId);
    if (accepted.acceptedRequest) {
      return { type: 'updateAccepted', id, time, sequencingId, ...(await requested(accepted.acceptedRequest)) };
    }
    return { type: 'updateAccepted', id, time, sequencingId, updateId: accepted.protocolInstanceId ?? '' };
  }

  const marker = raw.markerRecordedEventAttributes;
  if (marker?.markerName === LOCAL_ACTIVITY) {
    const about = markerOf(await first(marker.details?.['data']));
    const end = marker.failure
      ? { cause: await causeOf(converter, marker.failure) }
      : { result: await first(marker.details?.['result']) };
    return { type: 'localActivity', id, time, summary: await summary(), ...about, ...end };
  }

  const started = raw.workflowExecutionStartedEventAttributes;
  if (started) {
    const before = started.continuedExecutionRunId;
    const argument = await first(started.input);
    return { type: 'workflowStarted', id, time, argument, ...(before ? { continuedFrom: before } : {}) };
  }
  const how = closeStatusOf(raw);
  if (how === undefined) return { type: 'other', id, time };
  const next = raw.workflowExecutionContinuedAsNewEventAttributes;
  if (!next) return { type: 'closed', id, time, how };
  const nextRunId = next.newExecutionRunId ?? '';
  return { type: 'closed', id, time, how, argument: await first(next.input), nextRunId };

  async function requested(request: temporal.api.update.v1.IRequest | null | undefined) {
    const updateId = request?.meta?.updateId ?? '';
    return { updateId, name: request?.input?.name ?? '', payload: await first(request?.input?.args) };
  }
}

/** An event whose payloads are unreadable. The way in which a run closed is known nevertheless. */
export function unreadableEvent(raw: Raw, { code, message }: Unreadable): HistoryEvent {
  const id = Number(raw.eventId);
  const time = msOf(raw.eventTime) ?? 0;
  const how = closeStatusOf(raw);
  if (how !== undefined) {
    const nextRunId = raw.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
    return { type: 'closed', id, time, how, ...(nextRunId ? { nextRunId } : {}) };
  }
  const before = raw.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  return { type: 'unreadable', id, time, code, message, ...(before ? { continuedFrom: before } : {}) };
}

function closeStatusOf(raw: Raw): Closed['how'] | undefined {
  if (raw.workflowExecutionCompletedEventAttributes) return 'completed';
  if (raw.workflowExecutionFailedEventAttributes) return 'failed';
  if (raw.workflowExecutionCanceledEventAttributes) return 'cancelled';
  if (raw.workflowExecutionTerminatedEventAttributes) return 'terminated';
  if (raw.workflowExecutionTimedOutEventAttributes) return 'timedOut';
  return raw.workflowExecutionContinuedAsNewEventAttributes ? 'continued' : undefined;
}

/**
 * The SDK's core writes `data` of the marker as JSON: {seq, attempt, activity_type, complete_time, …}. Its
 * `original_schedule_time` is of the worker's own clock, which is ahead of the workflow's, so it is not read.
 */
function markerOf(data: unknown): { attempt: number; backoff: boolean; completedAt?: number } {
  const written = (data ?? {}) as {
    attempt?: number;
    backoff?: unknown;
    complete_time?: Timestamp;
  };
  const completedAt = msOf(written.complete_time);
  return {
    attempt: written.attempt ?? 1,
    backoff: written.backoff !== undefined && written.backoff !== null,
    ...omitUndefined({ completedAt }),
  };
}

/** The failure as the workflow sees it: through the SDK's own failure converter, then without its classes. */
export async function causeOf(converter: LoadedDataConverter, failure: Failure): Promise<FailureCause> {
  const error = await decodeOptionalFailureToOptionalError(converter, failure);
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    const { type, message, nonRetryable, details } = cause;
    return { kind: 'application', type, message, nonRetryable, details };
  }
  if (cause instanceof TimeoutFailure) {
    const { timeoutType, lastHeartbeatDetails } = cause;
    return { kind: 'timeout', timeoutType, ...omitUndefined({ lastHeartbeat: lastHeartbeatDetails }) };
  }
  if (cause instanceof CancelledFailure) return { kind: 'cancelled' };
  return { kind: 'other', message: cause?.message };
}
