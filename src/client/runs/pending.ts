/**
 * Activities in flight as the server describes them: their last failure, their next attempt, and whether they are
 * paused.
 */

import type { LoadedDataConverter } from '@temporalio/common';
// The package is CommonJS without named exports: its values come by the default, its types by name.
import proto, { type temporal } from '@temporalio/proto';
import type { RunError } from '../../contract/run.ts';
import { type FailureCause, failureOfCause } from '../../engine/state/causes.ts';
import type { PendingAttempt } from '../../history/run-trace.ts';
import type { Retrying } from '../../history/trace-rows.ts';
import { defined } from '../../json/defined.ts';
import { msOf } from '../temporal/timestamps.ts';
import { causeOf } from '../temporal/trace-events.ts';

type Pending = readonly temporal.api.workflow.v1.IPendingActivityInfo[] | null | undefined;

const { PENDING_ACTIVITY_STATE_STARTED } = proto.temporal.api.enums.v1.PendingActivityState;

/** Under another master key, say: the run itself is shown all the same. */
const UNREADABLE: FailureCause = { kind: 'other', message: 'The error of the attempt before cannot be read.' };

/** Retrying as answers tell it. */
export interface ShownRetrying {
  /** Of an effect that is tried again: why the attempt before failed. */
  readonly lastError?: RunError;
  /** ISO 8601; absent while an attempt runs, and while the effect is paused. */
  readonly nextAttemptAt?: string;
  /** Somebody has paused the activity through Temporal. */
  readonly activityPaused?: true;
}

export function pendingAttempts(converter: LoadedDataConverter, pending: Pending): Promise<PendingAttempt[]> {
  return Promise.all(
    (pending ?? []).map(
      async ({ activityId, attempt, lastFailure, nextAttemptScheduleTime, scheduledTime, state, paused }) => {
        const nextAttemptAt = msOf(nextAttemptScheduleTime) ?? msOf(scheduledTime);
        const waits = state !== PENDING_ACTIVITY_STATE_STARTED && (attempt ?? 1) > 1 && nextAttemptAt !== undefined;
        return {
          activityId: activityId ?? '',
          attempt: attempt || 1,
          ...(lastFailure ? { lastFailure: await causeOf(converter, lastFailure).catch(() => UNREADABLE) } : {}),
          ...(waits && paused !== true ? { nextAttemptAt } : {}),
          ...(paused === true ? { paused } : {}),
        };
      },
    ),
  );
}

export const shownRetrying = ({ lastError, nextAttemptAt, paused }: Retrying): ShownRetrying => ({
  ...defined({ lastError }),
  ...(nextAttemptAt === undefined ? {} : { nextAttemptAt: new Date(nextAttemptAt).toISOString() }),
  ...defined({ activityPaused: paused }),
});

/** An effect of a run that is tried again, or is paused, where one run is read. */
export interface RetriedEffect extends ShownRetrying {
  /** Of the visit, or of what runs within it. */
  readonly path: string;
  /** The attempt that runs, or comes next. */
  readonly attempt: number;
}

/** Not those of the shell itself, whose ids no path has. */
export async function retriedEffects(converter: LoadedDataConverter, pending: Pending): Promise<RetriedEffect[]> {
  const all = await pendingAttempts(converter, pending);
  return all
    .filter(
      ({ activityId, lastFailure, paused }) => !activityId.startsWith('$') && (lastFailure ?? paused) !== undefined,
    )
    .map(({ activityId, attempt, lastFailure, ...rest }) => ({
      // `retryStep` begins an effect again under its path with a number.
      path: activityId.replace(/![0-9]+$/, ''),
      attempt,
      ...shownRetrying({ ...rest, ...(lastFailure === undefined ? {} : { lastError: failureOfCause(lastFailure) }) }),
    }));
}
