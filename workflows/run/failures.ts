/** Failures on their way between the SDK's classes and the run's own (E8). */

import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Refusal, RunError } from '../../src/contract/run/run.ts';
import type { Problem } from '../../src/definition/document/types.ts';
import { failureOfCause, retryAfterIn } from '../../src/engine/state/failure-causes.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/engine/state/limits.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import { asJson } from '../../src/json/json.ts';
import type { FailureShape } from '../../src/steps/kind.ts';

/** Problems that a failure lists. A definition of thousands of steps can have thousands of problems. */
const MAX_PROBLEMS = 100;

/** The failure of an activity or a child, in the form of the core. `maxAttempts`: all attempts of the activity. */
export function failureFrom(error: unknown, maxAttempts?: number): FailureShape {
  const cause = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    const { type, message, nonRetryable, details } = cause;
    return failureOfCause({ kind: 'application', type, message, nonRetryable, details });
  }
  if (cause instanceof TimeoutFailure) {
    const isExhausted = error instanceof ActivityFailure && error.retryState === 'MAXIMUM_ATTEMPTS_REACHED';
    return failureOfCause({ kind: 'timeout', timeoutType: cause.timeoutType }, isExhausted ? maxAttempts : undefined);
  }
  if (cause instanceof CancelledFailure) return failureOfCause({ kind: 'cancelled' });
  return failureOfCause({ kind: 'other', message: cause instanceof Error ? cause.message : undefined });
}

/** What the activity reported last, before its worker ended. */
export function lastHeartbeatOf(error: unknown): unknown {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof TimeoutFailure ? cause.lastHeartbeatDetails : undefined;
}

/** The pause that the other side asked for, in milliseconds. */
export function retryAfterOf(error: unknown): number | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? retryAfterIn(cause.details) : undefined;
}

/** The failure of the workflow: type = code, details = [RunError]. */
export function runFailure(error: RunError): ApplicationFailure {
  return ApplicationFailure.nonRetryable(error.message, error.code, limitErrorDetails(error));
}

/** Details that do not fit are replaced by their size. */
export function limitErrorDetails(error: RunError): RunError {
  const bytes = jsonBytes(asJson(error));
  return bytes <= MAX_PAYLOAD_BYTES ? error : { ...error, details: { omitted: 'too large', bytes } };
}

/** The failure of a run whose definition cannot run. Only a run that was not started by the gateway has one. */
export function invalidDefinition(problems: readonly Problem[]): ApplicationFailure {
  const first = problems[0];
  const where = first === undefined ? '' : ` (${first.pointer || '/'}: ${first.message})`;
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
  return runFailure({
    code: 'invalid_definition',
    message: `This definition cannot run${where}${more}. Check it with \`signalbox validate\`, then start it again.`,
    retryable: false,
    details: { problems: asJson(problems.slice(0, MAX_PROBLEMS)) },
  });
}

/** A bug of the interpreter. The run fails with it, instead of retrying its workflow task forever. */
export function internalError(error: unknown): RunError {
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal_error', message: `The interpreter failed: ${message}`, retryable: false };
}

/** The failure of a refused update: type = code, details = [Refusal]. */
export function refusalFailure(refused: Refusal): ApplicationFailure {
  return ApplicationFailure.nonRetryable(refused.message, refused.code, refused);
}

/** Whether the error says that a workflow has ended or never existed. */
export function isWorkflowGone(error: unknown): boolean {
  return error instanceof Error && /not.?found/i.test(`${error.name} ${error.message}`);
}
