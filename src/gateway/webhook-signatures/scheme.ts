/** A signature scheme of webhooks. ARCHITECTURE.md, "How to add", says what a new one needs besides its file here. */

import { createHmac } from 'node:crypto';
import { constantTimeEqual } from '../../client/payloads/keys.ts';
import type { Json, JsonObject } from '../../json/json.ts';

/** A delivery as it came in. */
export interface Delivery {
  /** Signatures are over these very bytes. */
  readonly raw: Buffer;
  header(name: string): string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

type Verdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: 'signature_missing' | 'signature_invalid' | 'signature_expired';
      readonly message: string;
    };

export interface Scheme {
  /** One of the secrets must fit; there are two while rotating. */
  verify(delivery: Delivery, secrets: readonly string[], options: JsonObject): Verdict;
  /** The sender's id of the delivery. A repeated id is a replay. */
  deliveryId?(delivery: Delivery): string | undefined;
  /** The answer to a sender that verifies the address before it delivers. Undefined: it is a delivery. */
  handshake?(body: Json): { readonly challenge: string } | undefined;
  /** Deliveries are unsigned, so an `Idempotency-Key` counts. A signed one could be sent again under another key. */
  readonly acceptsIdempotencyKey?: true;
  /**
   * Where neither a time nor an id is signed: how long, in milliseconds, the same signed bytes count as one delivery,
   * regardless of unsigned content. Undefined: the signed content distinguishes deliveries.
   */
  readonly replayWindowMs?: (options: JsonObject) => number | undefined;
  /** Headers with credentials or signatures, which mappings do not see. Lower case. */
  readonly privateHeaders: (options: JsonObject) => readonly string[];
}

/** How old a signed timestamp may be, in either direction. */
const TOLERANCE_MS = 5 * 60 * 1000;

export const OK: Verdict = { ok: true };

export const missing = (header: string): Verdict => ({
  ok: false,
  code: 'signature_missing',
  message: `The header ${header} is missing.`,
});

export const invalid = (header: string): Verdict => ({
  ok: false,
  code: 'signature_invalid',
  message: `The signature in ${header} does not fit the body and the secret.`,
});

/** `seconds` since 1970 as text. Undefined when it is recent enough. */
export function expired(seconds: string | undefined, now: number, header: string): Verdict | undefined {
  if (seconds === undefined) return missing(header);
  const time = /^\d{1,12}$/.test(seconds) ? Number(seconds) * 1000 : Number.NaN;
  if (Math.abs(now - time) <= TOLERANCE_MS) return undefined;
  return { ok: false, code: 'signature_expired', message: `The time in ${header} is not within five minutes of now.` };
}

export function hmac(
  algorithm: string,
  secret: string | Uint8Array,
  encoding: 'hex' | 'base64',
  ...parts: readonly (string | Uint8Array)[]
): string {
  const mac = createHmac(algorithm, secret);
  for (const part of parts) mac.update(part);
  return mac.digest(encoding);
}

/** Whether any of the given signatures is any of those expected. Looks at all of them, in constant time each. */
export function anyMatches(given: readonly string[], expected: readonly string[]): boolean {
  let matches = false;
  for (const one of given) for (const other of expected) if (constantTimeEqual(one, other)) matches = true;
  return matches;
}
