/**
 * Payload formats describe a run's input, a form or a message (LANGUAGE.md §1). A format is written in the short form
 * of alloy (`orderId: string`, `{type, description}`, dotted names) or as JSON Schema. This file runs in the
 * workflow sandbox too: it uses no clock, no built-ins of Node and no regular expressions of users.
 */

import { getOwn, isObject, type Json, type JsonObject, setOwn, typeName } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { childPointer } from '../../json/pointer.ts';
import { didYouMean } from '../document/names.ts';
import type { PayloadFormat, Problem, StateField } from '../document/types.ts';
import { type ValidationOptions, validateJsonSchema } from './json-schema.ts';
import { jsonSchemaFindings } from './json-schema-check.ts';
import { isDate, isIsoDatetime } from './string-formats.ts';

/** `date` is YYYY-MM-DD, `datetime` ISO 8601; the last four are the other types of JSON. */
export const FIELD_TYPES = [
  'string',
  'number',
  'boolean',
  'date',
  'datetime',
  'integer',
  'object',
  'array',
  'any',
] as const;
type FieldType = (typeof FIELD_TYPES)[number];

const FIELD_MEMBERS: ReadonlySet<string> = new Set(
  'type description required default enum title items properties label'.split(' '),
);

/**
 * Whether a format is JSON Schema: it has `$schema`, `type: object` that cannot be a field, a list `required` beside
 * `properties`, or a combinator.
 */
export function isJsonSchema(format: PayloadFormat): boolean {
  if (typeof getOwn(format, '$schema') === 'string' || typeof getOwn(format, '$ref') === 'string') return true;
  if (getOwn(format, 'type') === 'object') return true;
  if (isObject(getOwn(format, 'properties')) && Array.isArray(getOwn(format, 'required'))) return true;
  return ['anyOf', 'oneOf', 'allOf'].some((keyword) => Array.isArray(getOwn(format, keyword)));
}

/**
 * The problems of `value` under `format`, with pointers into the value. Fields of the short form are required unless
 * they have `required: false` or a default; other members are allowed. Never throws.
 */
export function validatePayload(format: PayloadFormat, value: Json, options: ValidationOptions = {}): Problem[] {
  if (isJsonSchema(format)) return validateJsonSchema(format, value, options);
  if (Object.keys(format).length === 0) return [];
  if (value !== null && !isObject(value)) {
    return [
      {
        pointer: '',
        code: 'invalid_payload',
        message: `Expected an object with ${fieldList(format)}, got ${typeName(value)}.`,
      },
    ];
  }
  return shortFormViolations(format, value ?? {}, '', options);
}

/** The problems of a format itself, with pointers into the format. */
export const formatProblems = (format: PayloadFormat): readonly Problem[] =>
  isJsonSchema(format) ? jsonSchemaFindings(format).problems : shortFormProblems(format, '', 0);

/**
 * What of a format does not restrict values as its author may expect. In the short form these are all findings of the
 * schemas within fields.
 */
export const formatWarnings = (format: PayloadFormat): readonly Problem[] =>
  isJsonSchema(format) ? jsonSchemaFindings(format).warnings : shortFormWarnings(format, '', 0);

function shortFormWarnings(format: PayloadFormat, at: string, depth: number): Problem[] {
  return Object.entries(format).flatMap(([name, field]) => {
    const place = childPointer(at, name);
    const type = fieldType(field);
    if (!isObject(field)) return [];
    if (type === undefined) return depth < 50 ? shortFormWarnings(field, place, depth + 1) : [];
    if (!hasMemberSchema(field, type)) return [];
    const { problems, warnings } = jsonSchemaFindings(schemaOf(field));
    return [...problems, ...warnings].map((found) => ({ ...found, pointer: place + found.pointer }));
  });
}

/**
 * Fills in the defaults of a short form's fields. Returns the payload itself if nothing is missing. The default of a
 * dotted name goes into the object at its first part where the payload has one, and else keeps its flat name.
 */
export function withDefaults(format: PayloadFormat, value: Json): Json {
  const isOpen = isJsonSchema(format) || Object.keys(format).length === 0;
  if (isOpen || (value !== null && !isObject(value))) return value;
  // If fields are declared, a missing payload counts as an empty object.
  const given = value ?? {};
  // Each object is copied once: a copy for each of thousands of defaults takes minutes.
  let filled: JsonObject | undefined;
  const copies = new Set<JsonObject>();
  for (const [name, field] of Object.entries(format)) {
    const fallback = getOwn(field, 'default');
    if (fallback === undefined || fieldType(field) === undefined) continue;
    if (readField(filled ?? given, name) !== undefined) continue;
    filled ??= { ...given };
    setField(filled, name, fallback, copies);
  }
  return filled ?? given;
}

