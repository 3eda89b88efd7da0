/** JSON from outside: strict, bounded in depth, and without keys that would reach prototypes or break stores. */

import { FORBIDDEN_KEYS, hasLoneSurrogate } from '../../definition/document/vet.ts';
import { MAX_NESTING, tooDeepAt } from '../../json/depth.ts';
import type { Json } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { HttpProblem } from './http-problem.ts';

/**
 * The value of a JSON text in UTF-8.
 * @throws HttpProblem `invalid_json`, `too_deep`, `forbidden_key`, `invalid_name`.
 */
export const parseJson = (bytes: Uint8Array): Json => parseJsonText(decodeText(bytes));

/** The value of a JSON text. @throws HttpProblem `invalid_json`, `too_deep`, `forbidden_key`, `invalid_name`. */
export function parseJsonText(text: string): Json {
  if (tooDeepAt(text) !== undefined)
    throw new HttpProblem('too_deep', `The JSON is nested deeper than ${MAX_NESTING} levels.`);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new HttpProblem('invalid_json', `The body is not valid JSON${placeOf(error)}.`, { cause: error });
  }
  if (mayHoldRefusedKey(text)) checkKeys(value);
  return value;
}

/** Whether the text may hold a refused key, as it is or by an escape. */
function mayHoldRefusedKey(text: string): boolean {
  return text.includes('\\u') || [...FORBIDDEN_KEYS].some((key) => text.includes(key));
}

/** @throws HttpProblem `invalid_json` where the bytes are not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new HttpProblem('invalid_json', 'The body is not text in UTF-8.', { cause: error });
  }
}

/** Refuses forbidden keys. Walks without recursion. */
export function checkKeys(value: Json): void {
  const open: JsonPosition[] = [{ value }];
  for (let here = open.pop(); here !== undefined; here = open.pop()) {
    const { value: held } = here;
    if (Array.isArray(held)) {
      for (let at = 0; at < held.length; at++) {
        const member = held[at];
        if (typeof member === 'object' && member !== null) open.push({ value: member, key: at, within: here });
      }
      continue;
    }
    if (typeof held !== 'object' || held === null) continue;
    for (const key of Object.keys(held)) {
      if (FORBIDDEN_KEYS.has(key))
        refuseKey('forbidden_key', `The key ${key} is not allowed.`, childPointer(pointerOf(here), key));
      if (key.includes('\0') || hasLoneSurrogate(key))
        refuseKey('invalid_name', 'A key holds a NUL or half a surrogate pair.', pointerOf(here));
      const member = held[key];
      if (typeof member === 'object' && member !== null) open.push({ value: member, key, within: here });
    }
  }
}

/** A value within a document. Its pointer is built only for a problem. */
interface JsonPosition {
  readonly value: Json;
  readonly key?: string | number;
  readonly within?: JsonPosition;
}

function pointerOf({ key, within }: JsonPosition): string {
  return within === undefined || key === undefined ? '' : childPointer(pointerOf(within), key);
}

function refuseKey(code: 'forbidden_key' | 'invalid_name', message: string, pointer: string): never {
  throw new HttpProblem(code, message, { problems: [{ pointer, code, message }] });
}

/** Reports only the place: the parser's message quotes the body, which may hold secrets. */
function placeOf(error: unknown): string {
  const place = error instanceof Error ? /position (\d+)/.exec(error.message) : null;
  return place === null ? '' : ` (at character ${place[1]})`;
}
