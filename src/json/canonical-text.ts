/** Canonical JSON (RFC 8785), for hashing, comparing and deduplicating values. */
import { isObject, type Json } from './json.ts';

/**
 * The value as RFC 8785 writes it: keys sorted by UTF-16 code units, numbers and strings as ECMAScript prints them, no
 * white space. Undefined members are left out.
 */
export function canonicalText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalText(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** Characters of a chunk, unless one text is longer. */
const CHUNK_LENGTH = 16_384;

/** As `canonicalText`, in chunks of the text, in order. */
export function* canonicalChunks(value: Json): Generator<string, void> {
  const chunk = { text: '' };
  yield* write(value, chunk);
  yield chunk.text;
}

function* write(value: Json, chunk: { text: string }): Generator<string, void> {
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) {
    chunk.text += canonicalText(value);
    return;
  }
  const keys = isList ? value.keys() : Object.keys(value).sort();
  let before = isList ? '[' : '{';
  let isEmpty = true;
  for (const key of keys) {
    const member = (value as { readonly [key: string | number]: Json | undefined })[key];
    if (member === undefined && !isList) continue;
    chunk.text += isList ? before : `${before}${JSON.stringify(key)}:`;
    before = ',';
    isEmpty = false;
    yield* write(member ?? null, chunk);
    if (chunk.text.length >= CHUNK_LENGTH) {
      yield chunk.text;
      chunk.text = '';
    }
  }
  chunk.text += `${isEmpty ? before : ''}${isList ? ']' : '}'}`;
}
