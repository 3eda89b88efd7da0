/**
 * How an effect's failure becomes the core's (contract/activity.ts: type = code, details = [{details?, retryable, attempts?}]).
 * The shell takes it from the SDK's errors, the fold from the history's failures; both come through here, so that the
 * state says the same (E6). Attempts are the activity's word only: the shell cannot know what history counts.
 */

import { defined } from '../../json/defined.ts';
import { isPlainObject } from '../../json/json.ts';
import type { FailureShape } from '../../steps/kind.ts';

/** The cause of a failed activity, or of a failed child, without the packages' classes. */
export type FailureCause =
  | {
      readonly kind: 'application';
      readonly type?: string | null | undefined;
      readonly message?: string | null | undefined;
      readonly nonRetryable?: boolean | null | undefined;
      /** As the failure carries them; the first is ours when it is an object with `retryable`. */
      readonly details?: readonly unknown[] | null | undefined;
    }
  /** `START_TO_CLOSE`, `SCHEDULE_TO_CLOSE`, `SCHEDULE_TO_START`, `HEARTBEAT`. */
  | { readonly kind: 'timeout'; readonly timeoutType?: string | null | undefined }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'other'; readonly message?: string | null | undefined };

/**
 * The typed failure of a command. Every failure has a code (E8), also one that an activity threw without a type.
 * `attempts`: where an activity that timed out, and so could not count them, has used up those that it had.
 */
export function failureOfCause(cause: FailureCause, attempts?: number): FailureShape {
  switch (cause.kind) {
    case 'application':
      return applicationFailure(cause);
    case 'timeout':
      return {
        code: 'timeout',
        message: `The step did not answer in time (${TIMEOUTS[cause.timeoutType ?? ''] ?? 'its timeout'}); raise its timeout, or see why the other side is slow.`,
        retryable: true,
        ...defined({ attempts }),
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

const TIMEOUTS: { readonly [type: string]: string } = {
  START_TO_CLOSE: 'the limit of one attempt',
  SCHEDULE_TO_CLOSE: 'the limit of all attempts',
  SCHEDULE_TO_START: 'no worker took it up',
  HEARTBEAT: 'it gave no sign of life',
};

function applicationFailure(cause: FailureCause & { kind: 'application' }): FailureShape {
  const [first] = cause.details ?? [];
  const { retryable, attempts, details } = isPlainObject(first) ? first : {};
  return {
    code: cause.type || 'activity_failed',
    message: cause.message || 'The step failed without saying why.',
    retryable: typeof retryable === 'boolean' ? retryable : cause.nonRetryable !== true,
    ...(typeof attempts === 'number' ? { attempts } : {}),
    ...defined({ details }),
  };
}
