import type { Request } from 'express';
import type { Claim } from '../../client/starts/claims.ts';
import { checked, nameText } from '../validation/validation.ts';

/** The request's `Idempotency-Key`, if it has one. */
export function requestKey(req: Request): string | undefined {
  const key = req.get('idempotency-key');
  return key === undefined ? undefined : checked(nameText(200), key, 'header');
}

/** The state of a request with a key. */
type Keyed = Pick<Claim, 'id' | 'mayBeDone'>;
const keyed = new WeakMap<Request, Keyed>();

/** Called once for each request, when its key is claimed (idempotency.ts). */
export function setClaim(req: Request, claim: Keyed): void {
  keyed.set(req, claim);
}

/**
 * The id that a request has by its key; undefined without a key. A repeated request has the same id, and no other
 * request has it. A route creates a resource under this id once, even if a gateway dies before it answers.
 */
export const idOfKey = (req: Request): string | undefined => keyed.get(req)?.id;

/** Whether a gateway worked on the request before and did not answer. */
export const mayBeDone = (req: Request): boolean => keyed.get(req)?.mayBeDone ?? false;
