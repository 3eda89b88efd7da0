/**
 * `fetch` for libraries that bring their own protocol (models, MCP servers), under the guard of http steps: connections
 * go only where the host allows them, redirects are followed within the origin only, since they would carry credentials
 * to another, and no answer is read without end.
 */

import { type Agent, type BodyInit, type HeadersInit, Response, fetch as send } from 'undici';
import { defined } from '../../src/json/defined.ts';
import { ActivityError } from '../runtime/failure.ts';

/** Of one answer, a stream included. */
const MOST_BYTES = 20_000_000;
const MOST_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** After these the request is sent as it was. */
const KEEPING: ReadonlySet<number> = new Set([307, 308]);

export type Fetch = typeof globalThis.fetch;

/** Agents of undici's package and the global fetch do not go together, so this is the package's. */
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
      // A stream has been read by now; what these libraries send are texts.
      const isSendable = typeof init.body === 'string' || init.body == null;
      url = redirected(url, location, isSame && isSendable && hop < MOST_REDIRECTS);
    }
  };
}

/** @throws ActivityError `http_redirects` */
function redirected(from: URL, location: string, mayFollow: boolean): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined;
  if (mayFollow && to?.origin === from.origin) return to;
  const where = to === undefined ? 'to what is no address' : `to ${to.origin}${to.pathname}`;
  throw new ActivityError(
    'http_redirects',
    `${from.origin}${from.pathname} redirects ${where}, and this request is not taken along. If that is the right address, store it instead.`,
  );
}

function limited(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MOST_BYTES)
        controller.error(
          new ActivityError('response_too_large', `The answer has more than ${MOST_BYTES} bytes.`, {
            details: { limit: MOST_BYTES },
          }),
        );
      else controller.enqueue(chunk);
    },
  });
}

/** The failure that lies at the bottom of what a library threw. */
export function failureWithin(error: unknown): ActivityError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if (at instanceof ActivityError) return at;
  return undefined;
}
