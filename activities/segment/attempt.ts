/** The attempt of an effect within a segment. */
import { ApplicationFailure } from '@temporalio/common';
import { type ActivityInput, LOCAL_LIMIT_MS } from '../../src/contract/run/activity.ts';
import { failedEnd, type SegmentEffectEnd } from '../../src/engine/segment.ts';
import { failureOfCause, retryAfterIn } from '../../src/engine/state/failure-causes.ts';
import type { RunCommand } from '../../src/engine/state/protocol.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import type { FailureShape } from '../../src/steps/kind.ts';
import type { Activity, Attempt } from '../runtime/wrap-activity.ts';

/** Runs an effect of a segment, and observes it. */
export type EffectObserver = <T>(activity: string, input: ActivityInput, run: () => Promise<T>) => Promise<T>;

export type AttemptEnd = Omit<SegmentEffectEnd, 'id' | 'at' | 'startedAt'>;

/** Runs the first attempt of the effect. Never rejects. `cancel` ends it; its result is then without use. */
export async function runAttempt(
  effect: Activity | undefined,
  command: RunCommand,
  execution: ActivityInput['execution'],
  cancel: AbortController,
  observe: EffectObserver = (_activity, _input, run) => run(),
): Promise<AttemptEnd> {
  const { config, secrets, idempotencyKey, id, stepSlug, repeatable } = command;
  const attempt: Attempt = {
    signal: cancel.signal,
    attempt: 1,
    isLocal: true,
    lastHeartbeat: undefined,
    heartbeat: () => undefined,
  };
  const input: ActivityInput = {
    config,
    secrets,
    idempotencyKey,
    path: id,
    stepSlug,
    execution,
    ...omitUndefined({ repeatable }),
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), Math.max(1, Math.min(command.timeoutMs, LOCAL_LIMIT_MS)));
  });
  try {
    if (effect === undefined) throw new ReferenceError(`There is no activity '${command.activity}'.`);
    const running = observe(command.activity, input, () => effect(input, attempt));
    const result = await Promise.race([running, late]);
    if (result !== LATE) return { result };
    // The attempt learns of it, and its own end is ignored.
    running.catch(() => undefined);
    cancel.abort();
    return failedEnd(command, failureOfCause({ kind: 'timeout', timeoutType: 'START_TO_CLOSE' }));
  } catch (error) {
    const retryAfterMs = error instanceof ApplicationFailure ? retryAfterIn(error.details) : undefined;
    return failedEnd(command, failureOf(error), retryAfterMs);
  } finally {
    clearTimeout(timer);
  }
}

const LATE = Symbol('late');

/** The failure as the run would read it from an activity of its own (workflows/run/failures.ts). */
function failureOf(error: unknown): FailureShape {
  if (!(error instanceof ApplicationFailure))
    return failureOfCause({ kind: 'other', message: error instanceof Error ? error.message : undefined });
  const { type, message, nonRetryable, details } = error;
  return failureOfCause({ kind: 'application', type, message, nonRetryable, details });
}
