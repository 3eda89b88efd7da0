import type { Request } from 'express';
import { sha256Hex } from '../client/ids.ts';
import { canonicalJson } from '../definition/canonical.ts';
import type { JsonObject } from '../definition/types.ts';
import type { Json } from '../template/types.ts';
import { checked, nameText } from './door.ts';

/** The caller's key for a request that it may repeat (`Idempotency-Key`), where it gives one. */
export function requestKey(req: Request): string | undefined {
  const key = req.get('idempotency-key');
  return key === undefined ? undefined : checked(nameText(200), key, 'header');
}

/** Stands for what a request asks: the same in any order of keys. */
export function fingerprintOf(body: object): string {
  const { clientRequestId: _key, ...rest } = body as { [key: string]: Json | undefined };
  return sha256Hex(canonicalJson(rest as JsonObject)).slice(0, 32);
}
