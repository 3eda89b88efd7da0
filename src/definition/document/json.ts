/** Small questions about JSON values that everything in this folder asks. */
import type { Json } from '../../template/types.ts';
import type { JsonObject } from './types.ts';

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a value is called in messages: `null`, `array`, `object`, `string`, `number`, `boolean`, `nothing`. */
export function typeName(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/** Own members only: `constructor` and the like read as absent. */
export function own(value: Json | undefined, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Sets an own member whatever its name is; a plain assignment to `__proto__` would be lost. */
export function put(target: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/** A copy with every text in it, but not the keys, as `map` makes it. */
export function mapTexts(value: Json, map: (text: string) => string): Json {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (!isObject(value)) return value;
  const mapped: JsonObject = {};
  for (const [key, member] of Object.entries(value)) put(mapped, key, mapTexts(member, map));
  return mapped;
}
