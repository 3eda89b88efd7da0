/** The operators: those of JavaScript on plain values, as in Jexl. They never call conversions of objects. */

import { sameValue, toText } from './clean-json.ts';
import {
  chargeComparison,
  chargeString,
  chargeWork,
  type Evaluation,
  evaluationError,
  limitError,
} from './evaluation.ts';
import { MAX_NEEDLE_LENGTH } from './limits.ts';
import { createFinder } from './text-search.ts';

/** Jexl's truthiness: undefined, null, false, 0, NaN and '' are false; every array and object is true. */
export function truthy(value: unknown): boolean {
  return Boolean(value);
}

/**
 * The number for arithmetic and `|number`: null and '' are 0, other values that are no number are NaN. Long texts are
 * charged.
 */
export function toNumber(value: unknown, evaluation: Evaluation): number {
  switch (typeof value) {
    case 'number':
      return value;
    case 'string':
      if (value.length >= 32) chargeWork(evaluation, value.length >> 5);
      return Number(value);
    case 'boolean':
      return Number(value);
    default:
      return value === null ? 0 : Number.NaN;
  }
}

/** The names of the operands in errors. */
interface OperandNames {
  readonly left: string;
  readonly right: string;
}

/** `left + right`: a sum, or a text if one of them is a text, an array or an object. */
export function add(left: unknown, right: unknown, evaluation: Evaluation, names: OperandNames): unknown {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  if (!isConcatenated(left) && !isConcatenated(right)) return toNumber(left, evaluation) + toNumber(right, evaluation);
  const text = textOperand(left, names.left, evaluation) + textOperand(right, names.right, evaluation);
  chargeString(evaluation, text.length);
  return text;
}

function isConcatenated(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

/** As in a mixed template, a missing value is an error and never the text "undefined". So is a NaN. */
function textOperand(value: unknown, name: string, evaluation: Evaluation): string {
  const isNoNumber = typeof value === 'number' && !Number.isFinite(value) && !evaluation.isLegacy();
  if (value === undefined || value === null || isNoNumber) {
    throw evaluationError(
      evaluation,
      'unresolved_reference',
      `${name} has no value and cannot be joined to a text. Add a fallback: (… ?: 'none') or …|default('none').`,
    );
  }
  return toText(value, evaluation);
}

/** `==`: loose for plain values ('1' == 1, undefined == null), by content for arrays and objects. */
export function looselyEqual(left: unknown, right: unknown, evaluation: Evaluation): boolean {
  chargeComparison(evaluation, left, right, true);
  if (left === right) return true;
  const leftMissing = left === undefined || left === null;
  const rightMissing = right === undefined || right === null;
  if (leftMissing || rightMissing) return leftMissing && rightMissing;
  if (typeof left === 'object' || typeof right === 'object') return sameValue(left, right, evaluation);
  if (typeof left === typeof right) return false;
  return toNumber(left, evaluation) === toNumber(right, evaluation);
}

export type Ordering = '>' | '>=' | '<' | '<=';

/** Compares texts by their characters and other values as numbers. Values that cannot be compared give false. */
export function compare(left: unknown, operator: Ordering, right: unknown, evaluation: Evaluation): boolean {
  const areTexts = typeof left === 'string' && typeof right === 'string';
  if (areTexts) chargeComparison(evaluation, left, right, false);
  const a = areTexts ? left : toNumber(left, evaluation);
  const b = areTexts ? right : toNumber(right, evaluation);
  switch (operator) {
    case '>':
      return a > b;
    case '>=':
      return a >= b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
  }
}

/**
 * `needle in haystack`: part of a text, or strictly equal to an element. An object is never strictly equal to another.
 */
export function contains(haystack: unknown, needle: unknown, evaluation: Evaluation): boolean {
  if (typeof haystack === 'string') {
    if (needle === undefined || needle === null || typeof needle === 'object') return false;
    const text = toText(needle, evaluation);
    checkNeedleLength(text, evaluation);
    chargeString(evaluation, haystack.length);
    return createFinder(text, haystack.length, evaluation)(haystack, 0) >= 0;
  }
  if (!Array.isArray(haystack) || (typeof needle === 'object' && needle !== null)) return false;
  chargeWork(evaluation, haystack.length >> 3);
  if (typeof needle === 'string' && needle.length >= 32)
    for (const element of haystack) chargeComparison(evaluation, element, needle, true);
  return haystack.includes(needle);
}

/** Checks that a text is short enough to be searched for. @throws TemplateError `expression_limit` */
export function checkNeedleLength(text: string, evaluation: Evaluation): void {
  if (text.length > MAX_NEEDLE_LENGTH) {
    throw limitError(
      evaluation,
      `The text to search for has ${text.length} characters; the limit is ${MAX_NEEDLE_LENGTH}. Shorten it.`,
    );
  }
}
