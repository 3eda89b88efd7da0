/** JSON from outside: strict, bounded in depth, and without keys that would reach prototypes or break stores. */

import { FORBIDDEN_KEYS, hasLoneSurrogate } from '../../definition/document/vet.ts';
import { MAX_NESTING, tooDeepAt } from '../../json/depth.ts';
import type { Json } from '../../json/json.ts';
import { lostNumbers, type WrittenNumber } from '../../json/json-text.ts';
import { childPointer } from '../../json/pointer.ts';
import { HttpProblem } from './http-problem.ts';

/**
 * What becomes of whole numbers that would be rounded, since they are beyond 2^53: they are refused; read as texts of
 * their digits, where the sender cannot be told; or rounded, where somebody else says so.
 */
export type LongNumbers = 'refused' | 'texts' | 'rounded';

/** The value of a JSON text in UTF-8. @throws HttpProblem, those of parseJsonText. */
export const parseJson = (bytes: Uint8Array, long?: LongNumbers): Json => parseJsonText(decodeText(bytes), long);

/**
 * The value of a JSON text.
 * @throws HttpProblem `invalid_json`, `too_deep`, `forbidden_key`, `invalid_name`, `number_too_long`.
 */
export function parseJsonText(text: string, long: LongNumbers = 'refused'): Json {
  if (tooDeepAt(text) !== undefined)
    throw new HttpProblem('too_deep', `The JSON is nested deeper than ${MAX_NESTING} levels.`);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new HttpProblem('invalid_json', `The body is not valid JSON${placeOf(error)}.`, { cause: error });
  }
  if (mayHoldRefusedKey(text)) checkKeys(value);
  const lost = long === 'rounded' ? [] : lostNumbers(text);
  if (lost.length === 0) return value;
  const [first] = long === 'refused' ? lost : lost.filter(({ written }) => !Number.isFinite(Number(written)));
  if (first !== undefined) throw tooLong(first);
  return JSON.parse(quoted(text, lost)) as Json;
}

function tooLong({ pointer, offset, written }: WrittenNumber): HttpProblem {
  const code = 'number_too_long';
  const message = Number.isFinite(Number(written))
    ? 'The number would be rounded, since it is beyond 2^53. Send it as a text.'
    : 'The number is larger than any that can be kept.';
  const detail = `${message} It is at ${pointer || '/'} (at character ${offset}).`;
  return new HttpProblem(code, detail, { problems: [{ pointer, code, message }] });
}

/** The text with these numbers in quotes. */
function quoted(text: string, numbers: readonly WrittenNumber[]): string {
  let result = '';
  let done = 0;
  for (const { offset, written } of numbers) {
    result += `${text.slice(done, offset)}"${written}"`;
    done = offset + written.length;
  }
  return result + text.slice(done);
}

/** Of a query, whose parser leaves out `state[__proto__]` without a word. @throws HttpProblem `forbidden_key`. */
export function checkParameters(query: string): void {
  for (const name of new URLSearchParams(query).keys()) {
    const refused = name.split(/[[\]]+/).find((part) => FORBIDDEN_KEYS.has(part));
    if (refused !== undefined)
      throw new HttpProblem('forbidden_key', `The key ${refused} is not allowed in the query.`);
  }
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
