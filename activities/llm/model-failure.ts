/** Turns the errors of the AI SDK and its providers into typed failures that know whether a retry makes sense. */

import { APICallError, InvalidPromptError, InvalidResponseDataError } from 'ai';
import { isObject } from '../../src/json/json.ts';
import { parsedJson } from '../../src/json/model-json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { activityErrorIn } from '../http/guarded-fetch.ts';
import { isRetryableStatus, networkErrorCode, retryAfterMs } from '../http/response.ts';
import { ActivityError, transientError } from '../runtime/failure.ts';
import type { Scrub } from '../runtime/scrub.ts';
import type { ActivityContext } from '../runtime/wrap-activity.ts';

const MAX_ERROR_CHARACTERS = 2_000;
const MAX_SHOWN_CHARACTERS = 200;
const MAX_QUOTED_CHARACTERS = 300;
/** undici's messages for a connection that breaks within a response. */
const CONNECTION_ERROR = /terminated|socket|network|fetch failed|aborted|premature/i;
/** Error types and codes that a retry does not change. */
const PERMANENT_ERROR =
  /invalid_(request|argument|api_key|prompt)|unauthenticated|authentication|permission|not_found/i;

/** The failure for `error`, or the error itself if the activity was cancelled. */
export function modelFailure(error: unknown, context: ActivityContext): unknown {
  if (context.signal.aborted) return error;
  const known = activityErrorIn(error);
  if (known !== undefined) return known;
  if (InvalidPromptError.isInstance(error))
    return new ActivityError('invalid_config', 'config.messages must be messages of {role, content}.');
  if (APICallError.isInstance(error) && error.statusCode !== undefined && error.statusCode >= 400) {
    const first = firstStreamError(error);
    if (first === undefined) return statusFailure(error.statusCode, error, context);
    return isSdkError(first) ? answerFailure(error.message, context) : streamedFailure(first, context);
  }
  if (InvalidResponseDataError.isInstance(error) || (APICallError.isInstance(error) && error.statusCode !== undefined))
    return truncatedStreamError();
  // A provider's error event within its stream.
  if (error !== null && typeof error === 'object' && !(error instanceof Error)) return streamedFailure(error, context);
  if (APICallError.isInstance(error) || (error instanceof Error && CONNECTION_ERROR.test(fullMessage(error))))
    return transientError('model_connect', `The connection to the model failed (${codeWithin(error)}).`);
  return answerFailure(error instanceof Error ? error.message : 'unknown', context);
}

function answerFailure(said: string, { scrub }: ActivityContext): ActivityError {
  const shown = scrub.text(said).slice(0, MAX_SHOWN_CHARACTERS);
  return transientError('model_answer', `The model's answer is unreadable: ${shown}`);
}

/** The error event at the beginning of a stream. The SDK invents a status for it, while the provider sent 200. */
function firstStreamError({ responseHeaders, responseBody = '' }: APICallError): object | undefined {
  if (responseHeaders?.['content-type']?.startsWith('text/event-stream') !== true) return undefined;
  const said = parsedJson(responseBody);
  return isObject(said) ? said : undefined;
}

/** Whether the SDK, and not the provider, raised the error. */
function isSdkError(error: object): boolean {
  return 'name' in error && typeof error.name === 'string' && error.name.startsWith('AI_');
}

function statusFailure(
  status: number,
  { message, responseHeaders, responseBody = '' }: APICallError,
  { scrub }: ActivityContext,
): ActivityError {
  const retryable = isRetryableStatus(status);
  const afterMs = retryable ? retryAfterMs(responseHeaders?.['retry-after'] ?? '') : undefined;
  const said = messageIn(parsedJson(responseBody)) ?? message;
  return new ActivityError(
    'model_status',
    `The model's provider answered with status ${status}${explanation(said, scrub)}`,
    {
      retryable,
      details: { status, body: scrub.text(responseBody).slice(0, MAX_ERROR_CHARACTERS) },
      ...omitUndefined({ retryAfterMs: afterMs }),
    },
  );
}

/** The status was 200, so the error's type decides; unknown types are retried. */
function streamedFailure(error: object, { scrub }: ActivityContext): ActivityError {
  return new ActivityError(
    'model_status',
    `The model ended its answer with an error${explanation(messageIn(error) ?? '', scrub)}`,
    {
      retryable: !isPermanent(error),
      details: { body: scrub.text(JSON.stringify(error)).slice(0, MAX_ERROR_CHARACTERS) },
    },
  );
}

/** Reads `{error: {message}}`, the format of all providers, or parts of it. */
function messageIn(said: unknown): string | undefined {
  if (typeof said !== 'object' || said === null) return undefined;
  const { message, error } = said as { readonly message?: unknown; readonly error?: unknown };
  if (typeof message === 'string') return message;
  return typeof error === 'string' ? error : messageIn(error);
}

/** The provider's explanation, since readers of the message alone need more than the status. */
function explanation(said: string, scrub: Scrub): string {
  const text = scrub.text(said).replace(/\s+/g, ' ').trim().slice(0, MAX_QUOTED_CHARACTERS);
  return text === '' ? '.' : `: ${text}`;
}

/** Reads `{type, code, status}` of OpenAI, Anthropic and Google, also within `error`. */
function isPermanent(error: object): boolean {
  const { type, code, status, error: inner } = error as { readonly [member: string]: unknown };
  const says = [type, code, status].some((word) =>
    typeof word === 'number'
      ? word >= 400 && !isRetryableStatus(word)
      : typeof word === 'string' && PERMANENT_ERROR.test(word),
  );
  return says || (typeof inner === 'object' && inner !== null && isPermanent(inner));
}

function fullMessage(error: Error): string {
  return `${error.message} ${error.cause instanceof Error ? error.cause.message : ''}`;
}

/** The network code in the causes: the SDK wraps it several times. */
function codeWithin(error: unknown): string {
  let at = error;
  for (let depth = 0; at instanceof Error && depth < 8; depth++) {
    const code = networkErrorCode(at);
    if (/^[A-Z]/.test(code)) return code;
    at = at.cause;
  }
  return networkErrorCode(undefined);
}

export const truncatedStreamError = (): ActivityError =>
  transientError('model_cut', "The model's answer ended in the middle.");
