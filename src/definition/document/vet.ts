/**
 * Checks the form of a document before its meaning: depth, size, and names that are safe for objects, logs and stores.
 * The walk does not recurse, so that it handles any depth.
 */

import { exactJsonBytes } from '../../json/bytes.ts';
import { MAX_NESTING } from '../../json/depth.ts';
import { isObject, type Json } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { MAX_DEFINITION_BYTES, MAX_STEPS } from './limits.ts';
import type { Problem } from './types.ts';

const MAX_REPORTED = 50;
/** The most parts of a pointer in a problem. */
const MAX_POINTER_PARTS = 50;
/** Problems after which the size is not measured. */
const FATAL_CODES: ReadonlySet<string> = new Set(['too_deep', 'not_json', 'definition_too_large']);
/** Names that give access to prototypes. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** A document in which vet() has found no problem. A reader passes it on, so that it is not vetted a second time. */
export class VettedDocument {
  readonly json: Json;
  /** Of the text that was read. Absent where there are none. */
  readonly warnings?: readonly Problem[];

  constructor(json: Json, warnings: readonly Problem[] = []) {
    this.json = json;
    if (warnings.length > 0) this.warnings = warnings.slice(0, MAX_REPORTED);
  }
}

/**
 * Problems of form: `too_deep`, `forbidden_key`, `invalid_name`, `not_json`, `definition_too_large`, `too_many_steps`.
 * Never throws.
 */
export function vet(document: Json): Problem[] {
  const problems = vetTree(document);
  if (problems.some((problem) => FATAL_CODES.has(problem.code))) return problems;
  return [...problems, ...vetSize(document)];
}

/** Reports `definition_too_large`, by the size as JSON. */
export function vetSize(document: Json): Problem[] {
  const size = exactJsonBytes(document);
  return size > MAX_DEFINITION_BYTES ? [tooLarge(`is ${size} bytes of JSON`)] : [];
}

function tooLarge(words: string): Problem {
  return {
    pointer: '',
    code: 'definition_too_large',
    message: `The definition ${words}; at most ${MAX_DEFINITION_BYTES} bytes are allowed.`,
    hint: 'Split it into workflows that call one another (run_workflow), or store texts and tables elsewhere.',
  };
}

/** Reports `too_many_steps`. */
export function vetSteps(count: number, at: string): Problem[] {
  if (count <= MAX_STEPS) return [];
  const message = `The definition has ${count} steps; at most ${MAX_STEPS} are allowed.`;
  return [
    {
      pointer: at,
      code: 'too_many_steps',
      message,
      hint: 'Split it into workflows that call one another (run_workflow).',
    },
  ];
}

interface DocumentPosition {
  readonly value: Json;
  readonly depth: number;
  readonly parent: DocumentPosition | undefined;
  readonly key: string | number;
}

function vetTree(document: Json): Problem[] {
  const problems: Problem[] = [];
  const open: DocumentPosition[] = [{ value: document, depth: 0, parent: undefined, key: '' }];
  // YAML's aliases repeat values, so that the expanded size is counted.
  let characters = 0;
  while (problems.length < MAX_REPORTED) {
    const place = open.pop();
    if (place === undefined) break;
    const { value, depth } = place;
    characters +=
      1 +
      (typeof place.key === 'string' ? place.key.length + 3 : 0) +
      (typeof value === 'string' ? value.length + 2 : 0);
    if (characters > MAX_DEFINITION_BYTES + 10)
      return [...problems, tooLarge(`is larger than ${MAX_DEFINITION_BYTES} bytes of JSON`)];
    if (typeof value !== 'object' || value === null) {
      if (!isJsonScalar(value))
        problems.push({
          pointer: pointerOf(place),
          code: 'not_json',
          message: 'This value cannot be written as JSON.',
        });
      continue;
    }
    if (depth >= MAX_NESTING) {
      const message = `The document is nested deeper than ${MAX_NESTING} levels here.`;
      return [...problems, { pointer: pointerOf(place), code: 'too_deep', message }];
    }
    if (Array.isArray(value)) {
      for (let key = value.length - 1; key >= 0; key--)
        open.push({ value: value[key] ?? null, depth: depth + 1, parent: place, key });
      continue;
    }
    if (!isObject(value)) continue;
    for (const key of Object.keys(value).reverse()) {
      const child: DocumentPosition = { value: value[key] ?? null, depth: depth + 1, parent: place, key };
      const wrong = nameProblem(key);
      if (wrong !== undefined) problems.push({ ...wrong, pointer: pointerOf(child) });
      else open.push(child);
    }
  }
  return problems;
}

function isJsonScalar(value: unknown): boolean {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  );
}

/** The problem of a member's name. */
function nameProblem(name: string): { code: string; message: string } | undefined {
  if (FORBIDDEN_KEYS.has(name))
    return { code: 'forbidden_key', message: `"${name}" is not allowed as the name of a member.` };
  if (name.includes('\u0000')) return { code: 'invalid_name', message: 'A name must not contain the character NUL.' };
  if (hasLoneSurrogate(name))
    return { code: 'invalid_name', message: 'A name must not contain half of a surrogate pair.' };
  return undefined;
}

/** Whether a text has half of a UTF-16 surrogate pair, which UTF-8 cannot encode. */
export function hasLoneSurrogate(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = text.charCodeAt(index + 1);
    if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return true;
    index += 1;
  }
  return false;
}

function pointerOf(place: DocumentPosition): string {
  const keys: (string | number)[] = [];
  for (let here: DocumentPosition | undefined = place; here?.parent !== undefined; here = here.parent)
    keys.push(here.key);
  return keys
    .reverse()
    .slice(0, MAX_POINTER_PARTS)
    .reduce<string>((at, key) => childPointer(at, key), '');
}
