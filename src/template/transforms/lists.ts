/** Transforms of arrays. Other values count as the empty array, unless the transform also takes texts. */

import { canonicalTextOf, sameValue, toText } from '../clean-json.ts';
import { chargeArray, chargeComparison, chargeString, chargeWork, type Evaluation } from '../evaluation.ts';
import { MAX_STRING_LENGTH } from '../limits.ts';
import { readPath } from '../member-access.ts';
import { toNumber } from '../operators.ts';
import { parseCondition } from './condition.ts';
import { type TransformDeclarations, wrongType } from './transform.ts';

const MAX_ARGUMENTS = 100;
const MAX_PATH_LENGTH = 1000;

export const LISTS: TransformDeclarations = {
  length: {
    gives: 'The number of elements of an array or characters of a text; 0 for other values.',
    apply: (value) => (Array.isArray(value) || typeof value === 'string' ? value.length : 0),
  },
  first: {
    gives: 'The first element of an array or character of a text.',
    apply: (value, _args, { isLegacy }) => {
      if (typeof value === 'string' && splitsSurrogatePair(value, 1) && !isLegacy()) return value.slice(0, 2);
      return Array.isArray(value) || typeof value === 'string' ? value[0] : undefined;
    },
  },
  last: {
    gives: 'The last element of an array or character of a text.',
    apply: (value, _args, { isLegacy }) => {
      if (typeof value === 'string' && splitsSurrogatePair(value, value.length - 1) && !isLegacy())
        return value.slice(-2);
      return Array.isArray(value) || typeof value === 'string' ? value[value.length - 1] : undefined;
    },
  },
  join: {
    takes: "(separator = ',')",
    gives: 'The elements as one text; the empty text if the value is not an array.',
    arity: [0, 1],
    apply: (value, [separator], evaluation) =>
      Array.isArray(value) ? joinTexts(value, toText(separator ?? ',', evaluation), evaluation) : '',
  },
  map: {
    takes: "(path: 'meta.id')",
    gives: 'The value at the path in each element. Elements without the path are left out, null is kept.',
    arity: [1, 1],
    apply: (value, [path], evaluation) => {
      const at = pathArgument('map', path, value, evaluation);
      return elements(value, evaluation)
        .map((element) => readPath(element, at))
        .filter((found) => found !== undefined);
    },
  },
  filter: {
    takes: "(condition: 'total > 5'), or (path, value)",
    gives: 'The elements that meet the condition, or have the value at the path.',
    arity: [1, 2],
    apply: (value, args, evaluation) => {
      if (args.length === 2) return filterBy(value, args, evaluation);
      const meets = parseCondition(args[0], evaluation);
      return elements(value, evaluation).filter(meets);
    },
  },
  filterBy: {
    takes: '(path, value)',
    gives: 'The elements that have exactly the value at the path.',
    arity: [2, 2],
    apply: (value, args, evaluation) => filterBy(value, args, evaluation),
  },
  find: {
    takes: '(path, value)',
    gives: 'The first element that has exactly the value at the path; null if the value is not an array.',
    arity: [2, 2],
    apply: (value, [path, wanted], evaluation) => {
      const at = pathArgument('find', path, value, evaluation);
      if (!Array.isArray(value)) return null;
      return elements(value, evaluation).find((element) => sameValue(readPath(element, at), wanted, evaluation));
    },
  },
  sort: {
    takes: "(path?, direction = 'asc')",
    gives:
      "The elements, sorted 'asc' or 'desc' by themselves or by the value at the path; those without it come last.",
    arity: [0, 2],
    apply: (value, [path, direction], evaluation) => {
      const order = direction ?? 'asc';
      if (order !== 'asc' && order !== 'desc')
        throw wrongType(evaluation, 'sort cannot take this direction', "'asc' or 'desc'");
      const at =
        path === undefined || path === null || path === '' ? undefined : pathArgument('sort', path, value, evaluation);
      const list = elements(value, evaluation);
      chargeWork(evaluation, (list.length * Math.ceil(Math.log2(list.length + 1))) >> 2);
      return list
        .map((element) => ({ element, key: at === undefined ? element : readPath(element, at) }))
        .sort((a, b) => {
          chargeComparison(evaluation, a.key, b.key, false);
          return compareForSort(a.key, b.key, order);
        })
        .map(({ element }) => element);
    },
  },
  reverse: {
    gives: 'The array or the text in reverse order.',
    apply: (value, _args, evaluation) => {
      if (typeof value !== 'string') return [...elements(value, evaluation)].reverse();
      chargeString(evaluation, value.length * 8);
      return [...value].reverse().join('');
    },
  },
  slice: {
    takes: '(start = 0, end?)',
    gives:
      'The part of an array or a text from start to before end; negative positions count from the end. A position ' +
      'within a surrogate pair (an emoji has two characters) is the one before it.',
    arity: [0, 2],
    apply: (value, [start, end], evaluation) => {
      const from = position(start, 0, evaluation);
      const to = position(end, undefined, evaluation);
      if (typeof value !== 'string') return elements(value, evaluation).slice(from, to);
      if (evaluation.isLegacy()) return value.slice(from, to);
      return value.slice(characterBoundary(value, from ?? 0), characterBoundary(value, to ?? value.length));
    },
  },
  chunk: {
    takes: '(size)',
    gives: 'The array split into arrays of this size; the last one may be shorter.',
    arity: [1, 1],
    apply: (value, [size], evaluation) => {
      const length = toNumber(size, evaluation);
      if (!Number.isInteger(length) || length < 1) {
        throw wrongType(evaluation, 'chunk cannot take this size', 'a whole number from 1');
      }
      const list = elements(value, evaluation);
      const chunks: unknown[] = [];
      for (let i = 0; i < list.length; i += length) chunks.push(list.slice(i, i + length));
      return chunks;
    },
  },
  flatten: {
    takes: '(levels = 1)',
    gives: 'The array with nested arrays replaced by their elements.',
    arity: [0, 1],
    apply: (value, [levels], evaluation) => {
      const depth = levels === undefined ? 1 : toNumber(levels, evaluation);
      if (!Number.isInteger(depth) || depth < 0) {
        throw wrongType(evaluation, 'flatten cannot take this number of levels', 'a whole number from 0');
      }
      let flat = elements(value, evaluation);
      for (let i = 0; i < depth && flat.some(Array.isArray); i += 1) flat = flattenOnce(flat, evaluation);
      return flat;
    },
  },
  unique: {
    takes: '(path?)',
    gives: 'The elements without repetitions, by themselves or by the value at the path; 1 and "1" differ.',
    arity: [0, 1],
    apply: (value, [path], evaluation) => {
      const at = path === undefined ? undefined : pathArgument('unique', path, value, evaluation);
      return unique(elements(value, evaluation), at, evaluation);
    },
  },
  concat: {
    takes: '(…more)',
    gives:
      'The array followed by the elements of more arrays, or by more elements; or the text followed by more texts.',
    arity: [0, MAX_ARGUMENTS],
    apply: (value, args, evaluation) => {
      if (typeof value === 'string' && !args.some(Array.isArray)) return joinTexts([value, ...args], '', evaluation);
      const first = value === undefined || value === null ? [] : value;
      return flattenOnce([first, ...args], evaluation);
    },
  },
  hasOverlap: {
    takes: '(other)',
    gives: 'Whether two arrays have a common element, compared as texts (1 and "1" are equal).',
    arity: [1, 1],
    apply: (value, [other], evaluation) => {
      if (!Array.isArray(value) || !Array.isArray(other)) return false;
      const known = new Set(elements(other, evaluation).map((element) => chargedText(element, evaluation)));
      return elements(value, evaluation).some((element) => known.has(chargedText(element, evaluation)));
    },
  },
  formatList: {
    takes: "(line: '- {name} ({meta.id})', separator = newline)",
    gives:
      'One line for each element, with the values of the paths in braces (such as `{error.message}`); no blank lines.',
    arity: [1, 2],
    apply: (value, [line, separator], evaluation) => {
      const pattern = toText(line, evaluation);
      chargeWork(evaluation, Array.isArray(value) ? value.length * (pattern.length >> 5) : 0);
      const lines = elements(value, evaluation).map((element) => formatLine(pattern, element, evaluation));
      const kept = lines.filter((text) => text.trim() !== '');
      return joinTexts(kept, toText(separator ?? '\n', evaluation), evaluation);
    },
  },
};