function setField(payload: JsonObject, name: string, value: Json, copies: Set<JsonObject>): void {
  const parts = name.split('.');
  const last = parts.pop() ?? name;
  if (parts.length === 0 || !isNestedIn(payload, parts)) {
    setOwn(payload, name, value);
    return;
  }
  let holder = payload;
  for (const part of parts) {
    const inner = getOwn(holder, part);
    const copy: JsonObject = isObject(inner) && copies.has(inner) ? inner : { ...(isObject(inner) ? inner : {}) };
    copies.add(copy);
    setOwn(holder, part, copy);
    holder = copy;
  }
  setOwn(holder, last, value);
}

/** Whether the payload has an object at the first part, and nothing else than objects along the others. */
function isNestedIn(payload: JsonObject, parts: readonly string[]): boolean {
  let here: Json | undefined = payload;
  for (const [index, part] of parts.entries()) {
    here = getOwn(here, part);
    if (here === undefined) return index > 0;
    if (!isObject(here)) return false;
  }
  return true;
}

/**
 * Converts a value to the type of a declared state field: texts to numbers and booleans, numbers and booleans to text.
 * Null clears any field. Other values are refused with a sentence.
 */
export function coerceState(field: StateField, value: Json): { value: Json } | { problem: string } {
  if (value === null || typeof value === field.type) return { value };
  if (field.type === 'string' && (typeof value === 'number' || typeof value === 'boolean'))
    return { value: String(value) };
  if (typeof value === 'string') {
    const written = value.trim();
    if (field.type === 'number' && isPlainNumber(written)) return { value: Number(written) };
    if (field.type === 'boolean' && (written === 'true' || written === 'false')) return { value: written === 'true' };
  }
  return { problem: `expected ${field.type}, got ${typeName(value)}` };
}

/**
 * Whether a format declares the member at `path`: `declared`, `undeclared` (it declares other members), `parts` (it
 * declares dotted names that begin with the path), or `open` (the path is below a declared member, or the format is
 * empty).
 */
type DeclarationStatus = 'declared' | 'undeclared' | 'parts' | 'open';

export function declarationStatus(format: PayloadFormat, path: readonly (string | number)[]): DeclarationStatus {
  if (path.length === 0) return 'declared';
  return isJsonSchema(format) ? schemaDeclares(format, path) : shortFormDeclares(format, path);
}

/** The top-level names of a format, for hints. */
export function declaredNames(format: PayloadFormat): string[] {
  const members = isJsonSchema(format) ? getOwn(format, 'properties') : format;
  return isObject(members) ? Object.keys(members) : [];
}

function shortFormViolations(format: PayloadFormat, value: Json, at: string, options: ValidationOptions): Problem[] {
  const problems: Problem[] = [];
  for (const [name, field] of Object.entries(format)) {
    const type = fieldType(field);
    const found = readField(value, name);
    const place = childPointer(at, name);
    if (found === undefined) {
      if (type !== undefined ? isRequired(field) : isObject(field)) {
        problems.push({
          pointer: place,
          code: 'missing_member',
          message: `"${name}" is missing: expected ${type ?? 'object'}.`,
        });
      }
    } else if (type === undefined) {
      if (isObject(field)) problems.push(...nestedViolations(field, found, name, place, options));
    } else {
      problems.push(...checkField(field, type, found, name, place, options));
    }
  }
  return problems;
}

function nestedViolations(
  field: PayloadFormat,
  found: Json,
  name: string,
  place: string,
  options: ValidationOptions,
): Problem[] {
  if (isObject(found)) return shortFormViolations(field, found, place, options);
  return [{ pointer: place, code: 'wrong_type', message: `"${name}" must be object, got ${typeName(found)}.` }];
}

function checkField(
  field: Json,
  type: FieldType,
  found: Json,
  name: string,
  place: string,
  options: ValidationOptions,
): Problem[] {
  if (found === null && !isRequired(field)) return [];
  if (!matchesType(type, found)) {
    const isWritten = type === 'date' || type === 'datetime';
    const got = isWritten && typeof found === 'string' ? 'another string' : typeName(found);
    return [{ pointer: place, code: 'wrong_type', message: `"${name}" must be ${describeType(type)}, got ${got}.` }];
  }
  const allowed = getOwn(field, 'enum');
  if (Array.isArray(allowed) && !allowed.includes(found)) {
    const shown = allowed.map((one) => JSON.stringify(one)).join(', ');
    return [{ pointer: place, code: 'invalid_value', message: `"${name}" must be one of ${shown}.` }];
  }
  if (isObject(field) && hasMemberSchema(field, type))
    return validateJsonSchema(schemaOf(field), found, options).map((one) => ({ ...one, pointer: place + one.pointer }));
  return [];
}

/** Whether a field of the short form has a JSON Schema of its members or items. */
const hasMemberSchema = (field: JsonObject, type: FieldType): boolean =>
  (type === 'object' || type === 'array') && ('properties' in field || 'items' in field);

function schemaOf(field: JsonObject): JsonObject {
  const { required, label: _, ...schema } = field;
  return Array.isArray(required) ? { ...schema, required } : schema;
}

