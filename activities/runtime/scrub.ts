/** Removes secrets from the result of an activity (E7), in every shape of scrub-shapes.ts and inside base64. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Json, type JsonObject, setOwn } from '../../src/json/json.ts';
import { type HashBases, type Interruptible, runToCompletion, type Search, searchOf } from './scrub-search.ts';
import type { ScrubTable } from './scrub-table.ts';

const SCRUBBED = '[secret]';

/** Base64 or hexadecimal digits that are long enough for the shortest secret. */
const ENCODED_RUN = /[A-Za-z0-9+/_-]{6,}={0,2}/g;
const HEX = /^[0-9a-f]+$/i;

export interface Scrub {
  text(text: string): string;
  json(value: Json): Json;
  /** For a value that may be large: other activities of the process run meanwhile. */
  jsonInSlices(value: Json): Promise<Json>;
  /** Scrubs the beginning of a longer text and drops its end, where a secret may have begun. */
  beginning(text: string): string;
}

/** The tables were built with these bases. */
export function scrubOf(tables: readonly ScrubTable[], bases: HashBases): Scrub {
  if (tables.length === 0) {
    const unchanged = (text: string): string => text;
    return { text: unchanged, json: (value) => value, jsonInSlices: async (value) => value, beginning: unchanged };
  }
  const search = searchOf(
    tables.map(({ shapes }) => shapes),
    bases,
  );
  const encodedSearch = searchOf(
    tables.map(({ encodings }) => encodings),
    bases,
  );
  const clean = (given: string): Interruptible<string> => scrubText(given, search, encodedSearch);
  // No encoding of a shape is longer than its hexadecimal digits plus the characters that touch them.
  const longest = 2 * tables.reduce((most, { longestBytes }) => Math.max(most, longestBytes), 0) + 8;
  return {
    text: (given) => runToCompletion(clean(given)),
    json: (value) => runToCompletion(cleanJson(value, clean)),
    async jsonInSlices(value) {
      const steps = cleanJson(value, clean);
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
        await nextTurn();
      }
    },
    beginning: (given) => runToCompletion(clean(given)).slice(0, -longest),
  };
}

function* scrubText(given: string, search: Search, encodedSearch: Search): Interruptible<string> {
  const clear = yield* search.replace(given, SCRUBBED);
  // Decoding every word takes a second for a megabyte.
  if (!(yield* encodedSearch.has(clear))) return clear;
  const parts: string[] = [];
  let end = 0;
  for (const { 0: run, index } of clear.matchAll(ENCODED_RUN)) {
    if (!(yield* hidesSecret(run, search, encodedSearch))) continue;
    parts.push(clear.slice(end, index), SCRUBBED);
    end = index + run.length;
  }
  return end === 0 ? clear : parts.join('') + clear.slice(end);
}

function* hidesSecret(run: string, search: Search, encodedSearch: Search): Interruptible<boolean> {
  if (!(yield* encodedSearch.has(run))) return false;
  for (const decoded of decodings(run)) if (yield* search.has(decoded)) return true;
  return false;
}

/**
 * The texts that a sequence of letters and digits may encode. Preceding characters may touch it, so each offset is
 * tried.
 */
function* decodings(run: string): Generator<string> {
  for (const from of [0, 1, 2, 3]) yield Buffer.from(run.slice(from), 'base64').toString();
  if (HEX.test(run)) for (const from of [0, 1]) yield Buffer.from(run.slice(from), 'hex').toString();
}

function* cleanJson(value: Json, clean: (given: string) => Interruptible<string>): Interruptible<Json> {
  if (typeof value === 'string') return yield* clean(value);
  if (typeof value === 'number') return (yield* clean(String(value))) === String(value) ? value : SCRUBBED;
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) items.push(yield* cleanJson(item, clean));
    return items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const members: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    setOwn(members, yield* clean(key), yield* cleanJson(member, clean));
  }
  return members;
}
