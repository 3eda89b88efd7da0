import type { Request } from 'express';
import { checked, nameText } from './door.ts';

/** The caller's key for a request that it may repeat (`Idempotency-Key`), where it gives one. */
export function requestKey(req: Request): string | undefined {
  const key = req.get('idempotency-key');
  return key === undefined ? undefined : checked(nameText(200), key, 'header');
}
