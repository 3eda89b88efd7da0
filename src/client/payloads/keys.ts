/**
 * Keys derived from the master key. Each purpose has its own, so that a value made for one purpose is invalid for
 * another.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

export interface Keys {
  /** AES-256-GCM of secrets. */
  readonly secrets: Uint8Array;
  /** HMAC-SHA256 of list cursors. */
  readonly cursors: Uint8Array;
  /** HMAC-SHA256 of resume tokens (LANGUAGE.md §6). */
  readonly resumeTokens: Uint8Array;
  /** HMAC-SHA256 of callback URLs. */
  readonly callbacks: Uint8Array;
  /** HMAC-SHA256 of links by which people decide approvals. */
  readonly approvals: Uint8Array;
  /** AES-256-GCM of the secrets under which API keys are kept. */
  readonly apiKeys: Uint8Array;
  /** HMAC-SHA256 that derives the API keys of requests that may be repeated. */
  readonly madeKeys: Uint8Array;
  /** AES-256-GCM of Temporal's payloads, where SIGNALBOX_CODEC asks for it. */
  readonly payloads: Uint8Array;
  /** HMAC-SHA256 of the contents of requests with a key, and AES-256-GCM of their answers. */
  readonly requests: Uint8Array;
  readonly answers: Uint8Array;
  /** HMAC-SHA256 of organizations' public keys. */
  readonly publicKeys: Uint8Array;
  /** AES-256-GCM of the cookies of browsers' sessions. */
  readonly sessions: Uint8Array;
}

/** HKDF-SHA256 of the 32 bytes of a master key: 32 bytes for each purpose, always the same. */
export function deriveKeys(masterKey: Uint8Array): Keys {
  const derive = (purpose: string) => new Uint8Array(hkdfSync('sha256', masterKey, '', `signalbox ${purpose}`, 32));
  return {
    secrets: derive('secrets'),
    cursors: derive('cursors'),
    resumeTokens: derive('resume tokens'),
    callbacks: derive('callbacks'),
    approvals: derive('approvals'),
    apiKeys: derive('api keys'),
    madeKeys: derive('made keys'),
    payloads: derive('payloads'),
    requests: derive('requests'),
    answers: derive('answers'),
    publicKeys: derive('public keys'),
    sessions: derive('sessions'),
  };
}

/** HMAC-SHA256 of the concatenated parts, without separators: 64 hex digits. */
export function hmacHex(key: Uint8Array | string, ...parts: readonly (string | Uint8Array)[]): string {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest('hex');
}

/** `base64url of the parts, as JSON`, a dot, and its MAC. */
export function signedToken(key: Uint8Array, parts: readonly string[]): string {
  const body = Buffer.from(JSON.stringify(parts)).toString('base64url');
  return `${body}.${tokenMac(key, body)}`;
}

/** The parts of a token that this host made with the key; undefined for any other text. */
export function verifiedTokenParts(key: Uint8Array, token: string): readonly string[] | undefined {
  const dot = token.indexOf('.');
  const body = token.slice(0, dot);
  if (dot < 1 || !constantTimeEqual(token.slice(dot + 1), tokenMac(key, body))) return undefined;
  return JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as string[];
}

const tokenMac = (key: Uint8Array, body: string): string => createHmac('sha256', key).update(body).digest('base64url');

/** Compares in constant time; texts of different length are unequal. */
export function constantTimeEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
