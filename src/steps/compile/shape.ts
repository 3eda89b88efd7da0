/**
 * Checks that a document has the basic shape of a definition. The schema (src/definition/document/schema.ts) checks
 * more, but is not in the workflow bundle. A run that was started by hand brings an unchecked document, which must be
 * refused with the location of the mistake.
 */

import type { Problem } from '../../definition/document/types.ts';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';

type ValueTest = (value: Json | undefined) => boolean;
/** The test of a member that is present, and the expected type in words. */
type Members = { readonly [member: string]: readonly [ValueTest, string] };

const isText: ValueTest = (value) => typeof value === 'string';
const isNumber: ValueTest = (value) => typeof value === 'number' && Number.isFinite(value);
const isCount: ValueTest = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 1;
const isStringMap: ValueTest = (value) => isObject(value) && Object.values(value).every(isText);
const isNames: ValueTest = (value) => Array.isArray(value) && value.every(isText);
const isWhen: ValueTest = (value) => isText(value) || (isObject(value) && isText(value['ref']));
const oneOf =
  (...values: readonly Json[]): ValueTest =>
  (value) =>
    value !== undefined && values.includes(value);

/** The schema refuses unknown members. */
const ANYTHING: readonly [ValueTest, string] = [() => true, ''];
const TEXT = [isText, 'a text'] as const;
const OBJECT = [isObject, 'an object'] as const;
const RETRY = [
  (value) => isText(value) || isObject(value),
  'a retry policy, or the name of one',
] as const satisfies Members[string];
const WHEN = [isWhen, "an expression, or an object with the text 'ref'"] as const;

const DEFINITION: Members = {
  name: TEXT,
  slug: TEXT,
  version: TEXT,
  start: TEXT,
  flow: [oneOf('ports', 'dag'), "'ports' or 'dag'"],
  dialect: TEXT,
  state: OBJECT,
  config: OBJECT,
};
const CONFIG: Members = {
  variables: OBJECT,
  retryPolicy: RETRY,
  fuse: [oneOf(true, false), 'true or false'],
  maxSteps: [isCount, 'a whole number of at least 1'],
  onFailure: [oneOf('fail', 'rollback'), "'fail' or 'rollback'"],
};
const STEP: Members = {
  name: TEXT,
  order: [isNumber, 'a number'],
  config: OBJECT,
  nextSteps: [isStringMap, 'an object: port → step'],
  when: WHEN,
  retry: RETRY,
  local: [oneOf(true, false, 'auto'), "true, false or 'auto'"],
  fuse: [oneOf(true, false), 'true or false'],
  onError: [oneOf('fail', 'continue'), "'fail' or 'continue'"],
  saveToState: [(value) => isText(value) || isStringMap(value), 'a key, or an object: key → expression'],
  outputVariable: TEXT,
  rollback: OBJECT,
  dependsOn: [isNames, 'a list of steps'],
  forEach: OBJECT,
  bail: [(value) => value === true || isWhen(value), "true, an expression, or an object with the text 'ref'"],
};
const ROLLBACK: Members = { config: OBJECT, retry: RETRY };
const isType = oneOf('string', 'number', 'boolean');

/** The problems of a document's shape, each `wrong_type`; empty where it can be read as a definition. Never throws. */
export function shapeProblems(document: unknown): Problem[] {
  const problems: Problem[] = [];
  const report = (pointer: string, expected: string): void => {
    problems.push({ pointer, code: 'wrong_type', message: `Expected ${expected} here.` });
  };
  const members = (value: JsonObject, at: string, known: Members): void => {
    for (const member of Object.keys(value)) {
      const [is, expected] = (Object.hasOwn(known, member) ? known[member] : undefined) ?? ANYTHING;
      if (value[member] !== undefined && !is(value[member])) report(childPointer(at, member), expected);
    }
  };
  const needed = (value: JsonObject, at: string, member: string): void => {
    if (!Object.hasOwn(value, member) || !isText(value[member])) report(childPointer(at, member), 'a text');
  };
  const definition = document as Json | undefined;
  if (!isObject(definition)) {
    report('', 'a definition: an object with steps');
    return problems;
  }
  members(definition, '', DEFINITION);
  const { config, state, steps } = definition;
  if (isObject(config)) members(config, '/config', CONFIG);
  if (isObject(state))
    for (const [key, field] of Object.entries(state)) {
      const at = childPointer('/state', key);
      const type = isObject(field) ? field['type'] : field;
      if (!isType(type)) report(isObject(field) ? `${at}/type` : at, "'string', 'number' or 'boolean'");
    }
  if (!isObject(steps)) {
    report('/steps', 'an object: slug → step');
    return problems;
  }
  for (const [slug, step] of Object.entries(steps)) {
    const at = childPointer('/steps', slug);
    if (!isObject(step)) {
      report(at, 'a step: an object with stepType');
      continue;
    }
    needed(step, at, 'stepType');
    members(step, at, STEP);
    const { rollback } = step;
    if (!isObject(rollback)) continue;
    needed(rollback, `${at}/rollback`, 'stepType');
    members(rollback, `${at}/rollback`, ROLLBACK);
  }
  return problems;
}
