/**
 * Finds many needles in one text: the leftmost first, and the longest of those that begin there. It takes linear time.
 * A regular expression that joins the needles would have a size limit, and its error would repeat them.
 *
 * Every position whose next four units could begin a needle is examined. Short needles are compared there. For long
 * ones a rolling hash is checked first, because comparing a secret of 64 KB that almost matches everywhere takes
 * minutes.
 */
import { randomInt } from 'node:crypto';

/** No needle is shorter (SHORTEST_SECRET_CHARACTERS). */
const KEY_UNITS = 4;
/** Longer needles are compared only where their hash matches. */
const LONGEST_COMPARED = 64;
/** Products of two numbers below it are exact in a double. */
const PRIME = 67_108_859;
/** Random, so that nobody can construct texts with equal hashes. */
const BASE = randomInt(1 << 17, PRIME - 1);

export interface Search {
  has(text: string): boolean;
  replace(text: string, by: string): string;
}

interface Candidates {
  readonly short: string[];
  /** By length, the longest first, then by hash. */
  readonly long: [length: number, byHash: Map<number, string[]>][];
}

export function searchOf(wanted: readonly string[]): Search {
  const needles = [...new Set(wanted)].filter((text) => text.length >= KEY_UNITS).sort((a, b) => b.length - a.length);
  const begins = new Uint8Array(0x10000);
  const byKey = new Map<string, Candidates>();
  for (const needle of needles) {
    begins[hashOfKey(needle, 0)] = 1;
    const key = needle.slice(0, KEY_UNITS);
    const candidates = byKey.get(key) ?? { short: [], long: [] };
    byKey.set(key, candidates);
    if (needle.length <= LONGEST_COMPARED) candidates.short.push(needle);
    else addLong(candidates, needle);
  }

  /** The length of the longest needle at the position; 0 if there is none. */
  const lengthAt = (text: string, at: number, hashes: () => Hashes): number => {
    const candidates = byKey.get(text.slice(at, at + KEY_UNITS));
    if (candidates === undefined) return 0;
    for (const [length, byHash] of candidates.long) {
      if (at + length > text.length) continue;
      const alike = byHash.get(hashes().of(at, length));
      if (alike?.some((needle) => text.startsWith(needle, at)) === true) return length;
    }
    return candidates.short.find((needle) => text.startsWith(needle, at))?.length ?? 0;
  };

  /** Calls `found` with every match until it returns false. */
  const walk = (text: string, found: (at: number, length: number) => boolean): void => {
    let made: Hashes | undefined;
    const hashes = (): Hashes => {
      made ??= new Hashes(text);
      return made;
    };
    const last = text.length - KEY_UNITS;
    for (let at = 0; at <= last; at++) {
      if (begins[hashOfKey(text, at)] === 0) continue;
      const length = lengthAt(text, at, hashes);
      if (length === 0) continue;
      if (!found(at, length)) return;
      at += length - 1;
    }
  };

  return {
    has(text) {
      let isFound = false;
      walk(text, () => {
        isFound = true;
        return false;
      });
      return isFound;
    },
    replace(text, by) {
      const parts: string[] = [];
      let end = 0;
      walk(text, (at, length) => {
        parts.push(text.slice(end, at), by);
        end = at + length;
        return true;
      });
      return end === 0 ? text : parts.join('') + text.slice(end);
    },
  };
}

function addLong({ long }: Candidates, needle: string): void {
  const last = long.at(-1);
  // Needles arrive sorted by length.
  const byHash = last?.[0] === needle.length ? last[1] : new Map<number, string[]>();
  if (last?.[1] !== byHash) long.push([needle.length, byHash]);
  const hash = new Hashes(needle).of(0, needle.length);
  byHash.set(hash, [...(byHash.get(hash) ?? []), needle]);
}

/** Hashes the four units at a position into 16 bits. */
function hashOfKey(text: string, at: number): number {
  return (
    ((text.charCodeAt(at) << 12) ^
      (text.charCodeAt(at + 1) << 8) ^
      (text.charCodeAt(at + 2) << 4) ^
      text.charCodeAt(at + 3)) &
    0xffff
  );
}

/** The hash of any part of a text in constant time. */
class Hashes {
  readonly #before: Float64Array;
  readonly #powers: Float64Array;

  constructor(text: string) {
    this.#before = new Float64Array(text.length + 1);
    this.#powers = new Float64Array(text.length + 1);
    this.#powers[0] = 1;
    for (let at = 0; at < text.length; at++) {
      this.#before[at + 1] = (this.#before[at]! * BASE + text.charCodeAt(at) + 1) % PRIME;
      this.#powers[at + 1] = (this.#powers[at]! * BASE) % PRIME;
    }
  }

  of(at: number, length: number): number {
    const hash = this.#before[at + length]! - ((this.#before[at]! * this.#powers[length]!) % PRIME);
    return hash < 0 ? hash + PRIME : hash;
  }
}
