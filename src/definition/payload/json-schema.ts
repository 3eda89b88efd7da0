/**
 * JSON Schema for payload formats: the part of 2020-12 that is safe for schemas of users inside a workflow. Every
 * application of a schema and every step through a pattern is counted, so that no schema blocks a run for long.
 * References stay within the format. An unknown keyword is a problem of the format. (No package lets its work be
 * counted.)
 */

import { canonicalText } from '../../json/canonical-text.ts';
import { isObject, type Json, type JsonObject, typeName } from '../../json/json.ts';
import { childPointer, pointerParts } from '../../json/pointer.ts';
import type { Problem } from '../document/types.ts';
import { resolveReference } from './json-schema-check.ts';
import { compilePattern, matches, type Pattern } from './pattern.ts';
import { STRING_FORMATS, STRING_FORMATS_BEFORE_0_4 } from './string-formats.ts';

/** The most applications of a schema in one validation, far more than realistic payloads need. */
const MAX_APPLICATIONS = 100_000;
/** So many steps through a pattern take as long as an application. */
const STEPS_PER_APPLICATION = 50;
const MAX_DEPTH = 220;
const MAX_PROBLEMS = 50;

/** `before0_4`: patterns and newer formats are not applied, as before version 0.4. */
export interface ValidationOptions {
  readonly before0_4?: boolean;
}

/** The problems of `value`, with pointers into it. Never throws, and takes bounded time. */
export function validateJsonSchema(schema: JsonObject, value: Json, options: ValidationOptions = {}): Problem[] {
  const { before0_4 = false } = options;
  const validation: Validation = {
    root: schema,
    before0_4,
    patterns: new Map(),
    workLeft: MAX_APPLICATIONS,
    problems: [],
    isExhausted: false,
  };
  apply(schema, value, '', 0, validation);
  if (validation.isExhausted) {
    return [{ pointer: '', code: 'invalid_format', message: 'The format is too complex to be applied to this value.' }];
  }
  return validation.problems;
}

interface Validation {
  readonly root: JsonObject;
  readonly before0_4: boolean;
  /** Undefined for one that cannot be used, which a checked format does not have. */
  readonly patterns: Map<string, Pattern | undefined>;
  workLeft: number;
  problems: Problem[];
  isExhausted: boolean;
}

function apply(schema: Json | undefined, value: Json, at: string, depth: number, validation: Validation): void {
  if (schema === true || validation.isExhausted) return;
  if (depth > MAX_DEPTH) validation.isExhausted = true;
  if (!spend(validation, 1)) return;
  if (!isObject(schema)) {
    if (schema === false) report(validation, at, 'unknown_member', 'is not allowed here');
    return;
  }
  if (value === null && schema['nullable'] === true) return;
  if (schema['$ref'] !== undefined)
    apply(resolveReference(validation.root, schema['$ref']), value, at, depth + 1, validation);
  if (!typeFits(schema, value, at, validation)) return;
  checkEnumAndConst(schema, value, at, validation);
  applyCombinators(schema, value, at, depth, validation);
  if (typeof value === 'string') checkString(schema, value, at, validation);
  else if (typeof value === 'number') checkNumber(schema, value, at, validation);
  else if (Array.isArray(value)) checkArray(schema, value, at, depth, validation);
  else if (isObject(value)) checkObject(schema, value, at, depth, validation);
}

function typeFits(schema: JsonObject, value: Json, at: string, validation: Validation): boolean {
  const written = schema['type'];
  if (written === undefined) return true;
  const types = Array.isArray(written) ? written : [written];
  const actual = typeName(value);
  const fits = types.some(
    (type) => type === actual || (type === 'integer' && typeof value === 'number' && Number.isInteger(value)),
  );
  // The schema can contain anything, also objects without a usable text.
  const wanted = types.map((type) => (typeof type === 'string' ? type : JSON.stringify(type))).join(' or ');
  if (!fits) report(validation, at, 'wrong_type', `must be ${wanted.slice(0, 200)}, got ${actual}`);
  return fits;
}

