/** From whatever a scope holds to clean JSON, and to text. */

import { MAX_NESTING } from '../json/depth.ts';
import { isObject, type Json, setOwn } from '../json/json.ts';
import { boundString, chargeComparison, type Evaluation, fail, occupy, spend } from './evaluation.ts';
import { memberNames, readMember } from './read.ts';
import { LazyObject } from './types.ts';

/**
 * The value as clean JSON: in arrays undefined becomes null, members without a value are dropped, numbers that JSON cannot
 * write are null, lazy objects are read. What is clean already is given back as it is, not copied: nobody may change it.
 */
export function toJson(value: unknown, evaluation: Evaluation): Json | undefined {
  return clean(value, evaluation, 0);
}

function clean(value: unknown, evaluation: Evaluation, depth: number): Json | undefined {
  switch (typeof value) {
    case 'string':
      occupy(evaluation, value.length + 1);
      return value;
    case 'number':
      occupy(evaluation, 1);
      return Number.isFinite(value) ? value : null;
    case 'boolean':
      occupy(evaluation, 1);
      return value;
    case 'object':
      occupy(evaluation, 1);
      if (value === null) return null;
      if (depth >= MAX_NESTING) {
        throw fail(evaluation, 'expression_limit', `The value is nested deeper than ${MAX_NESTING} levels.`);
      }
      return Array.isArray(value) ? cleanArray(value, evaluation, depth) : cleanObject(value, evaluation, depth);
    default:
      return undefined;
  }
}

function cleanArray(items: readonly unknown[], evaluation: Evaluation, depth: number): Json[] {
  spend(evaluation, items.length);
  let copy: Json[] | undefined;
  for (let i = 0; i < items.length; i += 1) {
    const item = items[i];
    const cleaned = clean(item, evaluation, depth + 1) ?? null;
    if (copy === undefined && cleaned !== item) copy = items.slice(0, i) as Json[];
    copy?.push(cleaned);
  }
  return copy ?? (items as Json[]);
}

function cleanObject(value: object, evaluation: Evaluation, depth: number): { [key: string]: Json } {
  const names = memberNames(value);
  spend(evaluation, names.length);
  const prototype: unknown = Object.getPrototypeOf(value);
  let isClean = !(value instanceof LazyObject) && (prototype === null || Object.getPrototypeOf(prototype) === null);
  const members: (Json | undefined)[] = [];
  for (const name of names) {
    occupy(evaluation, name.length);
    const member = readMember(value, name);
    const cleaned = clean(member, evaluation, depth + 1);
    if (cleaned === undefined || cleaned !== member) isClean = false;
    members.push(cleaned);
  }
  if (isClean) return value as { [key: string]: Json };
  const copy: { [key: string]: Json } = {};
  for (const [i, name] of names.entries()) {
    const member = members[i];
    if (member !== undefined) setOwn(copy, name, member);
  }
  return copy;
}

/** As it stands in a text: nothing is '', objects and arrays are JSON. */
export function toText(value: unknown, evaluation: Evaluation): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return Number.isFinite(value) ? String(value) : '';
    case 'boolean':
      return String(value);
    case 'object': {
      if (value === null) return '';
      const text = JSON.stringify(toJson(value, evaluation));
      boundString(evaluation, text.length);
      return text;
    }
    default:
      return '';
  }
}

/** JSON text that is the same for values that say the same, whatever the order of their members; undefined is as null. */
export function canonicalText(value: unknown, evaluation: Evaluation): string {
  const json = toJson(value, evaluation) ?? null;
  return JSON.stringify(typeof json === 'object' ? sorted(json) : json);
}

function sorted(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const copy: { [key: string]: Json } = {};
  for (const name of Object.keys(value).sort()) setOwn(copy, name, sorted(value[name] ?? null));
  return copy;
}

/** Whether two values say the same: members in any order, `1` is not `'1'`. Identity counts for nothing: it is lost on the way. */
export function sameJson(left: unknown, right: unknown, evaluation: Evaluation, depth = 0): boolean {
  spend(evaluation, 1);
  chargeComparison(evaluation, left, right, true);
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (depth >= MAX_NESTING) {
    throw fail(evaluation, 'expression_limit', `The value is nested deeper than ${MAX_NESTING} levels.`);
  }
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, i) => sameJson(item, right[i], evaluation, depth + 1));
  }
  if (!isObject(right)) return false;
  const present = (of: object) => memberNames(of).filter((name) => readMember(of, name) !== undefined);
  const names = present(left);
  const others = present(right);
  // Objects of different sizes are charged too: they can be compared again and again.
  spend(evaluation, names.length === others.length ? names.length : names.length + others.length);
  if (names.length !== others.length) return false;
  return names.every((name) => {
    const other = readMember(right, name);
    return other !== undefined && sameJson(readMember(left, name), other, evaluation, depth + 1);
  });
}
