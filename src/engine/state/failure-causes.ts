/**
 * Turns the failure of an activity or a child into the core's failure (contract/run/activity.ts: the type is the code,
 * the details are [{details?, retryable, attempts?}]). The shell reads it from the SDK's errors and the fold from
 * history. Both call this function, so live state and fold agree (E6). Only the activity reports attempts, since the
 * shell does not know what history counts.
 */

import { ATTEMPT_LIMIT, TIMEOUT_CODE, timeoutText } from '../../contract/run/activity.ts';
import { isPlainObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { FailureShape } from '../../steps/kind.ts';

/** The cause of a failed activity or child, without classes of Temporal's packages. */
export type FailureCause =
  | {
      readonly kind: 'application';
      readonly type?: string | null | undefined;
      readonly message?: string | null | undefined;
      readonly nonRetryable?: boolean | null | undefined;
      /** Details of the failure. The first one is ours if it is an object with `retryable`. */
      readonly details?: readonly unknown[] | null | undefined;
    }
  /** `START_TO_CLOSE`, `SCHEDULE_TO_CLOSE`, `SCHEDULE_TO_START`, `HEARTBEAT`. */
  | {
      readonly kind: 'timeout';
      readonly timeoutType?: string | null | undefined;
      /** The details of the last heartbeat, if any. */
      readonly lastHeartbeat?: unknown;
    }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'other'; readonly message?: string | null | undefined };

/**
 * The typed failure of a command. Every failure has a code (E8), even if the activity threw without a type.
 * `attempts`: for an activity that timed out after its last attempt, and so could not report the count.
 */
export function failureOfCause(cause: FailureCause, attempts?: number): FailureShape {
  switch (cause.kind) {
    case 'application':
      return applicationFailure(cause);
    case 'timeout':
      return {
        code: TIMEOUT_CODE,
        message: timeoutText(TIMEOUTS[cause.timeoutType ?? ''] ?? 'its timeout'),
        retryable: true,
        ...omitUndefined({ attempts }),
      };
    case 'cancelled':
      return { code: 'cancelled', message: 'The step was cancelled before it ended.', retryable: false };
    case 'other':
      return {
        code: 'activity_failed',
        message: cause.message || 'The step failed without saying why.',
        retryable: true,
      };
  }
}

/**
 * The pause that the called service requested (Retry-After), in milliseconds, as the activity reports it in the
 * details of its failure (activities/runtime/wrap-activity.ts).
 */
export function retryAfterIn(details: readonly unknown[] | null | undefined): number | undefined {
  const [report] = details ?? [];
  if (typeof report !== 'object' || report === null || !('retryAfterMs' in report)) return undefined;
  return typeof report.retryAfterMs === 'number' && report.retryAfterMs > 0 ? report.retryAfterMs : undefined;
}

const TIMEOUTS: { readonly [type: string]: string } = {
  START_TO_CLOSE: ATTEMPT_LIMIT,
  SCHEDULE_TO_CLOSE: 'the limit of all attempts',
  SCHEDULE_TO_START: 'no worker took it up',
  HEARTBEAT: 'it gave no sign of life',
};

/** Failures that the SDK gives to an attempt that somebody ended through Temporal. */
const OPERATOR_FAILURES: { readonly [type: string]: { readonly code: string; readonly message: string } | undefined } =
  {
    ActivityPause: {
      code: 'activity_paused',
      message: 'The activity was paused through Temporal while an attempt ran: the attempt was ended.',
    },
    ActivityReset: {
      code: 'activity_reset',
      message: 'The activity was reset through Temporal while an attempt ran: the attempt was ended.',
    },
  };

function applicationFailure(cause: FailureCause & { kind: 'application' }): FailureShape {
  const [first] = cause.details ?? [];
  const { retryable, attempts, details } = isPlainObject(first) ? first : {};
  const known = OPERATOR_FAILURES[cause.type ?? ''];
  return {
    code: known?.code ?? (cause.type || 'activity_failed'),
    message: known?.message ?? (cause.message || 'The step failed without saying why.'),
    retryable: typeof retryable === 'boolean' ? retryable : cause.nonRetryable !== true,
    ...(typeof attempts === 'number' ? { attempts } : {}),
    ...omitUndefined({ details }),
  };
}