function checkEnumAndConst(schema: JsonObject, value: Json, at: string, validation: Validation): void {
  const allowed = schema['enum'];
  if (Array.isArray(allowed)) spend(validation, allowed.length / 50);
  if (Array.isArray(allowed) && !allowed.some((one) => isEqual(one, value, validation))) {
    const shown = allowed
      .slice(0, 10)
      .map((one) => JSON.stringify(one))
      .join(', ');
    report(validation, at, 'invalid_value', `must be one of ${shown.slice(0, 200)}`);
  }
  const only = schema['const'];
  if (only !== undefined && !isEqual(only, value, validation))
    report(validation, at, 'invalid_value', `must be ${JSON.stringify(only).slice(0, 100)}`);
}

function applyCombinators(schema: JsonObject, value: Json, at: string, depth: number, validation: Validation): void {
  for (const part of asList(schema['allOf'])) apply(part, value, at, depth + 1, validation);
  const any = schema['anyOf'];
  if (Array.isArray(any) && !any.some((part) => passes(part, value, depth, validation)))
    report(validation, at, 'invalid_value', 'matches none of the alternatives (anyOf)');
  const one = schema['oneOf'];
  if (Array.isArray(one)) {
    const fitting = one.filter((part) => passes(part, value, depth, validation)).length;
    if (fitting !== 1)
      report(validation, at, 'invalid_value', `must match exactly one of the alternatives (oneOf), matches ${fitting}`);
  }
  if (schema['not'] !== undefined && passes(schema['not'], value, depth, validation))
    report(validation, at, 'invalid_value', 'matches the schema that is excluded (not)');
  if (schema['if'] !== undefined) {
    const branch = passes(schema['if'], value, depth, validation) ? schema['then'] : schema['else'];
    if (branch !== undefined) apply(branch, value, at, depth + 1, validation);
  }
}

function checkString(schema: JsonObject, value: string, at: string, validation: Validation): void {
  const { minLength, maxLength, format, pattern } = schema;
  if (typeof minLength === 'number' || typeof maxLength === 'number') {
    spend(validation, value.length / 100);
    checkSize([minLength, maxLength], [...value].length, 'characters', at, validation);
  }
  if (typeof format === 'string' && isChecked(format, validation) && STRING_FORMATS[format]?.(value) === false)
    report(validation, at, 'invalid_value', `must be a ${format}`);
  if (typeof pattern === 'string' && !matchesPattern(pattern, value, validation))
    report(validation, at, 'invalid_value', `must match the pattern ${pattern.slice(0, 100)}`);
}

type SizeBounds = readonly [min: Json | undefined, max: Json | undefined];

function checkSize([min, max]: SizeBounds, size: number, unit: string, at: string, validation: Validation): void {
  if (typeof min === 'number' && size < min)
    report(validation, at, 'invalid_value', `must have at least ${min} ${unit}`);
  if (typeof max === 'number' && size > max)
    report(validation, at, 'invalid_value', `must have at most ${max} ${unit}`);
}

const isChecked = (format: string, validation: Validation): boolean =>
  Object.hasOwn(STRING_FORMATS, format) && (!validation.before0_4 || STRING_FORMATS_BEFORE_0_4.has(format));

/** Whether the pattern is found in the text. One that cannot be used is found everywhere. */
function matchesPattern(source: string, text: string, validation: Validation): boolean {
  if (validation.before0_4) return true;
  if (!validation.patterns.has(source)) {
    const compiled = compilePattern(source);
    validation.patterns.set(source, 'problem' in compiled ? undefined : compiled);
    spend(validation, 'problem' in compiled ? 1 : 1 + compiled.program.length / 50);
  }
  const pattern = validation.patterns.get(source);
  return pattern === undefined || matches(pattern, text, (steps) => spend(validation, steps / STEPS_PER_APPLICATION));
}

function checkNumber(schema: JsonObject, value: number, at: string, validation: Validation): void {
  const bound = (keyword: string, ok: (limit: number) => boolean, words: string): void => {
    const limit = schema[keyword];
    if (typeof limit === 'number' && !ok(limit)) report(validation, at, 'invalid_value', `must be ${words} ${limit}`);
  };
  bound('minimum', (limit) => value >= limit, 'at least');
  bound('maximum', (limit) => value <= limit, 'at most');
  bound('exclusiveMinimum', (limit) => value > limit, 'more than');
  bound('exclusiveMaximum', (limit) => value < limit, 'less than');
  bound('multipleOf', (step) => step <= 0 || isMultiple(value, step), 'a multiple of');
}

