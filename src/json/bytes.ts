/** The size of JSON values, in bytes of UTF-8. */
import { JsonTooDeep, MAX_VALUE_DEPTH } from './depth.ts';
import type { Json } from './json.ts';

/**
 * The estimate that the limits of a run count with (E10). It builds no text. It is exact for ASCII but for short
 * numbers and booleans, and never below the exact size. Histories depend on its figures: a run that replays must come
 * to the same limits. Everything else uses exactJsonBytes.
 * @throws JsonTooDeep
 */
export function jsonBytes(value: Json | undefined, depth = 0): number {
  if (value === null || value === undefined) return 4;
  switch (typeof value) {
    case 'string':
      return textBytes(value) + 2;
    case 'number':
      return Number.isInteger(value) && value >= 0 && value < 1000 ? 3 : String(value).length;
    case 'boolean':
      return 5;
    default:
  }
  if (depth >= MAX_VALUE_DEPTH) throw new JsonTooDeep(MAX_VALUE_DEPTH);
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const member of value) bytes += jsonBytes(member, depth + 1) + 1;
    return bytes;
  }
  for (const key of Object.keys(value)) bytes += textBytes(key) + 4 + jsonBytes(value[key], depth + 1);
  return bytes;
}

/** The levels of records around a value. */
const RECORD_LEVELS = 100;

/** The estimate of a record with values in it, each of which may be nested as deeply as a value may. */
export function recordBytes(record: Json): number {
  return jsonBytes(record, -RECORD_LEVELS);
}

/** The bytes of a value as JSON.stringify writes it; 0 for a value that JSON does not write. */
export function exactJsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value) ?? '').length;
}

function textBytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) bytes += code > 0x7ff ? 2 : 1;
    else if (code < 0x20) bytes += 5;
    else if (code === 0x22 || code === 0x5c) bytes += 1;
  }
  return bytes;
}
