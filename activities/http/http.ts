/** The activity `http`: kind `http` and action `http.request`. Its manual is src/steps/kinds/http.ts. */

import { type Agent, request as send } from 'undici';
import type { ActivityInput, ActivityOutput } from '../../src/contract/run/activity.ts';
import { RESPONSE_FORMATS } from '../../src/contract/run/activity-options.ts';
import { MAX_BLOB_STATE_BYTES } from '../../src/definition/document/limits.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { parsedJson } from '../../src/json/model-json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { ActivityError, invalidConfig, transientError } from '../runtime/failure.ts';
import { timeLimit } from '../runtime/time-limit.ts';
import { type ActivityContext, type ActivityHandler, RESULT_LIMIT_BYTES } from '../runtime/wrap-activity.ts';
import { type HttpRequest, parseUrl, readRequest } from './request.ts';
import {
  decode,
  failureText,
  firstValue,
  isJson,
  isRetryableStatus,
  locationOf,
  MAX_REDIRECTS,
  networkErrorCode,
  parseBody,
  REDIRECT_STATUSES,
  type ResponseHeaders,
  readBytes,
  retryAfterMs,
  truncatedHeaders,
} from './response.ts';

const DEFAULT_MAX_BYTES = 1_800_000;
const DEFAULT_TIMEOUT_MS = 30_000;
/** How much of an error response is kept. */
const MAX_ERROR_BYTES = 65_536;
const MAX_ERROR_CHARACTERS = 4_000;
const RESPONSE_FORM_NAMES: ReadonlySet<string> = new Set(RESPONSE_FORMATS);

/** `hostMaxBytes` is the largest response body that a step can keep on this host. */
export function httpActivity(agent: Agent, hostMaxBytes = RESULT_LIMIT_BYTES): ActivityHandler {
  return async (config, context) => {
    if (!isObject(config)) throw invalidConfig('url', 'given');
    const limits = readLimits(config, hostMaxBytes);
    const request = readRequest(config, context.input.secrets, context.input.idempotencyKey);
    const limit = timeLimit(context.signal, limits.timeoutMs);
    try {
      return await sendFollowingRedirects(request, limits, agent, limit.signal, context);
    } catch (error) {
      if (error instanceof ActivityError) throw error;
      if (limit.isOver)
        throw transientError('http_timeout', `The response was not complete after ${limits.timeoutMs} ms.`);
      throw connectFailure(error, request.url);
    } finally {
      limit.end();
    }
  };
}

/**
 * The host that receives a config's secrets. `member` is the URL. If the URL itself contains a secret, the host is
 * known only if the secret comes after it; otherwise the result is undefined.
 */
export function hostOf(input: ActivityInput, member = 'url'): string | undefined {
  if (!isObject(input.config)) return undefined;
  const templated = input.secrets.find(({ path }) => path.length === 1 && path[0] === member);
  if (templated === undefined) {
    const url = input.config[member];
    return typeof url === 'string' ? parseUrl(url)?.host : undefined;
  }
  const start = templated.parts[0];
  const origin = typeof start === 'string' ? /^\s*https?:\/\/[^/?#\\@]+[/?#]/i.exec(start)?.[0] : undefined;
  return origin === undefined ? undefined : parseUrl(origin)?.host;
}

interface HttpLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** The largest maxBytes on this host. */
  readonly hostMaxBytes: number;
  readonly as: string | undefined;
  readonly isExpected: (status: number) => boolean;
  /** Whether redirects are returned and not followed. */
  readonly expectsRedirect: boolean;
}

