/**
 * How a secret looks in what comes back from the other side: as it is, in a URL, a form, a JSON text; and each of these once
 * more written into JSON, HTML or a URL, as servers do that tell what they were asked.
 */
import { isUtf8 } from 'node:buffer';

/** Parts of a secret that are shorter than this would be found in any text. */
const SHORTEST_PART = 8;
/** A plain part that is shorter than this stands for too little of a secret. */
const SHORTEST_PLAIN = 5;

export function shapesOf(value: string): string[] {
  const written = partsOf(value).flatMap((part) => [
    part,
    part.trim(),
    // As the host of a URL.
    part.toLowerCase(),
    percentOf(part),
    new URLSearchParams([['', part]]).toString().slice(1),
    new URL(`http://x/?${part.replaceAll('#', '%23')}`).search.slice(1),
    new URL(`http://x/${part}`).href.slice('http://x/'.length),
    jsonOf(part),
  ]);
  return written.flatMap((shape) => [shape, ...rewritten(shape)]);
}

/** A line of a key in several lines, as PEM writes it, and not the words around it. */
const KEY_LINE = /^[A-Za-z0-9+/=_-]{24,}$/;

/** The value, and what others know it by: of a URL its path alone, of a key its lines, of base64 what it encodes. */
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
  return [value, ...parts.filter((part) => part.length >= SHORTEST_PART)];
}

function rewritten(shape: string): string[] {
  const json = jsonOf(shape);
  const percent = percentOf(shape);
  const html = shape.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = html.replaceAll('"', '&quot;');
  return [
    json,
    // As other languages write JSON.
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
 * What base64 and hexadecimal digits of a text that holds the value have in them, whatever stands around it: those of its
 * longest plain part, which no URL, JSON or HTML text writes otherwise.
 */
export function encodingsOf(value: string): string[] {
  return partsOf(value).flatMap((part) => {
    const plain = [...part.matchAll(/[A-Za-z0-9]+/g)].map(([word]) => word);
    const longest = plain.reduce((best, word) => (word.length > best.length ? word : best), '');
    const cores = longest.length >= SHORTEST_PLAIN ? [longest] : [part, jsonOf(part), percentOf(part)];
    return cores.flatMap((core) => {
      const hex = Buffer.from(core).toString('hex');
      return [hex, hex.toUpperCase(), ...base64Of(core)];
    });
  });
}

/** The part of the base64 text that is the same whatever stands before and after, for each of its three offsets. */
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

/** Every unit that is not ASCII by its number, as many encoders write JSON. */
const asciiOf = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Lone surrogates have no percent form; the value itself is scrubbed all the same. */
const percentOf = (text: string): string => encodeURIComponent(Buffer.from(text).toString());
