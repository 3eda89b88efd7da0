/**
 * Activities in flight as the server describes them: their last failure, their next attempt, and whether they are
 * paused.
 */

import type { LoadedDataConverter } from '@temporalio/common';
// The package is CommonJS without named exports: its values come by the default, its types by name.
import proto, { type temporal } from '@temporalio/proto';
import { STORE_WAIT_MEMBER } from '../../contract/run/activity.ts';
import type { RunError } from '../../contract/run/run.ts';
import { type FailureCause, failureOfCause } from '../../engine/state/failure-causes.ts';
import type { PendingAttempt } from '../../history/run-trace.ts';
import type { Retrying } from '../../history/trace-rows.ts';
import { isObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { decodeArrayFromPayloads } from '../../temporal-internals/sdk.ts';
import { causeOf } from '../history/event-decoder.ts';
import { iso, msOf } from '../temporal/timestamps.ts';

type PendingActivities = readonly temporal.api.workflow.v1.IPendingActivityInfo[] | null | undefined;

const { PENDING_ACTIVITY_STATE_STARTED } = proto.temporal.api.enums.v1.PendingActivityState;

/** The failure cannot be read, for example under another master key. The run is shown without it. */
const UNREADABLE_FAILURE: FailureCause = { kind: 'other', message: 'The error of the attempt before cannot be read.' };

/** Retrying as answers show it. */
export interface ShownRetrying {
  /** For an activity that is retried: why the previous attempt failed. */
  readonly lastError?: RunError;
  /** ISO 8601. Absent while an attempt runs, and while the activity is paused. */
  readonly nextAttemptAt?: string;
  /** The activity was paused through Temporal. */
  readonly activityPaused?: true;
  /** Absent where there is no limit. */
  readonly maxAttempts?: number;
}

export function pendingAttempts(converter: LoadedDataConverter, pending: PendingActivities): Promise<PendingAttempt[]> {
  return Promise.all(
    (pending ?? []).map(
      async ({ activityId, attempt, lastFailure, nextAttemptScheduleTime, scheduledTime, state, paused, ...times }) => {
        const lastStartedAt = msOf(times.lastStartedTime);
        const lastEndedAt = msOf(times.lastAttemptCompleteTime);
        const nextAttemptAt = msOf(nextAttemptScheduleTime) ?? msOf(scheduledTime);
        const waits = state !== PENDING_ACTIVITY_STATE_STARTED && (attempt ?? 1) > 1 && nextAttemptAt !== undefined;
        return {
          activityId: activityId ?? '',
          attempt: attempt || 1,
          ...(lastFailure
            ? { lastFailure: await causeOf(converter, lastFailure).catch(() => UNREADABLE_FAILURE) }
            : {}),
          ...(waits && paused !== true ? { nextAttemptAt } : {}),
          ...(paused === true ? { paused } : {}),
          ...omitUndefined({ lastStartedAt, lastEndedAt, maxAttempts: times.maximumAttempts || undefined }),
        };
      },
    ),
  );
}

export const shownRetrying = ({ lastError, nextAttemptAt, paused, maxAttempts }: Retrying): ShownRetrying => ({
  ...omitUndefined({ lastError, activityPaused: paused, maxAttempts }),
  ...(nextAttemptAt === undefined ? {} : { nextAttemptAt: iso(nextAttemptAt) }),
});

/** An activity of a run that is retried or paused, shown where one run is read. */
export interface RetriedActivity extends ShownRetrying {
  /** The path of the visit, or of an inner call. */
  readonly path: string;
  /** The number of the running or next attempt. */
  readonly attempt: number;
  /** When the previous attempt ended. ISO 8601. */
  readonly lastEndedAt?: string;
  /** While it is paused: when it was, in ISO 8601, and the reason that was given. */
  readonly pausedSince?: string;
  readonly pauseReason?: string;
}

/** Omits the activities of the shell, whose ids are not paths. */
export async function retriedActivities(
  converter: LoadedDataConverter,
  pending: PendingActivities,
): Promise<RetriedActivity[]> {
  const all = await pendingAttempts(converter, pending);
  const pauses = new Map((pending ?? []).map(({ activityId, pauseInfo }) => [activityId, pauseInfo]));
  return all
    .filter(
      ({ activityId, lastFailure, paused }) => !activityId.startsWith('$') && (lastFailure ?? paused) !== undefined,
    )
    .map(({ activityId, attempt, lastFailure, lastEndedAt, ...rest }) => {
      const pause = rest.paused === true ? pauses.get(activityId) : undefined;
      const pausedAt = msOf(pause?.pauseTime);
      return {
        path: pathOf(activityId),
        attempt,
        ...(lastEndedAt === undefined ? {} : { lastEndedAt: iso(lastEndedAt) }),
        ...(pausedAt === undefined ? {} : { pausedSince: iso(pausedAt) }),
        ...omitUndefined({ pauseReason: pause?.manual?.reason || undefined }),
        ...shownRetrying({ ...rest, ...(lastFailure === undefined ? {} : { lastError: failureOfCause(lastFailure) }) }),
      };
    });
}

/** `retryStep` starts an activity again under its path and a number. */
const pathOf = (activityId: string): string => activityId.replace(/![0-9]+$/, '');

/** An attempt whose effect is done, and whose large result the store does not take. */
interface StoreWait {
  readonly path: string;
  readonly attempt: number;
  /** ISO 8601. */
  readonly since: string;
}

export async function storeWaits(converter: LoadedDataConverter, pending: PendingActivities): Promise<StoreWait[]> {
  const started = (pending ?? []).filter(
    ({ activityId, state }) => state === PENDING_ACTIVITY_STATE_STARTED && activityId?.startsWith('$') === false,
  );
  const waits = await Promise.all(
    started.map(async ({ activityId, attempt, heartbeatDetails }): Promise<StoreWait[]> => {
      // Details that cannot be read belong to another wait, or none.
      const read = decodeArrayFromPayloads(converter, heartbeatDetails?.payloads).catch(() => []);
      const [details] = await read;
      const since = isObject(details) ? details[STORE_WAIT_MEMBER] : undefined;
      return typeof since === 'string' ? [{ path: pathOf(activityId ?? ''), attempt: attempt || 1, since }] : [];
    }),
  );
  return waits.flat();
}
