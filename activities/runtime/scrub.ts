/** Removes secrets from the result of an activity (E7), in every shape of scrub-shapes.ts and inside base64. */
import { SHORTEST_SECRET_CHARACTERS } from '../../src/definition/document/limits.ts';
import { type Json, type JsonObject, setOwn } from '../../src/json/json.ts';
import { searchOf } from './scrub-search.ts';
import { encodingsOf, shapesOf } from './scrub-shapes.ts';

const SCRUBBED = '[secret]';

/** Base64 or hexadecimal digits that are long enough for the shortest secret. */
const ENCODED = /[A-Za-z0-9+/_-]{6,}={0,2}/g;
const HEX = /^[0-9a-f]+$/i;

export interface Scrub {
  text(text: string): string;
  json(value: Json): Json;
  /** Scrubs the beginning of a longer text and drops its end, where a secret may have begun. */
  beginning(text: string): string;
}

export function scrubOf(values: readonly string[]): Scrub {
  const secrets = values.filter((value) => value.length >= SHORTEST_SECRET_CHARACTERS);
  const shapes = [...new Set(secrets.flatMap(shapesOf))].filter((shape) => shape.length >= SHORTEST_SECRET_CHARACTERS);
  if (shapes.length === 0) {
    const same = (text: string): string => text;
    return { text: same, json: (value) => value, beginning: same };
  }
  const search = searchOf(shapes);
  const hint = searchOf(secrets.flatMap(encodingsOf));
  const hides = (run: string): boolean => hint.has(run) && decodings(run).some((decoded) => search.has(decoded));
  const text = (given: string): string => {
    const clear = search.replace(given, SCRUBBED);
    // Decoding every word takes a second for a megabyte.
    return hint.has(clear) ? clear.replace(ENCODED, (run) => (hides(run) ? SCRUBBED : run)) : clear;
  };
  // No encoding of a shape is longer than its hexadecimal digits plus the characters that touch them.
  const longest = 2 * shapes.reduce((most, shape) => Math.max(most, Buffer.byteLength(shape)), 0) + 8;
  return {
    text,
    json: (value) => scrubJson(value, text),
    beginning: (given) => text(given).slice(0, -longest),
  };
}

/**
 * The texts that a sequence of letters and digits may encode. Preceding characters may touch it, so each offset is
 * tried.
 */
function decodings(run: string): string[] {
  const base64 = [0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), 'base64').toString());
  if (!HEX.test(run)) return base64;
  return [...base64, ...[0, 1].map((from) => Buffer.from(run.slice(from), 'hex').toString())];
}

function scrubJson(value: Json, text: (given: string) => string): Json {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return text(String(value)) === String(value) ? value : SCRUBBED;
  if (Array.isArray(value)) return value.map((item) => scrubJson(item, text));
  if (typeof value !== 'object' || value === null) return value;
  const members: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    setOwn(members, text(key), scrubJson(member, text));
  }
  return members;
}
