/**
 * `fetch` for the libraries of models and MCP servers, with the restrictions of http steps: connections follow the
 * egress policy, responses have a size limit, and redirects stay within the origin, since they carry credentials.
 */

import { type Agent, type BodyInit, type HeadersInit, Response, fetch as send } from 'undici';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { ActivityError } from '../runtime/failure.ts';
import { locationOf, MAX_REDIRECTS, REDIRECT_STATUSES } from './response.ts';

/** Of one response, also a stream. */
const MAX_RESPONSE_BYTES = 20_000_000;
/** Redirects that keep method and body. */
const METHOD_PRESERVING_STATUSES: ReadonlySet<number> = new Set([307, 308]);

export type Fetch = typeof globalThis.fetch;

/** Uses the fetch of the undici package, since the global one does not accept the package's agents. */
export function guardedFetch(dispatcher: Agent): Fetch {
  return async (input, init = {}) => {
    let url = new URL(typeof input === 'string' || input instanceof URL ? input : input.url);
    const { method = 'GET', signal } = init;
    for (let hop = 0; ; hop++) {
      const answer = await send(url, {
        dispatcher,
        redirect: 'manual',
        method,
        headers: (init.headers ?? {}) as HeadersInit,
        ...(init.body === undefined ? {} : { body: init.body as BodyInit | null }),
        ...omitUndefined({ signal }),
      });
      const { body, status, statusText, headers } = answer;
      const location = headers.get('location');
      if (!REDIRECT_STATUSES.has(status) || location === null) {
        const bounded =
          body === null ? answer : new Response(body.pipeThrough(byteLimiter()), { status, statusText, headers });
        return bounded as unknown as globalThis.Response;
      }
      await body?.cancel();
      const isSame = METHOD_PRESERVING_STATUSES.has(status) || method === 'GET';
      // A stream has been consumed by now. These libraries send texts.
      const isSendable = typeof init.body === 'string' || init.body == null;
      url = redirectTarget(url, locationOf(location), isSame && isSendable && hop < MAX_REDIRECTS);
    }
  };
}

/** @throws ActivityError `http_redirects` */
function redirectTarget(from: URL, location: string, mayFollow: boolean): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined;
  if (mayFollow && to?.origin === from.origin) return to;
  const where = to === undefined ? 'to an invalid URL' : `to ${to.origin}${to.pathname}`;
  throw new ActivityError(
    'http_redirects',
    `${from.origin}${from.pathname} redirects ${where}, and this redirect is not followed. If the target is ` +
      'right, store its address.',
  );
}

function byteLimiter(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_RESPONSE_BYTES) controller.error(tooLarge());
      else controller.enqueue(chunk);
    },
  });
}

const tooLarge = (): ActivityError =>
  new ActivityError('response_too_large', `The response has more than ${MAX_RESPONSE_BYTES} bytes.`, {
    details: { limit: MAX_RESPONSE_BYTES },
  });

/** The ActivityError in the causes of a library's error. */
export function activityErrorIn(error: unknown): ActivityError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if (at instanceof ActivityError) return at;
  return undefined;
}
