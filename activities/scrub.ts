/**
 * Secret values taken out of what an effect gives back (E7): as they are, and as they look in URLs, forms, JSON texts,
 * and base64, where a value inside a longer text has three shapes.
 */
import type { Json } from '../src/template/types.ts';

export const SCRUBBED = '[secret]';
/** Shorter values cannot be told from other text. */
export const SHORTEST_SCRUBBED = 4;
/** A base64 shape shorter than this would be found in any text. */
const SHORTEST_BASE64 = 8;

export interface Scrub {
  text(text: string): string;
  json(value: Json): Json;
}

export function scrubOf(values: readonly string[]): Scrub {
  const shapes = [...new Set(values.filter((value) => value.length >= SHORTEST_SCRUBBED).flatMap(shapesOf))]
    .filter((shape) => shape.length >= SHORTEST_SCRUBBED)
    .sort((a, b) => b.length - a.length);
  if (shapes.length === 0) return { text: (text) => text, json: (value) => value };
  const pattern = new RegExp(shapes.map(escaped).join('|'), 'g');
  const text = (given: string): string => given.replace(pattern, SCRUBBED);
  return { text, json: (value) => scrubJson(value, text) };
}

function scrubJson(value: Json, text: (given: string) => string): Json {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return text(String(value)) === String(value) ? value : SCRUBBED;
  if (Array.isArray(value)) return value.map((item) => scrubJson(item, text));
  if (typeof value !== 'object' || value === null) return value;
  const members: { [key: string]: Json } = {};
  for (const [key, member] of Object.entries(value)) {
    // An own property whatever the name is: `__proto__` is data here.
    const property = { value: scrubJson(member, text), enumerable: true, writable: true, configurable: true };
    Object.defineProperty(members, text(key), property);
  }
  return members;
}

function shapesOf(value: string): string[] {
  const percent = encodeURIComponentSafe(value);
  const form = new URLSearchParams([['', value]]).toString().slice(1);
  const inUrl = new URL(`http://x/?${value.replaceAll('#', '%23')}`).search.slice(1);
  const inJson = JSON.stringify(value).slice(1, -1);
  const twiceInJson = JSON.stringify(inJson).slice(1, -1);
  return [
    value,
    value.trim(),
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    form,
    inUrl,
    inJson,
    twiceInJson,
    Buffer.from(value).toString('hex'),
    ...base64Shapes(value),
  ];
}

/** The part of the base64 text that is the same whatever stands before and after the value, for each of its three offsets. */
function base64Shapes(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const before = offset === 0 ? 0 : offset + 1;
    const isWhole = (offset + bytes.length) % 3 === 0;
    const inner = encoded.slice(before, isWhole ? undefined : -1);
    if (inner.length < SHORTEST_BASE64) return [];
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** Lone surrogates have no percent form; the value itself is scrubbed all the same. */
function encodeURIComponentSafe(value: string): string {
  return encodeURIComponent(Buffer.from(value).toString());
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
