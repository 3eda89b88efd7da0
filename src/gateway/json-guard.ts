/** JSON from outside: strict, bounded in depth, and without keys that would reach prototypes or break stores. */
import { MAX_NESTING } from '../definition/limits.ts';
import { below } from '../definition/pointer.ts';
import { FORBIDDEN_KEYS, hasLoneSurrogate } from '../definition/vet.ts';
import type { Json } from '../template/types.ts';
import { HttpProblem } from './problem.ts';

/**
 * The value of a JSON text in UTF-8.
 * @throws HttpProblem `invalid_json`, `too_deep`, `forbidden_key`, `invalid_name`.
 */
export function parseJson(bytes: Uint8Array): Json {
  const text = decodeText(bytes);
  // Before parsing: what nests a million deep is not even built.
  if (nestsTooDeep(text)) throw new HttpProblem('too_deep', `The JSON is nested deeper than ${MAX_NESTING} levels.`);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new HttpProblem('invalid_json', `The body is not valid JSON${placeOf(error)}.`, { cause: error });
  }
  checkKeys(value);
  return value;
}

/** @throws HttpProblem `invalid_json` where the bytes are not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new HttpProblem('invalid_json', 'The body is not text in UTF-8.', { cause: error });
  }
}

/** Refuses keys that no document of ours may have. Walks without recursion. */
export function checkKeys(value: Json): void {
  const open: { value: Json; at: string }[] = [{ value, at: '' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: here, at } = next;
    if (typeof here !== 'object' || here === null) continue;
    for (const [key, member] of Object.entries(here)) {
      const pointer = below(at, key);
      if (FORBIDDEN_KEYS.has(key)) refuseKey('forbidden_key', `The key ${key} is not allowed.`, pointer);
      if (key.includes('\0') || hasLoneSurrogate(key))
        refuseKey('invalid_name', 'A key holds a NUL or half a surrogate pair.', at);
      if (typeof member === 'object' && member !== null) open.push({ value: member, at: pointer });
    }
  }
}

function refuseKey(code: 'forbidden_key' | 'invalid_name', message: string, pointer: string): never {
  throw new HttpProblem(code, message, { problems: [{ pointer, code, message }] });
}

/** Counts brackets outside of strings; whether the text is JSON at all, the parser says. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        for (i++; i < text.length && text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        if (depth > MAX_NESTING) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
    }
  }
  return false;
}

/** Only the place is told: the parser's message quotes the body, which may hold secrets. */
function placeOf(error: unknown): string {
  const place = error instanceof Error ? /position (\d+)/.exec(error.message) : null;
  return place === null ? '' : ` (at character ${place[1]})`;
}
