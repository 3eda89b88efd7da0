/** JSON values: their types, and the questions that every part of the project asks about them. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

/** `T` where JSON can hold it, else never. Interfaces and read-only lists are not `Json` to the compiler. */
type JsonCompatible<T> = T extends Json | undefined
  ? T
  : T extends (...given: never) => unknown
    ? never
    : T extends object
      ? { readonly [K in keyof T]: JsonCompatible<T[K]> }
      : never;

type JsonShape<T> = T extends Json | undefined
  ? T
  : T extends readonly unknown[]
    ? Json[]
    : T extends object
      ? JsonObject
      : never;

/** The value as JSON. The compiler refuses what JSON cannot hold. */
export function asJson<T>(value: T & JsonCompatible<T>): JsonShape<T> {
  return value as unknown as JsonShape<T>;
}

/**
 * Whether a value has members by name. The value is JSON, or holds JSON: see isPlainObject for values of other code.
 */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether a value from other code, such as a signal's payload, is an object as JSON has them. Bytes, dates and lists
 * are not. The test does not look at the prototype, since a payload may come from another realm.
 */
export function isPlainObject(value: unknown): value is JsonObject {
  return Object.prototype.toString.call(value) === '[object Object]';
}

/** The name of a value's type in messages: `null`, `array`, `object`, `string`, `number`, `boolean`, `nothing`. */
export function typeName(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/** Reads an own member. `constructor` and other inherited names read as undefined. */
export function getOwn(value: Json | undefined, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Sets an own member of any name. A plain assignment to `__proto__` would set the prototype instead. */
export function setOwn<T>(target: { [key: string]: T }, key: string, value: T): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/** A copy in which `map` has replaced every text; keys stay as they are. */
export function mapTexts(value: Json, map: (text: string) => string): Json {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (!isObject(value)) return value;
  const mapped: JsonObject = {};
  for (const [key, member] of Object.entries(value)) setOwn(mapped, key, mapTexts(member, map));
  return mapped;
}
