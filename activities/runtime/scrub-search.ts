/**
 * Finds many needles in one text: the leftmost first, and the longest of those that begin there. The time is linear in
 * the text, however many needles there are and however much of them is in the text. A regular expression that joins
 * the needles would have a size limit, and its error would repeat them.
 *
 * A table of needles holds hashes of them and no text, so it is small, and another thread can build it and hand it
 * over. The longest needle at a position is found by binary search over the lengths of needles: each needle has marks
 * at the shorter lengths that its search passes, and each mark names the longest needle that its text begins with
 * (Waldvogel et al., "Scalable High Speed IP Routing Lookups", 1997).
 *
 * Equal hashes count as equal texts. Two rolling hashes with random bases are 52 bits together: a wrong match is less
 * likely than a broken memory cell, and replaces text that no secret is in.
 */
import { randomInt } from 'node:crypto';

/** No needle is shorter (MIN_SECRET_CHARACTERS). */
const KEY_UNITS = 4;
/** Products of two numbers below it are exact in a double. */
const PRIME = 67_108_859;
const INVERSE = 1 / PRIME;
/** The second hash is added to the first one times this. */
const SECOND_HASH_FACTOR = 2 ** 26;
/** So many units of a text have their hashes in memory, or twice the longest needle. */
const WINDOW_UNITS = 65_536;
/** A search yields after this many units and probes: about a millisecond. */
const WORK_PER_SLICE = 20_000;

/** A computation that may be interrupted wherever it yields. */
export type Interruptible<T> = Generator<undefined, T, undefined>;

