/**
 * How values are read: own properties only, so that no prototype and no host function is ever reachable. `constructor`,
 * `__proto__` and `toString` read as undefined unless the data itself has such a key.
 */
import { LazyObject } from './types.ts';

const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** `value.name`. Nothing has no members; an array is read through its first element, but for `length`. */
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

/** `value[key]`: an index of an array or a text, else a member. `value[true]` is value and `value[false]` undefined, as in Jexl. */
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

/** What stands below a value at the keys of a dot path (`meta.id`, `tags.0`), as transforms take it. */
export function readPath(value: unknown, keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) found = readIndex(found, key);
  return found;
}

/** Whether a value has members by name: an object that is no array. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The names of the members of an object; none for everything else. */
export function memberNames(value: unknown): string[] {
  if (!isObject(value)) return [];
  return value instanceof LazyObject ? value.keys() : Object.keys(value);
}

/** Sets a member as an own property, also where the name is `__proto__`. */
export function setMember(target: { [key: string]: unknown }, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
  } else {
    target[name] = value;
  }
}
