/** Parsers of options. An invalid option ends the command with exit code 20. */

import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { DIALECTS } from '../compat/dialects.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { inexactNumbers } from '../json/json-source.ts';

/** `--input '{"a": 1}'`, or `--input @order.json` for the content of a file. */
export function jsonOption(text: string): Json {
  const written = text.startsWith('@') ? contentOf(text.slice(1)) : text;
  let value: Json;
  try {
    value = JSON.parse(written) as Json;
  } catch {
    throw new InvalidArgumentError('Expected JSON, such as \'{"amount": 12}\', or @FILE with JSON in it.');
  }
  const [lost] = inexactNumbers(written);
  if (lost === undefined) return value;
  throw new InvalidArgumentError(
    `The number ${lost.written.slice(0, 40)} at ${lost.pointer || '/'} cannot be kept exactly. Write it in quotes.`,
  );
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new InvalidArgumentError(`The file ${file} cannot be read (${reason}).`);
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
  new Option('--dialect <name>', 'the dialect of the file, by number or system; detected if omitted').choices(DIALECTS);

/** The option of `jsonFlag`. */
export interface OutputOptions {
  readonly json?: boolean;
}

export const jsonFlag = (): Option => new Option('--json', 'print JSON');

/** A key that makes a repeated request have the effect of one. */
export const idempotencyOption = (): Option =>
  new Option('--idempotency-key <key>', 'a repeated request with the same key has no further effect');

/** The header of that key. */
export const idempotencyHeader = (key: string | undefined): { 'idempotency-key'?: string } =>
  key === undefined ? {} : { 'idempotency-key': key };
