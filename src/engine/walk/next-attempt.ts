/** The next attempt of an effect whose first attempt, as a local activity or in a segment, failed. */
import { NOT_LIGHT_CODE, TIMEOUT_CODE } from '../../contract/run/activity.ts';
import type { FailureShape } from '../../steps/kind.ts';
import type { RunCommand } from '../state/protocol.ts';

export interface NextAttempt {
  /** The rest of the effect, as a regular activity. */
  readonly command: RunCommand;
  readonly earlierAttempts: number;
  readonly pauseMs: number;
}

/**
 * The next attempt, as a regular activity. Undefined where there is none: then the effect has failed. `requestedMs`:
 * the pause that the called service requested.
 */
export function nextAttempt(
  command: RunCommand,
  failure: FailureShape,
  requestedMs: number | undefined,
): NextAttempt | undefined {
  const { retry, repeatable } = command;
  const regular = asRegular(command);
  if (failure.code === NOT_LIGHT_CODE) return { command: regular, earlierAttempts: 0, pauseMs: 0 };
  // The timeout of local activities is not the step's own.
  if (repeatable === true && failure.code === TIMEOUT_CODE) return { command: regular, earlierAttempts: 1, pauseMs: 0 };
  const { maxAttempts, nonRetryable, initialIntervalMs, backoffCoefficient, maximumIntervalMs } = retry;
  if (!failure.retryable || maxAttempts <= 1 || nonRetryable.includes(failure.code)) return undefined;
  const second = Math.min(initialIntervalMs * backoffCoefficient, Math.max(initialIntervalMs, maximumIntervalMs));
  return {
    command: { ...regular, retry: { ...retry, maxAttempts: maxAttempts - 1, initialIntervalMs: second } },
    earlierAttempts: 1,
    pauseMs: requestedMs ?? initialIntervalMs,
  };
}

/** The command as an activity of its own, which is not local and in no segment. */
export function asRegular(command: RunCommand): RunCommand {
  const { fuse: _, ...alone } = command;
  return { ...alone, local: false };
}
