/**
 * Reads values by own properties only, so that an expression can reach no prototype and no host function.
 * `constructor`, `__proto__` and `toString` read as undefined unless the data has such a key.
 */
import { isObject } from '../json/json.ts';
import { LazyObject } from './types.ts';

const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/**
 * `value.name`. Undefined and null have no members. An array is read through its first element, except for `length`.
 */
export function readMember(value: unknown, name: string): unknown {
  if (typeof value === 'object') {
    if (value === null) return undefined;
    if (value instanceof LazyObject) return value.get(name);
    if (Array.isArray(value)) {
      if (name === 'length') return value.length;
      return value.length === 0 || Array.isArray(value[0]) ? undefined : readMember(value[0], name);
    }
    return Object.hasOwn(value, name) ? (value as { [key: string]: unknown })[name] : undefined;
  }
  return typeof value === 'string' && name === 'length' ? value.length : undefined;
}

/**
 * `value[key]`: an index of an array or text, else a member. As in Jexl, `value[true]` is value and `value[false]`
 * undefined.
 */
export function readIndex(value: unknown, key: unknown): unknown {
  if (typeof key === 'boolean') return key ? value : undefined;
  if (typeof key === 'number') return readAt(value, key);
  if (typeof key !== 'string') return undefined;
  const indexed = Array.isArray(value) || typeof value === 'string';
  return indexed && INDEX.test(key) ? readAt(value, Number(key)) : readMember(value, key);
}

function readAt(value: unknown, index: number): unknown {
  if (Array.isArray(value)) return Number.isInteger(index) && index >= 0 ? value[index] : undefined;
  if (typeof value === 'string') return Number.isInteger(index) && index >= 0 ? value[index] : undefined;
  return readMember(value, String(index));
}

/** The value at the keys of a dot path (`meta.id`, `tags.0`), for transforms. */
export function readPath(value: unknown, keys: readonly string[]): unknown {
  return walkPath(value, keys, readIndex);
}

/** The most parts of a member's name with dots. */
const MAX_DOTTED_PARTS = 16;

/**
 * The value at the end of a path, read key by key. If that is undefined, the keys are read again as names with dots
 * (LANGUAGE.md §1: `customer.name` of a flat payload), the longest name that an object has first.
 */
export function walkPath<K extends string | number>(
  value: unknown,
  keys: readonly K[],
  read: (value: unknown, key: K) => unknown,
): unknown {
  let found = value;
  for (const key of keys) found = read(found, key);
  return found !== undefined || keys.length < 2 ? found : readDotted(value, keys, read);
}

function readDotted<K extends string | number>(
  value: unknown,
  keys: readonly K[],
  read: (value: unknown, key: K) => unknown,
): unknown {
  let found = value;
  for (let at = 0; at < keys.length && found !== undefined; ) {
    const parts = isObject(found) ? dottedNameLength(found, keys.slice(at, at + MAX_DOTTED_PARTS)) : 1;
    found = parts === 1 ? read(found, keys[at]!) : readMember(found, keys.slice(at, at + parts).join('.'));
    at += parts;
  }
  return found;
}

/** How many of the keys, joined by dots, name a member of the object; 1 if no joined keys do. */
function dottedNameLength(object: object, keys: readonly (string | number)[]): number {
  for (let parts = keys.length; parts > 1; parts--)
    if (readMember(object, keys.slice(0, parts).join('.')) !== undefined) return parts;
  return 1;
}

/** The names of the members of an object; none for other values. */
export function memberNames(value: unknown): string[] {
  if (!isObject(value)) return [];
  return value instanceof LazyObject ? value.keys() : Object.keys(value);
}
