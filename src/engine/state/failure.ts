/** E8: every failure is typed: code, message, path, retryable. */

import { withDialectTerms } from '../../compat/mesh/messages.ts';
import type { RunError } from '../../contract/run/run.ts';
import type { Definition } from '../../definition/document/types.ts';
import { JsonTooDeep } from '../../json/depth.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { type FailureShape, StepFailure } from '../../steps/kind.ts';
import { TemplateError } from '../../template/types.ts';
import { MAX_PAYLOAD_BYTES } from './limits.ts';
import type { RunErrorRoot } from './state.ts';

/**
 * Turns an error that a kind or an expression threw into a failure. An untyped error is a bug in Signalbox and becomes
 * `internal_error`. With `definition`, the message of an expression's failure uses the words of its dialect.
 */
export function failureOf(error: unknown, definition?: Definition): FailureShape {
  if (error instanceof StepFailure)
    return {
      code: error.code,
      message: error.message,
      retryable: error.retryable,
      ...omitUndefined({ details: error.details }),
    };
  if (error instanceof JsonTooDeep) {
    const { message, limit } = error;
    return { code: 'value_too_deep', message, retryable: false, details: { limit } };
  }
  if (error instanceof TemplateError) {
    const message = definition === undefined ? error.message : withDialectTerms(definition, error.message);
    return { code: error.code, message, retryable: false };
  }
  return { code: 'internal_error', message: error instanceof Error ? error.message : String(error), retryable: false };
}

/** The failure of a value that does not fit into one payload. `what` begins the sentence. */
export function tooLarge(
  code: 'payload_too_large' | 'result_too_large',
  what: string,
  bytes: number,
  limit = MAX_PAYLOAD_BYTES,
): StepFailure {
  return new StepFailure(code, `${what} has ${bytes} bytes; at most ${limit} fit.`, { details: { bytes, limit } });
}

export function withLocation(error: FailureShape, path: string, slug: string): RunError {
  return { ...error, path: error.path ?? path, stepSlug: error.stepSlug ?? slug };
}

/**
 * The root `error` of expressions. It has `step` in addition to `stepSlug`, the name in `meta.error` and the run's
 * error.
 */
export function errorRoot(error: RunError): RunErrorRoot {
  const { stepSlug } = error;
  return { ...error, ...omitUndefined({ step: stepSlug }) };
}
