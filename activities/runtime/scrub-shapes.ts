/**
 * The shapes of a secret in a response: as it is, in a URL, in a form, in JSON; and each of these escaped once more for
 * JSON, HTML or a URL, because servers repeat requests in their responses.
 *
 * The whole value is always looked for, in all shapes. Its significant parts are looked for up to the limits below,
 * in the order of partsOf. Without them a text of 64 KB that is many small ones in base64 would have 300,000 shapes.
 */
import { isUtf8 } from 'node:buffer';
import { MIN_SECRET_CHARACTERS } from '../../src/definition/document/limits.ts';

/** Shorter parts of a secret would match in any text. */
const MIN_PART_CHARACTERS = 8;
/** A shorter alphanumeric part says too little about a secret. */
const MIN_PLAIN_CHARACTERS = 5;
/** Distinct shapes of all parts, and their characters. A key of 64 KB has a thousand lines of twenty shapes each. */
const MAX_PART_SHAPES = 40_000;
const MAX_PART_CHARACTERS = 16_000_000;
/** Of such a value every shape takes less than three milliseconds together. */
const MAX_INLINE_CHARACTERS = 1_000;
const MAX_INLINE_PARTS = 12;

interface ScrubTexts {
  /** Texts that are replaced. */
  readonly shapes: ReadonlySet<string>;
  /** Digits of base64 and hexadecimal that any encoded text with a shape in it contains. */
  readonly encodings: ReadonlySet<string>;
}

export function scrubTextsOf(value: string): ScrubTexts {
  const shapes = new Set<string>();
  const encodings = new Set<string>(encodingsOf(value));
  const isShape = (shape: string): boolean => shape.length >= MIN_SECRET_CHARACTERS;
  for (const shape of shapesOf(value)) if (isShape(shape)) shapes.add(shape);
  let count = 0;
  let characters = 0;
  for (const part of partsOf(value)) {
    if (count >= MAX_PART_SHAPES) break;
    const own = [...new Set(shapesOf(part))].filter((shape) => isShape(shape) && !shapes.has(shape));
    const length = own.reduce((sum, shape) => sum + shape.length, 0);
    if (count + own.length > MAX_PART_SHAPES || characters + length > MAX_PART_CHARACTERS) continue;
    count += own.length;
    characters += length;
    for (const shape of own) shapes.add(shape);
    for (const encoding of encodingsOf(part)) encodings.add(encoding);
  }
  return { shapes, encodings };
}

/** Whether the shapes of the value take so little time that no thread is needed for them. */
export const canBuildInline = (value: string): boolean =>
  value.length <= MAX_INLINE_CHARACTERS && partsOf(value).length <= MAX_INLINE_PARTS;

function shapesOf(part: string): string[] {
  const written = [
    part,
    part.trim(),
    // As the host of a URL.
    part.toLowerCase(),
    percentOf(part),
    new URLSearchParams([['', part]]).toString().slice(1),
    new URL(`http://x/?${part.replaceAll('#', '%23')}`).search.slice(1),
    new URL(`http://x/${part}`).href.slice('http://x/'.length),
    jsonOf(part),
  ];
  return [...new Set(written)].flatMap((shape) => [shape, ...escapedForms(shape)]);
}

/** A line of a PEM key, but not the words around it. */
const KEY_LINE = /^[A-Za-z0-9+/=_-]{24,}$/;

/** The significant parts of a value: the path of a URL, the lines of a key, the decoded text of base64. */
function partsOf(value: string): string[] {
  const parts: string[] = [];
  if (/^https?:\/\//i.test(value) && URL.canParse(value)) {
    const { pathname, search, username, password } = new URL(value);
    parts.push(`${pathname}${search}`, pathname, pathname.slice(1), search.slice(1), username, password);
  }
  const lines = value.split(/\r?\n/);
  if (lines.length > 1) parts.push(...lines.map((line) => line.trim()).filter((line) => KEY_LINE.test(line)));
  for (const [encoded] of value.matchAll(/[A-Za-z0-9+/_-]{8,}/g)) {
    const bytes = Buffer.from(encoded, 'base64');
    if (isUtf8(bytes)) parts.push(bytes.toString());
  }
  return [...new Set(parts)].filter((part) => part.length >= MIN_PART_CHARACTERS);
}

function escapedForms(shape: string): string[] {
  const json = jsonOf(shape);
  const percent = percentOf(shape);
  const html = shape.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = html.replaceAll('"', '&quot;');
  return [
    json,
    // The JSON encoders of other languages.
    json.replaceAll('/', '\\/'),
    asciiOf(json),
    asciiOf(json.replaceAll('/', '\\/')),
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    html,
    quoted,
    ...['&#39;', '&#x27;', '&#039;'].map((quote) => quoted.replaceAll("'", quote)),
  ];
}

/**
 * The base64 and hexadecimal digits that any encoded text with the value in it contains: those of its longest
 * alphanumeric part, which URL, JSON and HTML leave as it is.
 */
function encodingsOf(part: string): string[] {
  const plain = [...part.matchAll(/[A-Za-z0-9]+/g)].map(([word]) => word);
  const longest = plain.reduce((best, word) => (word.length > best.length ? word : best), '');
  const cores = longest.length >= MIN_PLAIN_CHARACTERS ? [longest] : [part, jsonOf(part), percentOf(part)];
  return cores.flatMap((core) => {
    const hex = Buffer.from(core).toString('hex');
    return [hex, hex.toUpperCase(), ...base64Of(core)];
  });
}

/** The base64 digits that do not depend on the text before and after, for each of the three offsets. */
function base64Of(core: string): string[] {
  const bytes = Buffer.from(core);
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const isWhole = (offset + bytes.length) % 3 === 0;
    const inner = encoded.slice(offset === 0 ? 0 : offset + 1, isWhole ? undefined : -1);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

const jsonOf = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Escapes every unit outside ASCII, as many JSON encoders do. */
const asciiOf = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Lone surrogates have no percent encoding; Buffer replaces them. */
const percentOf = (text: string): string => encodeURIComponent(Buffer.from(text).toString());
