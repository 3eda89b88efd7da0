/**
 * Parts of workflow ids (ARCHITECTURE.md §4), without Node built-ins, so that workflows can make them too. A dot
 * divides the parts. Text of users is hashed.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** Text that ids contain unchanged. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;
const HASH_DIGITS = 32;

/** 32 hexadecimal digits over the parts, which are separated unambiguously. */
export function shortHash(...parts: readonly string[]): string {
  return bytesToHex(sha256(new TextEncoder().encode(JSON.stringify(parts)))).slice(0, HASH_DIGITS);
}

/** The text itself where a workflow id can contain it, else its hash. */
export function idPart(text: string): string {
  return PLAIN.test(text) ? text : `h-${shortHash(text)}`;
}
