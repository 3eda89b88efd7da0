/**
 * Secret values taken out of what an effect gives back (E7): as they are, and as they look in URLs, forms, JSON and HTML
 * texts, hexadecimal digits, and base64, where a value inside a longer text has three shapes.
 */
import { SHORTEST_SECRET_CHARACTERS } from '../src/definition/limits.ts';
import type { Json } from '../src/template/types.ts';

export const SCRUBBED = '[secret]';
/** A base64 shape shorter than this would be found in any text. */
const SHORTEST_BASE64 = 8;

export interface Scrub {
  text(text: string): string;
  json(value: Json): Json;
}

export function scrubOf(values: readonly string[]): Scrub {
  const shapes = [...new Set(values.filter((value) => value.length >= SHORTEST_SECRET_CHARACTERS).flatMap(shapesOf))]
    .filter((shape) => shape.length >= SHORTEST_SECRET_CHARACTERS)
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
  const inPath = new URL(`http://x/${value}`).href.slice('http://x/'.length);
  const inJson = JSON.stringify(value).slice(1, -1);
  const twiceInJson = JSON.stringify(inJson).slice(1, -1);
  const hex = Buffer.from(value).toString('hex');
  return [
    value,
    value.trim(),
    // As the host of a URL.
    value.toLowerCase(),
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    form,
    inUrl,
    inPath,
    inJson,
    twiceInJson,
    // As other languages write JSON.
    inJson.replaceAll('/', '\\/'),
    asciiOf(inJson),
    asciiOf(inJson.replaceAll('/', '\\/')),
    ...htmlShapes(value),
    hex,
    hex.toUpperCase(),
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

/** Every unit that is not ASCII by its number, as many encoders write JSON. */
function asciiOf(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** An echo in a web page: quotes have more than one name. */
function htmlShapes(value: string): string[] {
  const inText = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = inText.replaceAll('"', '&quot;');
  return [inText, quoted, ...['&#39;', '&#x27;', '&#039;'].map((quote) => quoted.replaceAll("'", quote))];
}

/** Lone surrogates have no percent form; the value itself is scrubbed all the same. */
function encodeURIComponentSafe(value: string): string {
  return encodeURIComponent(Buffer.from(value).toString());
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
