/**
 * `Idempotency-Key` of routes that store their answers (route.ts): the same request again gets the same answer, and
 * another request with its key is answered 422. If a gateway is killed before it answers, the gateway that gets the
 * request again works on it under the same id (idempotentId), and finds what the first one made.
 */
import type { Request, Response } from 'express';
import { type Claim, claimRequest, type StoredAnswer } from '../../client/starts/idempotency-claims.ts';
import { withCaller } from '../../client/temporal/access.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { parseJson } from '../validation/json-guard.ts';
import { mediaOf, rawBody } from './body.ts';
import { canonicalTextAsync } from './canonical-text-async.ts';
import type { Gateway } from './context.ts';
import { idempotencyKeyOf, setClaim } from './idempotency-key.ts';
import { principalOf } from './principal.ts';

/** How long a request waits while another gateway or connection works on the same request. */
const WAIT_MS = 10_000;
/** A larger answer is not stored, so a repeated request is handled again. */
const MAX_ANSWER_BYTES = 1_000_000;
const STORED_HEADERS = ['content-type', 'location', 'etag'];

/** Repeats the stored answer of a request with a key and returns true; otherwise has the answer stored. */
export type IdempotencyHandler = (req: Request, res: Response) => Promise<boolean>;

/** Runs after the role check: a caller without the role claims no key and sees no stored answer. */
export function idempotencyHandler(gateway: Gateway): IdempotencyHandler {
  return async (req, res) => {
    const key = idempotencyKeyOf(req);
    if (key === undefined) return false;
    const { organizationId, id, role } = principalOf(req);
    const claimed = await claimRequest(
      withCaller(gateway.access, organizationId),
      organizationId,
      // A person's keys of different roles are different callers.
      { scope: JSON.stringify([id ?? null, role, req.path]), key, content: await contentOf(req) },
      WAIT_MS,
    );
    if ('status' in claimed) {
      replay(res, claimed);
      return true;
    }
    setClaim(req, claimed);
    storeBeforeSending(gateway, res, claimed);
    return false;
  };
}

function replay(res: Response, { status, headers, body }: StoredAnswer): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.setHeader('idempotency-replayed', 'true');
  res.status(status).end(body);
}

/** The answer is sent after it was stored, so a caller who has seen it gets it again. */
function storeBeforeSending(gateway: Gateway, res: Response, claim: Claim): void {
  const end = res.end.bind(res) as (...parts: unknown[]) => Response;
  res.end = (...parts: unknown[]) => {
    res.end = end as Response['end'];
    const [chunk] = parts;
    const body = typeof chunk === 'string' ? chunk : Buffer.isBuffer(chunk) ? chunk.toString('utf8') : '';
    void settle(res, claim, body)
      .catch((err: unknown) => gateway.log.warn({ err }, 'The answer to a request with a key could not be kept.'))
      .finally(() => end(...parts));
    return res;
  };
}

/** A refusal is not stored, since its cause may pass. After a failure of the gateway the change may have been made. */
function settle(res: Response, claim: Claim, body: string): Promise<void> {
  if (res.statusCode >= 500) return claim.abandon();
  if (res.statusCode >= 400 || Buffer.byteLength(body) > MAX_ANSWER_BYTES) return claim.release();
  const headers: { [name: string]: string } = {};
  for (const name of STORED_HEADERS) {
    const value = res.getHeader(name);
    if (typeof value === 'string') headers[name] = value;
  }
  return claim.answer({ status: res.statusCode, headers, body });
}

/** The content of the request, independent of the order of members. */
async function contentOf(req: Request): Promise<string> {
  const bytes = rawBody(req);
  const query = req.originalUrl.split('?')[1] ?? '';
  const ifMatch = req.get('if-match') ?? '';
  return JSON.stringify([query, ifMatch, mediaOf(req) === 'json' ? await canonical(bytes) : bytes.toString('base64')]);
}

async function canonical(bytes: Buffer): Promise<string> {
  if (bytes.length === 0) return '';
  try {
    return await canonicalTextAsync(parseJson(bytes));
  } catch (error) {
    // The route reads the body too, and says what is wrong with it.
    if (error instanceof HttpProblem) return bytes.toString('base64');
    throw error;
  }
}
