import type { JsonObject } from '../../definition/document/types.ts';

/**
 * Whether a value that came from outside is an object with members, as JSON has them. Not by prototype, since payloads may
 * come from another realm; bytes, dates and lists are none.
 */
export function isPlainObject(value: unknown): value is JsonObject {
  return Object.prototype.toString.call(value) === '[object Object]';
}
