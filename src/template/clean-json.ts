/** Converts the values of a scope to clean JSON, and to text. */

import { MAX_NESTING } from '../json/depth.ts';
import { isObject, type Json, setOwn } from '../json/json.ts';
import { chargeComparison, chargeSize, chargeString, chargeWork, type Evaluation, limitError } from './evaluation.ts';
import { memberNames, readMember } from './member-access.ts';
import { LazyObject } from './types.ts';

/**
 * The value as clean JSON: undefined becomes null in arrays and is dropped in objects, numbers that JSON cannot write
 * become null, lazy objects are read. A value that is clean already is returned without a copy, and must not be
 * changed.
 */
export function toJson(value: unknown, evaluation: Evaluation): Json | undefined {
  return clean(value, evaluation, 0);
}

function clean(value: unknown, evaluation: Evaluation, depth: number): Json | undefined {
  switch (typeof value) {
    case 'string':
      chargeSize(evaluation, value.length + 1);
      return value;
    case 'number':
      chargeSize(evaluation, 1);
      return Number.isFinite(value) ? value : null;
    case 'boolean':
      chargeSize(evaluation, 1);
      return value;
    case 'object':
      chargeSize(evaluation, 1);
      if (value === null) return null;
      if (depth >= MAX_NESTING) {
        throw limitError(evaluation, `The value is nested deeper than ${MAX_NESTING} levels. Make it flatter.`);
      }
      return Array.isArray(value) ? cleanArray(value, evaluation, depth) : cleanObject(value, evaluation, depth);
    default:
      return undefined;
  }
}

function cleanArray(items: readonly unknown[], evaluation: Evaluation, depth: number): Json[] {
  chargeWork(evaluation, items.length);
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
  chargeWork(evaluation, names.length);
  const prototype: unknown = Object.getPrototypeOf(value);
  let isClean = !(value instanceof LazyObject) && (prototype === null || Object.getPrototypeOf(prototype) === null);
  const members: (Json | undefined)[] = [];
  for (const name of names) {
    chargeSize(evaluation, name.length);
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

/** The value within a text: undefined and null are '', objects and arrays are JSON. */
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
      chargeString(evaluation, text.length);
      return text;
    }
    default:
      return '';
  }
}

/** The same JSON text for equal values, whatever the order of their members. Undefined counts as null. */
export function canonicalTextOf(value: unknown, evaluation: Evaluation): string {
  const json = toJson(value, evaluation) ?? null;
  return JSON.stringify(typeof json === 'object' ? sortKeys(json) : json);
}

export function sortKeys(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const copy: { [key: string]: Json } = {};
  for (const name of Object.keys(value).sort()) setOwn(copy, name, sortKeys(value[name] ?? null));
  return copy;
}

/**
 * Whether two values are equal, as src/json/equality.ts has it; this one reads lazy objects and charges for its work.
 * Identity does not count, since it is lost when values are stored.
 */
export function sameValue(left: unknown, right: unknown, evaluation: Evaluation, depth = 0): boolean {
  chargeWork(evaluation, 1);
  chargeComparison(evaluation, left, right, true);
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (depth >= MAX_NESTING) {
    throw limitError(evaluation, `The value is nested deeper than ${MAX_NESTING} levels. Make it flatter.`);
  }
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, i) => sameValue(item, right[i], evaluation, depth + 1));
  }
  if (!isObject(right)) return false;
  const presentMembers = (of: object) => memberNames(of).filter((name) => readMember(of, name) !== undefined);
  const names = presentMembers(left);
  const others = presentMembers(right);
  // Objects of different sizes are charged too, since a loop can compare them many times.
  chargeWork(evaluation, names.length === others.length ? names.length : names.length + others.length);
  if (names.length !== others.length) return false;
  return names.every((name) => {
    const other = readMember(right, name);
    return other !== undefined && sameValue(readMember(left, name), other, evaluation, depth + 1);
  });
}
