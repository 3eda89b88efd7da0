/** Parsers of options. An invalid option ends the command with exit code 20. */

import { InvalidArgumentError, Option } from 'commander';
import { DIALECTS } from '../definition/dialects/dialects.ts';
import type { Json, JsonObject } from '../json/json.ts';

/** `--input '{"a": 1}'` */
export function jsonOption(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new InvalidArgumentError('Expected JSON, such as \'{"amount": 12}\'.');
  }
}

export function objectOption(text: string): JsonObject {
  const value = jsonOption(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new InvalidArgumentError('Expected a JSON object, such as \'{"pay": {"paid": true}}\'.');
}

export function secondsOption(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number of seconds.');
}

export function limitOption(text: string): number {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= 1_000) return value;
  throw new InvalidArgumentError('Expected a whole number from 1 to 1000.');
}

export const dialectOption = (): Option =>
  new Option('--dialect <name>', 'the dialect of the file; detected if omitted').choices(DIALECTS);

export const jsonFlag = (): Option => new Option('--json', 'print JSON');
