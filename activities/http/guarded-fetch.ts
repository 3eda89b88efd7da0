/**
 * `fetch` for the libraries of models and MCP servers, with the restrictions of http steps: connections follow the
 * egress policy, responses have a size limit, and redirects stay within the origin, since they carry credentials.
 */

import { type Agent, type BodyInit, type HeadersInit, Response, fetch as send } from 'undici';
import { defined } from '../../src/json/defined.ts';
import { ActivityError } from '../runtime/failure.ts';
import { locationOf, MOST_REDIRECTS, REDIRECTS } from './response.ts';

/** Of one response, also a stream. */
const MOST_BYTES = 20_000_000;
/** Redirects that keep method and body. */
const KEEPING: ReadonlySet<number> = new Set([307, 308]);

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
        ...defined({ signal }),
      });
      const { body, status, statusText, headers } = answer;
      const location = headers.get('location');
      if (!REDIRECTS.has(status) || location === null) {
        const bounded =
          body === null ? answer : new Response(body.pipeThrough(limited()), { status, statusText, headers });
        return bounded as unknown as globalThis.Response;
      }
      await body?.cancel();
      const isSame = KEEPING.has(status) || method === 'GET';
      // A stream has been consumed by now. These libraries send texts.
      const isSendable = typeof init.body === 'string' || init.body == null;
      url = redirected(url, locationOf(location), isSame && isSendable && hop < MOST_REDIRECTS);
    }
  };
}

/** @throws ActivityError `http_redirects` */
function redirected(from: URL, location: string, mayFollow: boolean): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined;
  if (mayFollow && to?.origin === from.origin) return to;
  const where = to === undefined ? 'to an invalid URL' : `to ${to.origin}${to.pathname}`;
  throw new ActivityError(
    'http_redirects',
    `${from.origin}${from.pathname} redirects ${where}, and this redirect is not followed. If the target is ` +
      'right, store its address.',
  );
}

function limited(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MOST_BYTES) controller.error(tooLarge());
      else controller.enqueue(chunk);
    },
  });
}

const tooLarge = (): ActivityError =>
  new ActivityError('response_too_large', `The response has more than ${MOST_BYTES} bytes.`, {
    details: { limit: MOST_BYTES },
  });

/** The ActivityError in the causes of a library's error. */
export function failureWithin(error: unknown): ActivityError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if (at instanceof ActivityError) return at;
  return undefined;
}
