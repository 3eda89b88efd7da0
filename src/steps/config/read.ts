/**
 * Readers of evaluated config values. The value of a template is known only at run time, and zod is not in the workflow
 * bundle, so each reader checks by hand. It throws StepFailure `invalid_config` with the member and the expected form.
 * The optional readers treat null as absent.
 */
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { StepFailure } from '../kind.ts';

const MAX_SHOWN_CHARACTERS = 60;

/** `member` as in the config (`approvers.users`). */
export function invalid(member: string, expected: string, value: Json | undefined): StepFailure {
  return new StepFailure('invalid_config', `config.${member} must be ${expected}; it is ${describeValue(value)}.`);
}

/** A value in a message, shortened. */
export function describeValue(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

export function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** A text that is not empty. A number becomes its text, since `{{ order.id }}` keeps its type. */
export function text(value: Json | undefined, member: string): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value === '') throw invalid(member, 'a text that is not empty', value);
  return value;
}

export function optionalText(value: Json | undefined, member: string): string | undefined {
  return isAbsent(value) || value === '' ? undefined : text(value, member);
}

export function object(value: Json | undefined, member: string): JsonObject {
  if (!isObject(value)) throw invalid(member, 'an object', value);
  return value;
}

export function list(value: Json | undefined, member: string): readonly Json[] {
  if (!Array.isArray(value)) throw invalid(member, 'a list', value);
  return value;
}

/** A whole number within bounds. A text of digits is accepted, since form fields and query parameters are texts. */
export function wholeNumber(value: Json | undefined, member: string, min: number, max: number): number {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min || number > max)
    throw invalid(member, `a whole number from ${min} to ${max}`, value);
  return number;
}

export function optionalBoolean(value: Json | undefined, member: string): boolean | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'boolean') throw invalid(member, 'true or false', value);
  return value;
}

export function optionalOneOf<T extends string>(
  value: Json | undefined,
  member: string,
  options: readonly T[],
): T | undefined {
  if (isAbsent(value)) return undefined;
  const found = options.find((option) => option === value);
  if (found === undefined) throw invalid(member, `one of ${options.map((option) => `'${option}'`).join(', ')}`, value);
  return found;
}

/** One name or a list of names; absent is none. */
export function names(value: Json | undefined, member: string): string[] {
  if (isAbsent(value)) return [];
  const entries = Array.isArray(value) ? value : [value];
  return [...new Set(entries.map((entry, i) => text(entry, Array.isArray(value) ? `${member}[${i}]` : member)))];
}
