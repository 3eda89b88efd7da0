/** Parts of workflow ids (ARCHITECTURE.md §4) as whoever has no Node built-ins makes them too: a dot divides, what users write freely is hashed. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** What stands in ids as it is written. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;
const HASH_DIGITS = 32;

/** 32 hexadecimal digits over parts that cannot run into each other. */
export function shortHash(...parts: readonly string[]): string {
  return bytesToHex(sha256(new TextEncoder().encode(JSON.stringify(parts)))).slice(0, HASH_DIGITS);
}

/** The text as it is where a workflow id can hold it, else its hash. */
export function idPart(text: string): string {
  return PLAIN.test(text) ? text : `h-${shortHash(text)}`;
}