/** Does all steps now. */
export function runToCompletion<T>(steps: Interruptible<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Two random numbers, so that nobody can construct texts with equal hashes. */
export type HashBases = readonly [number, number];
export const randomBases = (): HashBases => [randomInt(1 << 17, PRIME - 1), randomInt(1 << 17, PRIME - 1)];

/** A table of needles. Its buffers can be transferred to another thread. */
export interface Needles {
  /** A bit for each hash of the four units that a needle begins with. */
  readonly begins: Uint8Array;
  /** The distinct lengths of needles, ascending. */
  readonly lengths: Uint32Array;
  /** A hash table with open addressing: needles and marks. A length of 0 is a free slot. */
  readonly hashes: Float64Array;
  readonly sizes: Uint32Array;
  /** The length of the longest needle that the needle or mark begins with. */
  readonly best: Uint32Array;
}

export const bytesOf = ({ begins, lengths, hashes, sizes, best }: Needles): number =>
  begins.byteLength + lengths.byteLength + hashes.byteLength + sizes.byteLength + best.byteLength;

export const buffersOf = ({ begins, lengths, hashes, sizes, best }: Needles): ArrayBuffer[] =>
  [begins, lengths, hashes, sizes, best].map(({ buffer }) => buffer as ArrayBuffer);

export function needlesOf(wanted: Iterable<string>, bases: HashBases): Needles {
  const needles = [...new Set(wanted)].filter((text) => text.length >= KEY_UNITS).sort((a, b) => a.length - b.length);
  const begins = new Uint8Array(0x10000 / 8);
  const lengths = Uint32Array.from(new Set(needles.map(({ length }) => length)));
  const entries = new Map<number, { readonly size: number; readonly best: number }>();
  let marks = new Set<number>();
  let longest = 0;
  for (const needle of needles) {
    const key = hashOfKey(needle, 0);
    begins[key >> 3]! |= 1 << (key & 7);
    if (needle.length > longest) {
      longest = needle.length;
      marks = marksOf(lengths, longest);
    }
    let [first, second, next, best] = [0, 0, 0, 0];
    for (let at = 0; at < needle.length; at++) {
      const unit = needle.charCodeAt(at) + 1;
      first = mulAdd(first, bases[0], unit);
      second = mulAdd(second, bases[1], unit);
      const size = at + 1;
      if (size !== lengths[next]) continue;
      next++;
      const hash = first * SECOND_HASH_FACTOR + second;
      // Needles arrive sorted by length: all that this one can begin with are there.
      best = size === needle.length ? size : (entries.get(hash)?.best ?? best);
      const isNew = size === needle.length || (marks.has(size) && !entries.has(hash));
      if (isNew) entries.set(hash, { size, best });
    }
  }
  return { begins, lengths, ...toHashTable(entries) };
}

/** The shorter lengths that the binary search for a length passes. */
function marksOf(lengths: Uint32Array, wanted: number): Set<number> {
  const marks = new Set<number>();
  for (let [low, high] = [0, lengths.length - 1]; low <= high; ) {
    const middle = (low + high) >> 1;
    const length = lengths[middle]!;
    if (length === wanted) break;
    if (length > wanted) high = middle - 1;
    else {
      marks.add(length);
      low = middle + 1;
    }
  }
  return marks;
}

function toHashTable(entries: ReadonlyMap<number, { readonly size: number; readonly best: number }>) {
  const slots = 2 ** Math.ceil(Math.log2(2 * entries.size + 2));
  const hashes = new Float64Array(slots);
  const sizes = new Uint32Array(slots);
  const best = new Uint32Array(slots);
  for (const [hash, entry] of entries) {
    let at = slotOf(hash, slots);
    while (sizes[at] !== 0) at = (at + 1) & (slots - 1);
    hashes[at] = hash;
    sizes[at] = entry.size;
    best[at] = entry.best;
  }
  return { hashes, sizes, best };
}

/** `slots` is a power of two. */
const slotOf = (hash: number, slots: number): number => {
  const first = Math.floor(hash / SECOND_HASH_FACTOR);
  return (first ^ Math.imul(hash - first * SECOND_HASH_FACTOR, 0x9e3779b1)) & (slots - 1);
};

/** `a * b + c` modulo PRIME. */
function mulAdd(a: number, b: number, c: number): number {
  const value = a * b + c;
  // The quotient may be off by one, since INVERSE is rounded.
  const rest = value - Math.floor(value * INVERSE) * PRIME;
  return rest < 0 ? rest + PRIME : rest >= PRIME ? rest - PRIME : rest;
}

export interface Search {
  has(text: string): Interruptible<boolean>;
  replace(text: string, by: string): Interruptible<string>;
}

/** Searches for the needles of all tables, which were built with these bases. */
export function searchOf(given: readonly Needles[], bases: HashBases): Search {
  const tables = given.filter(({ lengths }) => lengths.length > 0);
  const begins = new Uint8Array(0x10000 / 8);
  for (const table of tables) for (let at = 0; at < begins.length; at++) begins[at]! |= table.begins[at]!;
  const longest = tables.reduce((most, { lengths }) => Math.max(most, lengths.at(-1)!), 0);
  const windowUnits = Math.max(WINDOW_UNITS, 2 * longest);
  // Across all texts, since a value may have many short ones.
  let work = 0;

  /** The length of the longest needle of a table at the position; 0 if there is none. */
  const lengthIn = (table: Needles, text: string, at: number, hashes: TextHashes): number => {
    const { lengths, sizes, best } = table;
    const mask = sizes.length - 1;
    let found = 0;
    for (let [low, high] = [0, lengths.length - 1]; low <= high; ) {
      const middle = (low + high) >> 1;
      const size = lengths[middle]!;
      let place = -1;
      if (at + size <= text.length) {
        work++;
        const hash = hashes.hashAt(at, size);
        place = slotOf(hash, sizes.length);
        while (sizes[place] !== 0 && !(sizes[place] === size && table.hashes[place] === hash))
          place = (place + 1) & mask;
        if (sizes[place] === 0) place = -1;
      }
      if (place < 0) high = middle - 1;
      else {
        found = best[place]!;
        low = middle + 1;
      }
    }
    return found;
  };

  /** Yields each match, and `undefined` where it may be interrupted. */
  function* walk(text: string): Generator<{ readonly at: number; readonly length: number } | undefined, void> {
    let hashes: TextHashes | undefined;
    const last = text.length - KEY_UNITS;
    for (let at = 0; at <= last; at++) {
      if (++work > WORK_PER_SLICE) {
        work = 0;
        yield undefined;
      }
      const key = hashOfKey(text, at);
      if ((begins[key >> 3]! & (1 << (key & 7))) === 0) continue;
      hashes ??= new TextHashes(text, bases, Math.min(text.length, windowUnits));
      let length = 0;
      for (const table of tables) {
        if ((table.begins[key >> 3]! & (1 << (key & 7))) === 0) continue;
        length = Math.max(length, lengthIn(table, text, at, hashes));
      }
      if (length === 0) continue;
      yield { at, length };
      at += length - 1;
    }
  }

  return {
    *has(text) {
      for (const match of walk(text)) {
        if (match !== undefined) return true;
        yield undefined;
      }
      return false;
    },
    *replace(text, by) {
      const parts: string[] = [];
      let end = 0;
      for (const match of walk(text)) {
        if (match === undefined) {
          yield undefined;
          continue;
        }
        parts.push(text.slice(end, match.at), by);
        end = match.at + match.length;
      }
      return end === 0 ? text : parts.join('') + text.slice(end);
    },
  };
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

/** The hash of any part of a window of the text in constant time. The window moves on with the positions. */
class TextHashes {
  readonly #text: string;
  readonly #bases: HashBases;
  readonly #first: Float64Array;
  readonly #second: Float64Array;
  readonly #firstPowers: Float64Array;
  readonly #secondPowers: Float64Array;
  /** Where the window begins, and how many units of it have their hashes. */
  #from = 0;
  #units = 0;

  constructor(text: string, bases: HashBases, units: number) {
    this.#text = text;
    this.#bases = bases;
    this.#first = new Float64Array(units + 1);
    this.#second = new Float64Array(units + 1);
    this.#firstPowers = powersOf(bases[0], units);
    this.#secondPowers = powersOf(bases[1], units);
  }

  /** Positions do not decrease by more than they stay within the window. */
  hashAt(at: number, length: number): number {
    if (at + length - this.#from >= this.#first.length) {
      this.#from = at;
      this.#units = 0;
    }
    const start = at - this.#from;
    const end = start + length;
    if (end > this.#units) this.#extend(end);
    const first = this.#first[end]! - mulAdd(this.#first[start]!, this.#firstPowers[length]!, 0);
    const second = this.#second[end]! - mulAdd(this.#second[start]!, this.#secondPowers[length]!, 0);
    return (first < 0 ? first + PRIME : first) * SECOND_HASH_FACTOR + (second < 0 ? second + PRIME : second);
  }

  #extend(to: number): void {
    for (let at = this.#units; at < to; at++) {
      const unit = this.#text.charCodeAt(this.#from + at) + 1;
      this.#first[at + 1] = mulAdd(this.#first[at]!, this.#bases[0], unit);
      this.#second[at + 1] = mulAdd(this.#second[at]!, this.#bases[1], unit);
    }
    this.#units = to;
  }
}

const powers = new Map<number, Float64Array>();

/** The powers of a base from 0 to `maxExponent`, and perhaps more. They are kept, as a process has two bases. */
function powersOf(base: number, maxExponent: number): Float64Array {
  const known = powers.get(base);
  if (known !== undefined && known.length > maxExponent) return known;
  const table = new Float64Array(Math.max(maxExponent, WINDOW_UNITS) + 1);
  table[0] = 1;
  for (let at = 1; at < table.length; at++) table[at] = mulAdd(table[at - 1]!, base, 0);
  powers.set(base, table);
  return table;
}
