import type { Request } from 'express';
import type { Claim } from '../../client/starts/idempotency-claims.ts';
import { checked, nameText } from '../validation/validation.ts';

/** The request's `Idempotency-Key`, if it has one. */
export function idempotencyKeyOf(req: Request): string | undefined {
  const key = req.get('idempotency-key');
  return key === undefined ? undefined : checked(nameText(200), key, 'header');
}

/** The state of a request with a key. */
type RequestClaim = Pick<Claim, 'id' | 'mayBeDone'>;
const claims = new WeakMap<Request, RequestClaim>();

/** Called once for each request, when its key is claimed (idempotency.ts). */
export function setClaim(req: Request, claim: RequestClaim): void {
  claims.set(req, claim);
}

/**
 * The id that a request has by its key; undefined without a key. A repeated request has the same id, and no other
 * request has it. A route creates a resource under this id once, even if a gateway dies before it answers.
 */
export const idempotentId = (req: Request): string | undefined => claims.get(req)?.id;

/** Whether a gateway worked on the request before and did not answer. */
export const mayAlreadyBeApplied = (req: Request): boolean => claims.get(req)?.mayBeDone ?? false;
