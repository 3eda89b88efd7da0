/** JSON from outside: strict, bounded in depth, and without keys that would reach prototypes or break stores. */

import { FORBIDDEN_KEYS, hasLoneSurrogate } from '../../definition/document/vet.ts';
import { MAX_NESTING, tooDeepAt } from '../../json/depth.ts';
import type { Json } from '../../json/json.ts';
import { inexactNumbers, type NumberLiteral } from '../../json/json-source.ts';
import { childPointer } from '../../json/pointer.ts';
import { HttpProblem } from './http-problem.ts';

/**
 * How whole numbers beyond 2^53 are read: refused; as texts of their digits, where no error reaches the author; or
 * rounded, where another check reports them.
 */
export type LongNumberPolicy = 'refused' | 'texts' | 'rounded';

/** The value of a JSON text in UTF-8. @throws HttpProblem, those of parseJsonText. */
export const parseJson = (bytes: Uint8Array, longNumbers?: LongNumberPolicy): Json =>
  parseJsonText(decodeText(bytes), longNumbers);

/**
 * The value of a JSON text.
 * @throws HttpProblem `invalid_json`, `too_deep`, `forbidden_key`, `invalid_name`, `number_too_long`.
 */
export function parseJsonText(text: string, longNumbers: LongNumberPolicy = 'refused'): Json {
  if (tooDeepAt(text) !== undefined)
    throw new HttpProblem('too_deep', `The JSON is nested deeper than ${MAX_NESTING} levels.`);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new HttpProblem('invalid_json', `The body is not valid JSON${positionOf(error)}.`, { cause: error });
  }
  if (mayHoldRefusedKey(text)) checkKeys(value);
  const inexact = longNumbers === 'rounded' ? [] : inexactNumbers(text);
  if (inexact.length === 0) return value;
  const [first] =
    longNumbers === 'refused' ? inexact : inexact.filter(({ written }) => !Number.isFinite(Number(written)));
  if (first !== undefined) throw tooLong(first);
  return JSON.parse(quoted(text, inexact)) as Json;
}

function tooLong({ pointer, offset, written }: NumberLiteral): HttpProblem {
  const code = 'number_too_long';
  const message = Number.isFinite(Number(written))
    ? 'The number would be rounded, since it is beyond 2^53. Send it as a text.'
    : 'The number is larger than any that can be kept.';
  const detail = `${message} It is at ${pointer || '/'} (at character ${offset}).`;
  return new HttpProblem(code, detail, { problems: [{ pointer, code, message }] });
}

/** The text with these numbers in quotes. */
function quoted(text: string, numbers: readonly NumberLiteral[]): string {
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
  const stack: JsonPosition[] = [{ value }];
  for (let position = stack.pop(); position !== undefined; position = stack.pop()) {
    const { value: container } = position;
    if (Array.isArray(container)) {
      for (let at = 0; at < container.length; at++) {
        const member = container[at];
        if (typeof member === 'object' && member !== null) stack.push({ value: member, key: at, within: position });
      }
      continue;
    }
    if (typeof container !== 'object' || container === null) continue;
    for (const key of Object.keys(container)) {
      if (FORBIDDEN_KEYS.has(key))
        refuseKey('forbidden_key', `The key ${key} is not allowed.`, childPointer(pointerOf(position), key));
      if (key.includes('\0') || hasLoneSurrogate(key))
        refuseKey('invalid_name', 'A key holds a NUL or half a surrogate pair.', pointerOf(position));
      const member = container[key];
      if (typeof member === 'object' && member !== null) stack.push({ value: member, key, within: position });
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

/** Reports only the position: the parser's message quotes the body, which may hold secrets. */
function positionOf(error: unknown): string {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message) : null;
  return position === null ? '' : ` (at character ${position[1]})`;
}