/** The elements of an array, charged; none if the value is not an array. */
function elements(value: unknown, evaluation: Evaluation): readonly unknown[] {
  if (!Array.isArray(value)) return [];
  chargeArray(evaluation, value.length);
  return value;
}

/** The keys of a path. Charges for reading the path in each element of `list`. */
function pathArgument(transform: string, path: unknown, list: unknown, evaluation: Evaluation): readonly string[] {
  if (typeof path === 'number') return [String(path)];
  if (typeof path !== 'string' || path === '' || path.length > MAX_PATH_LENGTH) {
    throw wrongType(evaluation, `${transform} cannot take this path`, "a text such as 'meta.id'");
  }
  const keys = path.split('.');
  if (Array.isArray(list)) chargeWork(evaluation, list.length * keys.length);
  return keys;
}

function position(value: unknown, absent: number | undefined, evaluation: Evaluation): number | undefined {
  if (value === undefined || value === null) return absent;
  const number = toNumber(value, evaluation);
  if (Number.isNaN(number)) throw wrongType(evaluation, 'slice cannot take this position', 'a number');
  return number;
}

/** The position as a number from 0 on, and not within a surrogate pair. */
function characterBoundary(text: string, position: number): number {
  const at = Math.max(0, Math.trunc(position < 0 ? text.length + position : position));
  return splitsSurrogatePair(text, at) ? at - 1 : at;
}

