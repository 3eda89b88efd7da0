/**
 * `fetch` for libraries that bring their own protocol (models, MCP servers), under the guard of http steps: connections
 * go only where the host allows them, redirects are not followed, since they would carry credentials to another origin,
 * and no answer is read without end.
 */
import { type Agent, type BodyInit, type HeadersInit, Response, fetch as send } from 'undici';
import { EffectFailure } from './failure.ts';

/** Of one answer, a stream included. */
const MOST_BYTES = 20_000_000;

export type Fetch = typeof globalThis.fetch;

/** Agents of undici's package and the global fetch do not go together, so this is the package's. */
export function guardedFetch(dispatcher: Agent): Fetch {
  return async (input, init = {}) => {
    const url = typeof input === 'string' || input instanceof URL ? input : input.url;
    const { method, signal } = init;
    const answer = await send(url, {
      dispatcher,
      redirect: 'error',
      headers: (init.headers ?? {}) as HeadersInit,
      ...(method === undefined ? {} : { method }),
      ...(init.body === undefined ? {} : { body: init.body as BodyInit | null }),
      ...(signal === undefined ? {} : { signal }),
    });
    const { body, status, statusText, headers } = answer;
    const bounded = body === null ? answer : new Response(body.pipeThrough(limited()), { status, statusText, headers });
    return bounded as unknown as globalThis.Response;
  };
}

function limited(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MOST_BYTES)
        controller.error(
          new EffectFailure('response_too_large', `The answer has more than ${MOST_BYTES} bytes.`, {
            details: { limit: MOST_BYTES },
          }),
        );
      else controller.enqueue(chunk);
    },
  });
}

/** The failure that lies at the bottom of what a library threw. */
export function failureWithin(error: unknown): EffectFailure | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if (at instanceof EffectFailure) return at;
  return undefined;
}