async function sendFollowingRedirects(
  first: HttpRequest,
  limits: HttpLimits,
  agent: Agent,
  signal: AbortSignal,
  context: ActivityContext,
): Promise<ActivityOutput> {
  let request = first;
  for (let hop = 0; ; hop++) {
    const { statusCode, headers, body } = await send(request.url, {
      dispatcher: agent,
      method: request.method as 'GET',
      headers: Object.fromEntries(request.headers),
      body: request.body ?? null,
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const location = locationOf(firstValue(headers['location']));
    if (REDIRECT_STATUSES.has(statusCode) && location !== '' && !limits.expectsRedirect) {
      body.on('error', () => undefined).destroy();
      if (hop === MAX_REDIRECTS)
        throw new ActivityError('http_redirects', `The request was redirected more than ${MAX_REDIRECTS} times.`);
      request = redirectRequest(request, statusCode, location);
      continue;
    }
    const shown = {
      status: statusCode,
      headers: truncatedHeaders(headers, context.scrub.text),
      url: context.scrub.text(request.url.href),
    };
    if (!limits.isExpected(statusCode)) {
      const { bytes, isCut } = await readBytes(body, headers, MAX_ERROR_BYTES, 'cut').catch((error: unknown) => {
        if (signal.aborted) throw error;
        // The body cannot be read, but the status is known.
        return { bytes: Buffer.alloc(0), isCut: true };
      });
      throw statusFailure(statusCode, headers, errorBody(bytes, headers, isCut, context), shown);
    }
    const { bytes } = await readBytes(body, headers, limits.maxBytes, { hostMaxBytes: limits.hostMaxBytes }).catch(
      (error: unknown) => {
        throw error instanceof ActivityError || signal.aborted ? error : interruptedFailure(error, request.url, shown);
      },
    );
    return { data: parseBody(bytes, headers, limits.as, shown, context.scrub), meta: shown };
  }
}

/** The request to the target of a redirect, without credentials if the origin is another one. */
function redirectRequest(request: HttpRequest, status: number, location: string): HttpRequest {
  const url = parseUrl(location, request.url);
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new ActivityError(
      'http_redirects',
      'The request was redirected to a target that is not an http or https URL.',
    );
  url.username = '';
  url.password = '';
  url.hash = '';
  const becomesGet = (status === 303 && request.method !== 'HEAD') || (status < 303 && request.method === 'POST');
  const isCrossOrigin = url.origin !== request.url.origin;
  if (isCrossOrigin && !becomesGet && request.isBodySecret)
    throw new ActivityError(
      'http_redirects',
      'The request was redirected to another origin, and its body contains a secret. Call that origin directly.',
    );
  const headers = new Map(request.headers);
  for (const name of request.headers.keys()) {
    const isDropped = (isCrossOrigin && request.credentials.has(name)) || (becomesGet && name.startsWith('content-'));
    if (isDropped) headers.delete(name);
  }
  return { ...request, url, headers, ...(becomesGet ? { method: 'GET', body: undefined } : {}) };
}

function readLimits(config: JsonObject, hostMaxBytes: number): HttpLimits {
  const { timeout = DEFAULT_TIMEOUT_MS, maxBytes, as, expect } = config;
  if (typeof timeout !== 'number' || !(timeout > 0)) throw invalidConfig('timeout', 'longer than 0');
  const requestedBytes = maxBytes ?? DEFAULT_MAX_BYTES;
  if (
    typeof requestedBytes !== 'number' ||
    !Number.isInteger(requestedBytes) ||
    requestedBytes < 1 ||
    requestedBytes > MAX_BLOB_STATE_BYTES
  )
    throw invalidConfig('maxBytes', `a whole number from 1 to ${MAX_BLOB_STATE_BYTES}`);
  const form = as ?? undefined;
  if (form !== undefined && (typeof form !== 'string' || !RESPONSE_FORM_NAMES.has(form)))
    throw invalidConfig('as', `one of ${RESPONSE_FORMATS.join(', ')}`);
  const ranges = expectedRanges(expect);
  const isExpected = (status: number): boolean => ranges.some(([from, to]) => status >= from && status <= to);
  return {
    timeoutMs: Math.min(timeout, 2 ** 31 - 1),
    // A host without a blob store accepts less, and says so if a response is larger.
    maxBytes: Math.min(requestedBytes, hostMaxBytes),
    hostMaxBytes,
    as: form as string | undefined,
    isExpected,
    expectsRedirect: [...REDIRECT_STATUSES].some(isExpected),
  };
}

/** `200`, `"2xx"`, `"200-299"`, or a list of these. */
function expectedRanges(expect: Json | undefined): (readonly [number, number])[] {
  if (expect === undefined || expect === null) return [[200, 299]];
  return (Array.isArray(expect) ? expect : [expect]).map((entry) => {
    const match = /^(\d{3})(?:-(\d{3}))?$|^(\d)xx$/i.exec(String(entry).trim());
    if (match === null) throw invalidConfig('expect', "statuses such as 200, '2xx' or '200-299', or a list of them");
    if (match[3] !== undefined) return [Number(match[3]) * 100, Number(match[3]) * 100 + 99];
    return [Number(match[1]), Number(match[2] ?? match[1])];
  });
}

function errorBody(bytes: Buffer, headers: ResponseHeaders, isCut: boolean, context: ActivityContext): Json {
  if (bytes.length === 0) return null;
  const decoded = decode(bytes, firstValue(headers['content-type']));
  const text = isCut ? context.scrub.beginning(decoded) : context.scrub.text(decoded);
  const value = !isCut && text.length <= MAX_ERROR_CHARACTERS && isJson(headers) ? parsedJson(text) : undefined;
  if (value !== undefined) return value;
  return Buffer.from(text.slice(0, MAX_ERROR_CHARACTERS)).toString();
}

function statusFailure(status: number, headers: ResponseHeaders, body: Json, shown: JsonObject): ActivityError {
  const retryable = isRetryableStatus(status);
  const afterMs = retryable ? retryAfterMs(firstValue(headers['retry-after'])) : undefined;
  // Readers of the message alone, such as a model that made the call, need more than the status.
  return new ActivityError('http_status', `The response status was ${status}${failureText(body, headers)}`, {
    retryable,
    details: { ...shown, body },
    ...omitUndefined({ retryAfterMs: afterMs }),
  });
}

/** The response began but did not end. */
function interruptedFailure(error: unknown, url: URL, { status }: { readonly status: number }): ActivityError {
  const code = networkErrorCode(error);
  return transientError('http_connect', `The response of ${url.host} (status ${status}) was interrupted (${code}).`, {
    reason: code,
    status,
  });
}

function connectFailure(error: unknown, url: URL): ActivityError {
  const code = networkErrorCode(error);
  return transientError('http_connect', `No response from ${url.host} (${code}).`, { reason: code });
}
