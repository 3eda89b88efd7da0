/** Sizes of JSON, so that limits hold before the server has to refuse (E10). */
import type { Json } from '../../json/json.ts';
import { StepFailure } from '../../steps/kind.ts';
import { MAX_PAYLOAD_BYTES, MAX_VALUE_DEPTH } from './limits.ts';

/**
 * Bytes of the value as JSON, UTF-8; exact for ASCII, at most a little above it for escapes not counted. No text is built.
 * Throws StepFailure `value_too_deep` for what could not be encoded.
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
  if (depth >= MAX_VALUE_DEPTH) throw tooDeep();
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const member of value) bytes += jsonBytes(member, depth + 1) + 1;
    return bytes;
  }
  for (const key of Object.keys(value)) bytes += textBytes(key) + 4 + jsonBytes(value[key], depth + 1);
  return bytes;
}

/** What does not fit into one payload. `what`: as the sentence begins. */
export function tooLarge(
  code: 'payload_too_large' | 'result_too_large',
  what: string,
  bytes: number,
  limit = MAX_PAYLOAD_BYTES,
): StepFailure {
  return new StepFailure(code, `${what} has ${bytes} bytes; at most ${limit} fit.`, { details: { bytes, limit } });
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

function tooDeep(): StepFailure {
  return new StepFailure(
    'value_too_deep',
    `A value is nested deeper than ${MAX_VALUE_DEPTH} levels, and cannot be stored. Make it flatter.`,
    { details: { limit: MAX_VALUE_DEPTH } },
  );
}