function matchesType(type: FieldType, value: Json): boolean {
  switch (type) {
    case 'any':
      return true;
    case 'date':
      return typeof value === 'string' && isDate(value);
    case 'datetime':
      return typeof value === 'string' && isIsoDatetime(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    default:
      return typeName(value) === type;
  }
}

function describeType(type: FieldType): string {
  if (type === 'date') return 'a date (YYYY-MM-DD)';
  if (type === 'datetime') return 'a datetime (ISO 8601)';
  return type;
}

/** The declared type of a field: `string` itself or the `type` of `{type, …}`; undefined for a nested short form. */
function fieldType(field: Json | undefined): FieldType | undefined {
  const written = typeof field === 'string' ? field : getOwn(field, 'type');
  return typeof written === 'string' ? FIELD_TYPES.find((type) => type === written) : undefined;
}

function isRequired(field: Json): boolean {
  return getOwn(field, 'required') !== false && getOwn(field, 'default') === undefined;
}

/** A field's value: the member of the whole name (alloy's flat keys), else the value along the dots. */
function readField(value: Json, name: string): Json | undefined {
  const flat = getOwn(value, name);
  if (flat !== undefined || !name.includes('.')) return flat;
  let here: Json | undefined = value;
  for (const part of name.split('.')) here = getOwn(here, part);
  return here;
}

function shortFormProblems(format: PayloadFormat, at: string, depth: number): Problem[] {
  const problems: Problem[] = [];
  for (const [name, field] of Object.entries(format)) {
    const place = childPointer(at, name);
    const written = typeof field === 'string' ? field : getOwn(field, 'type');
    if (typeof written === 'string') {
      if (fieldType(field) === undefined) {
        const hint = didYouMean(written, FIELD_TYPES);
        const message = `"${written}" is not a type: expected ${FIELD_TYPES.slice(0, 5).join(', ')} or JSON Schema.`;
        problems.push({ pointer: place, code: 'invalid_format', message, ...omitUndefined({ hint }) });
      } else if (isObject(field)) {
        for (const member of Object.keys(field)) {
          if (FIELD_MEMBERS.has(member)) continue;
          const hint = didYouMean(member, [...FIELD_MEMBERS]);
          const message = `"${member}" is not a member of a field: expected type and description.`;
          problems.push({
            pointer: childPointer(place, member),
            code: 'unknown_member',
            message,
            ...omitUndefined({ hint }),
          });
        }
      }
    } else if (isObject(field) && isTypeless(field)) {
      const message = `"${name}" has no type: expected {type, description}, such as {type: string}.`;
      problems.push({ pointer: place, code: 'missing_member', message });
    } else if (isObject(field) && depth < 50) {
      problems.push(...shortFormProblems(field, place, depth + 1));
    } else {
      const message = `Expected a type such as string, or {type, description}, got ${typeName(field)}.`;
      problems.push({ pointer: place, code: 'invalid_format', message });
    }
  }
  return problems;
}

/** Whether an object is a field without its type, and not a nested form: nothing in it is a field of its own. */
function isTypeless(field: JsonObject): boolean {
  const names = Object.keys(field);
  return (
    names.length > 0 &&
    names.every((name) => FIELD_MEMBERS.has(name)) &&
    Object.values(field).every((value) => fieldType(value) === undefined && !isObject(value))
  );
}

function shortFormDeclares(format: PayloadFormat, path: readonly (string | number)[]): DeclarationStatus {
  const names = Object.keys(format);
  if (names.length === 0) return 'open';
  const first = String(path[0]);
  const field = getOwn(format, first);
  if (field !== undefined) {
    if (path.length === 1) return 'declared';
    if (fieldType(field) === undefined && isObject(field)) return shortFormDeclares(field, path.slice(1));
    return 'open';
  }
  const dotted = names.filter((name) => name.startsWith(`${first}.`));
  if (dotted.length === 0) return 'undeclared';
  for (let length = 2; length <= path.length; length++) {
    if (names.includes(path.slice(0, length).join('.'))) return length === path.length ? 'declared' : 'open';
  }
  return dotted.some((name) => name.startsWith(`${path.join('.')}.`)) ? 'parts' : 'undeclared';
}

function schemaDeclares(schema: Json, path: readonly (string | number)[]): DeclarationStatus {
  let here: Json | undefined = schema;
  for (const part of path) {
    if (typeof part === 'number' || getOwn(here, '$ref') !== undefined) return 'open';
    if (['anyOf', 'oneOf', 'allOf', 'if', 'patternProperties'].some((keyword) => getOwn(here, keyword) !== undefined))
      return 'open';
    const properties = getOwn(here, 'properties');
    if (!isObject(properties)) return 'open';
    const next = getOwn(properties, part);
    if (next === undefined)
      return getOwn(here, 'additionalProperties') === undefined || getOwn(here, 'additionalProperties') === false
        ? 'undeclared'
        : 'open';
    here = next;
  }
  return 'declared';
}

function fieldList(format: PayloadFormat): string {
  const names = Object.keys(format);
  return names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more members`;
}

function isPlainNumber(text: string): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text));
}