const splitsSurrogatePair = (text: string, at: number): boolean => at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff;

function joinTexts(items: readonly unknown[], separator: string, evaluation: Evaluation): string {
  chargeArray(evaluation, items.length);
  let length = Math.max(0, items.length - 1) * separator.length;
  const texts: string[] = [];
  for (const item of items) {
    const text = toText(item, evaluation);
    length += text.length;
    if (length > MAX_STRING_LENGTH) break;
    texts.push(text);
  }
  chargeString(evaluation, length);
  return texts.join(separator);
}

function filterBy(value: unknown, [path, wanted]: readonly unknown[], evaluation: Evaluation): unknown[] {
  const at = pathArgument('filterBy', path, value, evaluation);
  return elements(value, evaluation).filter((element) => sameValue(readPath(element, at), wanted, evaluation));
}

function flattenOnce(list: readonly unknown[], evaluation: Evaluation): unknown[] {
  let length = 0;
  for (const item of list) length += Array.isArray(item) ? item.length : 1;
  chargeArray(evaluation, length);
  return list.flat();
}

/** The text of an element in a set. */
function chargedText(element: unknown, evaluation: Evaluation): string {
  const text = toText(element, evaluation);
  if (text.length >= 32) chargeWork(evaluation, text.length >> 5);
  return text;
}

/** Uses JSON text as keys, so that objects are compared by content and `1` differs from `'1'`. */
function unique(list: readonly unknown[], path: readonly string[] | undefined, evaluation: Evaluation): unknown[] {
  const seen = new Set<string>();
  return list.filter((element) => {
    const key = canonicalTextOf(path === undefined ? element : readPath(element, path), evaluation);
    if (key.length >= 32) chargeWork(evaluation, key.length >> 5);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function formatLine(pattern: string, element: unknown, evaluation: Evaluation): string {
  if (typeof element !== 'object' || element === null) return toText(element, evaluation);
  let length = pattern.length;
  return pattern.replace(/\{([^{}]*)\}/g, (_, path: string) => {
    const text = toText(readPath(element, path.trim().split('.')), evaluation);
    length += text.length;
    chargeString(evaluation, length > MAX_STRING_LENGTH ? length : path.length + text.length);
    return text;
  });
}

/**
 * Numbers come before texts, texts before booleans, booleans before other values. Numbers are ordered by size, texts by
 * their Unicode characters. Undefined and null come last in both directions. Equal values keep their order.
 */
function compareForSort(a: unknown, b: unknown, direction: 'asc' | 'desc'): number {
  const [rankA, rankB] = [rank(a), rank(b)];
  if (rankA === MISSING || rankB === MISSING) return rankA - rankB;
  const order = rankA - rankB || compareAlike(a, b);
  return direction === 'asc' ? order : -order;
}

const MISSING = 4;

function rank(value: unknown): number {
  switch (typeof value) {
    case 'number':
      return Number.isNaN(value) ? MISSING : 0;
    case 'string':
      return 1;
    case 'boolean':
      return 2;
    default:
      return value === undefined || value === null ? MISSING : 3;
  }
}

function compareAlike(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : Number(a > b);
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : Number(a > b);
  return typeof a === 'boolean' ? Number(a) - Number(b) : 0;
}
