/** Checks schemas against the supported part of JSON Schema, which json-schema.ts applies. */

import { isObject, type Json, typeName } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { childPointer, valueAt } from '../../json/pointer.ts';
import { didYouMean } from '../document/names.ts';
import type { Problem } from '../document/types.ts';
import { compilePattern } from './pattern.ts';
import { STRING_FORMATS } from './string-formats.ts';

const MAX_DEPTH = 200;
const MAX_PROBLEMS = 50;

const TYPES: readonly string[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

type ValueTest = (value: Json, root: Json) => boolean;
const isAnything: ValueTest = () => true;
const isText: ValueTest = (value) => typeof value === 'string';
const isList: ValueTest = (value) => Array.isArray(value);
const isCount: ValueTest = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const isType: ValueTest = (value) => [value].flat().every((type) => typeof type === 'string' && TYPES.includes(type));
const isReference: ValueTest = (value, root) => resolveReference(root, value) !== undefined;

/** What a keyword's value may be, and how it is called. A `note` is for people and does not restrict values. */
const SHAPES = {
  schema: [isAnything, 'a schema'],
  schemas: [isList, 'a list of schemas'],
  schemaMap: [isObject, 'an object of schemas'],
  number: [(value) => typeof value === 'number', 'a number'],
  count: [isCount, 'a whole number from 0'],
  names: [(value) => Array.isArray(value) && value.every((name) => typeof name === 'string'), 'a list of member names'],
  list: [isList, 'a list of values'],
  flag: [(value) => typeof value === 'boolean', 'true or false'],
  type: [isType, `a type (${TYPES.join(', ')})`],
  ref: [isReference, 'a reference to a part of this format, such as "#/$defs/address"'],
  text: [isText, 'a string'],
  pattern: [isText, 'a string'],
  patternMap: [isObject, 'an object of schemas'],
  any: [isAnything, 'a value'],
  note: [isAnything, 'a value'],
} as const satisfies { readonly [shape: string]: readonly [ValueTest, string] };
type KeywordShape = keyof typeof SHAPES;

const KEYWORDS: { readonly [keyword: string]: KeywordShape } = {
  type: 'type',
  enum: 'list',
  const: 'any',
  nullable: 'flag',
  properties: 'schemaMap',
  patternProperties: 'patternMap',
  required: 'names',
  additionalProperties: 'schema',
  propertyNames: 'schema',
  minProperties: 'count',
  maxProperties: 'count',
  items: 'schema',
  prefixItems: 'schemas',
  contains: 'schema',
  minItems: 'count',
  maxItems: 'count',
  uniqueItems: 'flag',
  minLength: 'count',
  maxLength: 'count',
  format: 'text',
  pattern: 'pattern',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  not: 'schema',
  if: 'schema',
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; the object is never awaited.
  then: 'schema',
  else: 'schema',
  $ref: 'ref',
  $defs: 'schemaMap',
  definitions: 'schemaMap',
  $schema: 'note',
  $comment: 'note',
  $id: 'note',
  title: 'note',
  description: 'note',
  default: 'note',
  examples: 'note',
  example: 'note',
  deprecated: 'note',
  readOnly: 'note',
  writeOnly: 'note',
};

/** What is wrong with a schema, with pointers into it. */
interface SchemaFindings {
  /** Errors and unsupported parts. */
  readonly problems: readonly Problem[];
  /** Parts that restrict less or more than their author may expect. */
  readonly warnings: readonly Problem[];
}

export function jsonSchemaFindings(schema: Json): SchemaFindings {
  const inspection = { problems: [], warnings: [], root: schema, isOld: isBefore2019(schema) };
  inspect(schema, '', 0, inspection);
  return { problems: inspection.problems.slice(0, MAX_PROBLEMS), warnings: inspection.warnings.slice(0, MAX_PROBLEMS) };
}

interface Inspection {
  readonly problems: Problem[];
  readonly warnings: Problem[];
  readonly root: Json;
  /** The schema names a draft in which the siblings of `$ref` mean nothing. */
  readonly isOld: boolean;
}

const isBefore2019 = (schema: Json): boolean =>
  isObject(schema) && typeof schema['$schema'] === 'string' && /\/draft-0[3-7]\//.test(schema['$schema']);

/** The target of a reference within a format; undefined if it does not exist or is outside. */
export function resolveReference(root: Json, reference: Json | undefined): Json | undefined {
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) return undefined;
  return valueAt(root, reference.slice(1));
}

function inspect(schema: Json | undefined, at: string, depth: number, inspection: Inspection): void {
  const { problems, warnings, root } = inspection;
  const addProblem = (place: string, message: string, hint?: string): void => {
    problems.push({ pointer: place, code: 'invalid_format', message, ...omitUndefined({ hint }) });
  };
  if (typeof schema === 'boolean' || problems.length >= MAX_PROBLEMS) return;
  if (!isObject(schema)) {
    addProblem(at, `Expected a JSON Schema (an object, true or false), got ${typeName(schema)}.`);
    return;
  }
  if (depth > MAX_DEPTH) {
    addProblem(at, `The format is nested deeper than ${MAX_DEPTH} levels.`);
    return;
  }
  if (inspection.isOld && schema['$ref'] !== undefined && Object.keys(schema).some(isRestricting)) {
    const message =
      'Keywords beside "$ref" apply here, as in draft 2019-09 and later, unlike in the draft of this schema.';
    warnings.push({ pointer: childPointer(at, '$ref'), code: 'invalid_format', message });
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const place = childPointer(at, keyword);
    const shape = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
    if (shape === undefined) {
      if (keyword.startsWith('x-')) continue;
      const hint = didYouMean(keyword, Object.keys(KEYWORDS));
      addProblem(place, `The JSON Schema keyword "${keyword.slice(0, 80)}" is not supported here.`, hint);
      continue;
    }
    const [isValid, expected] = SHAPES[shape];
    if (!isValid(value, root)) addProblem(place, `Expected ${expected}.`);
    else if (shape === 'pattern') inspectPattern(String(value), place, addProblem);
    else if (keyword === 'format' && typeof value === 'string' && !Object.hasOwn(STRING_FORMATS, value)) {
      const message = `The format "${value.slice(0, 80)}" is not checked here: every text fits.`;
      const hint = didYouMean(value, Object.keys(STRING_FORMATS));
      warnings.push({ pointer: place, code: 'unchecked_format', message, ...omitUndefined({ hint }) });
    } else if (shape === 'schema') inspect(value, place, depth + 1, inspection);
    else if (shape === 'schemas' && Array.isArray(value)) {
      for (const [index, inner] of value.entries()) inspect(inner, childPointer(place, index), depth + 1, inspection);
    } else if ((shape === 'schemaMap' || shape === 'patternMap') && isObject(value)) {
      for (const [name, inner] of Object.entries(value)) {
        if (shape === 'patternMap') inspectPattern(name, childPointer(place, name), addProblem);
        inspect(inner, childPointer(place, name), depth + 1, inspection);
      }
    }
  }
}

function inspectPattern(source: string, place: string, addProblem: (place: string, message: string) => void): void {
  const compiled = compilePattern(source);
  if ('problem' in compiled) addProblem(place, `The pattern ${compiled.problem}.`);
}

/** Whether a keyword beside `$ref` restricts values. */
const isRestricting = (keyword: string): boolean =>
  !['$ref', '$defs', 'definitions'].includes(keyword) &&
  Object.hasOwn(KEYWORDS, keyword) &&
  KEYWORDS[keyword] !== 'note';
