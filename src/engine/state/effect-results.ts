/**
 * Checks the results of activities as they come from Temporal. The worker returns them in their form, but
 * `temporal activity complete` stores any JSON.
 */
import { isPlainObject } from '../../json/json.ts';
import type { EffectResult, FailureShape } from '../../steps/kind.ts';
import type { Event } from './protocol.ts';

const MEMBERS: ReadonlySet<string> = new Set(['data', 'meta']);

/** The failure of a step whose activity was completed by hand with something else than its result. */
export const INVALID_RESULT: FailureShape = {
  code: 'invalid_result',
  message:
    'The activity of this step was completed by hand with a result of another form. Expected: {"data": …, "meta"?: ' +
    '{…}}, as its kind returns it. To repeat the step, retry the run.',
  retryable: false,
};

/** The result has the form `{data, meta?}`. */
export function isEffectResult(result: unknown): result is EffectResult {
  if (!isPlainObject(result)) return false;
  const { meta } = result;
  return Object.keys(result).every((name) => MEMBERS.has(name)) && (meta === undefined || isPlainObject(meta));
}

/** The event of an activity that has completed: a failure if its result has another form. */
export function completionOf(id: string, at: number, result: unknown): Event & { id: string } {
  return isEffectResult(result)
    ? { type: 'completed', at, id, result }
    : { type: 'failed', at, id, error: INVALID_RESULT };
}

/** The data of a result of any form. */
export const dataIn = (result: unknown): unknown => (isPlainObject(result) ? result['data'] : undefined);

/** The value has the members of a failure. */
export function isFailure(error: unknown): error is FailureShape {
  return isPlainObject(error) && typeof error['code'] === 'string' && typeof error['message'] === 'string';
}
