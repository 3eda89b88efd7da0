/**
 * Errors as the outside sees them: application/problem+json (RFC 9457), always with a stable `code` and a sentence that
 * says what to do. problem-codes.ts maps codes to statuses.
 */

import type { Response } from 'express';
import { ClientError } from '../../client/errors.ts';
import { toClientError } from '../../client/temporal/rpc.ts';
import type { Problem } from '../../definition/document/types.ts';
import { asJson, getOwn, isObject, type Json, type JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { PROBLEM_CODES, type ProblemCode } from '../validation/problem-codes.ts';

const RETRY_AFTER_SECONDS = 2;

/** Any error as a problem. An unexpected error becomes `internal_error` without details. */
export function asProblem(thrown: unknown): HttpProblem {
  if (thrown instanceof HttpProblem) return thrown;
  const error = toClientError(thrown, false);
  if (error instanceof ClientError) return fromClientError(error);
  if (isHttpError(error)) return fromHttpError(error);
  return new HttpProblem(
    'internal_error',
    'The gateway failed. The request id in the answer finds the cause in its log.',
    { cause: error },
  );
}

export function sendProblem(res: Response, problem: HttpProblem): void {
  const { headers = {} } = problem.options;
  if (res.headersSent) {
    res.destroy();
    return;
  }
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.status(problem.status).type('application/problem+json');
  res.send(JSON.stringify(problemBody(problem)));
}

/** The body of a problem's answer. */
export function problemBody({ title, status, message, code, options }: HttpProblem): JsonObject {
  const { problems, more = {} } = options;
  return {
    type: 'about:blank',
    title,
    status,
    detail: message,
    code,
    ...omitUndefined({ problems: asJson(problems) }),
    ...more,
  };
}

function fromClientError(error: ClientError): HttpProblem {
  const code: ProblemCode = isProblemCode(error.code) ? error.code : 'refused';
  const { status } = PROBLEM_CODES[code];
  const isTransient = status === 503 || status === 429 || code === 'request_in_flight';
  return new HttpProblem(code, error.message, {
    cause: error,
    ...(isTransient ? { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } } : {}),
    ...problemsIn(error.details),
    ...(shownDetails(error.details) ?? {}),
  });
}

const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(PROBLEM_CODES, code);

function problemsIn(details: Json | undefined): { problems?: readonly Problem[] } {
  const problems = getOwn(details, 'problems');
  return Array.isArray(problems) ? { problems: problems as unknown as readonly Problem[] } : {};
}

/** Members of problems, and of errors, that details do not replace. */
const OWN_MEMBERS = ['type', 'title', 'status', 'detail', 'code', 'message', 'problems'];

/** Refusals by runs list `paths`; other details become members of the problem unchanged. */
function shownDetails(details: Json | undefined): { more: JsonObject } | undefined {
  if (!isObject(details)) return undefined;
  return { more: Object.fromEntries(Object.entries(details).filter(([name]) => !OWN_MEMBERS.includes(name))) };
}

interface HttpError {
  readonly status: number;
  /** Set by the body reader for a body that is too large: the limit in bytes. */
  readonly limit?: unknown;
}

const BYTES_A_MB = 1024 * 1024;

const isHttpError = (error: unknown): error is Error & HttpError =>
  error instanceof Error && 'status' in error && typeof error.status === 'number';

/** Errors of Express and its body reader. Their messages may quote what was sent, so they are not repeated. */
function fromHttpError(error: Error & HttpError): HttpProblem {
  switch (error.status) {
    case 413:
      return new HttpProblem(
        'body_too_large',
        'The body is larger than ' +
          `${typeof error.limit === 'number' ? `${error.limit / BYTES_A_MB} MB` : 'it may be'}, counted after ` +
          'decompression.',
        { cause: error },
      );
    case 415:
      return new HttpProblem(
        'unsupported_media_type',
        'The content encoding is not known. Send gzip, deflate, br or none.',
        { cause: error },
      );
    case 404:
      return new HttpProblem('not_found', 'There is nothing at this address.', { cause: error });
    default:
      if (error.status >= 400 && error.status < 500)
        return new HttpProblem('invalid_request', 'The request cannot be read: its path or body is damaged.', {
          cause: error,
        });
      return new HttpProblem('internal_error', 'The gateway failed.', { cause: error });
  }
}
