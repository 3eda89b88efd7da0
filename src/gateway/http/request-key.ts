import type { Request } from 'express';
import type { Claim } from '../../client/starts/claims.ts';
import { checked, nameText } from '../validation/validation.ts';

/** The caller's key for a request that it may repeat (`Idempotency-Key`), where it gives one. */
export function requestKey(req: Request): string | undefined {
  const key = req.get('idempotency-key');
  return key === undefined ? undefined : checked(nameText(200), key, 'header');
}

/** What is known of a request by its key. */
type Keyed = Pick<Claim, 'id' | 'mayBeDone'>;
const keyed = new WeakMap<Request, Keyed>();

/** Done once for a request, where its key is claimed (idempotency.ts). */
export function setClaim(req: Request, claim: Keyed): void {
  keyed.set(req, claim);
}

/**
 * The id that a request has by its key; undefined without a key. A repeated request has the same id, and no other
 * request has it. What a route makes under this id is made once, also where a gateway dies before it answers.
 */
export const idOfKey = (req: Request): string | undefined => keyed.get(req)?.id;

/** Whether a gateway worked on the request before and did not answer. */
export const mayBeDone = (req: Request): boolean => keyed.get(req)?.mayBeDone ?? false;