/** 0.3 counts as a multiple of 0.1, although its binary value is not. */
function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient)) * 4;
}

function checkArray(
  schema: JsonObject,
  value: readonly Json[],
  at: string,
  depth: number,
  validation: Validation,
): void {
  const { minItems, maxItems, items, contains } = schema;
  checkSize([minItems, maxItems], value.length, 'items', at, validation);
  const prefix = asList(schema['prefixItems']);
  for (const [index, part] of prefix.entries()) {
    const item = value[index];
    if (item !== undefined) apply(part, item, childPointer(at, index), depth + 1, validation);
  }
  if (items !== undefined) {
    for (let index = prefix.length; index < value.length && !validation.isExhausted; index++)
      apply(items, value[index] ?? null, childPointer(at, index), depth + 1, validation);
  }
  if (contains !== undefined && !value.some((item) => passes(contains, item, depth, validation)))
    report(validation, at, 'invalid_value', 'has no item that matches (contains)');
  if (schema['uniqueItems'] === true) {
    if (new Set(value.map((item) => textOf(item, validation))).size !== value.length)
      report(validation, at, 'invalid_value', 'must not have equal items');
  }
}

function checkObject(schema: JsonObject, value: JsonObject, at: string, depth: number, validation: Validation): void {
  const properties = schema['properties'];
  const required = asList(schema['required']);
  const keys = Object.keys(value);
  spend(validation, (required.length + keys.length) / 50);
  for (const name of required) {
    if (typeof name === 'string' && !Object.hasOwn(value, name))
      report(validation, childPointer(at, name), 'missing_member', 'is missing');
  }
  const { minProperties, maxProperties, additionalProperties, propertyNames } = schema;
  checkSize([minProperties, maxProperties], keys.length, 'members', at, validation);
  const written = schema['patternProperties'];
  const patternProperties = isObject(written) && !validation.before0_4 ? Object.entries(written) : [];
  for (const key of keys) {
    if (validation.isExhausted) return;
    const member = value[key];
    if (member === undefined) continue;
    const place = childPointer(at, key);
    if (propertyNames !== undefined) apply(propertyNames, key, place, depth + 1, validation);
    const isNamed = isObject(properties) && Object.hasOwn(properties, key);
    if (isNamed) apply(properties[key], member, place, depth + 1, validation);
    const patterns = patternProperties.filter(([pattern]) => matchesPattern(pattern, key, validation));
    for (const [, part] of patterns) apply(part, member, place, depth + 1, validation);
    if (isNamed || patterns.length > 0) continue;
    if (additionalProperties !== undefined) apply(additionalProperties, member, place, depth + 1, validation);
  }
}

/** Whether a value matches. Its problems are dropped, its work is counted. */
function passes(schema: Json | undefined, value: Json, depth: number, validation: Validation): boolean {
  const outerProblems = validation.problems;
  validation.problems = [];
  apply(schema, value, '', depth + 1, validation);
  const passed = validation.problems.length === 0;
  validation.problems = outerProblems;
  return passed;
}

function report(validation: Validation, at: string, code: string, words: string): void {
  if (validation.problems.length >= MAX_PROBLEMS) return;
  const member = pointerParts(at).at(-1);
  const name = member === undefined ? 'The value' : `"${member.slice(0, 80)}"`;
  validation.problems.push({ pointer: at, code, message: `${name} ${words}.` });
}

function isEqual(a: Json, b: Json, validation: Validation): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b;
  return !validation.isExhausted && textOf(a, validation) === textOf(b, validation);
}

function textOf(value: Json, validation: Validation): string {
  const text = canonicalText(value);
  spend(validation, 1 + text.length / 100);
  return text;
}

/** Counts work of about `amount` applications of a schema; false once the limit is reached. */
function spend(validation: Validation, amount: number): boolean {
  validation.workLeft -= amount;
  if (validation.workLeft < 0) validation.isExhausted = true;
  return !validation.isExhausted;
}

function asList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
