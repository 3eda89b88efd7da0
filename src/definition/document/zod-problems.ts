/** Converts zod's issues to problems: a JSON pointer, a stable code, a sentence, a hint. */

import type { z } from 'zod';
import { isObject, type Json, typeName } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { pointer } from '../../json/pointer.ts';
import { didYouMean, nearestName } from './names.ts';
import type { Problem } from './types.ts';

/** The most problems that are reported for a document. */
export const MAX_PROBLEMS = 200;

type Issue = z.core.$ZodIssue;

/** The problems of `value` under `schema`. `at` is the pointer of `value` in the document. */
export function zodProblems(schema: z.ZodType, value: Json, at: string): Problem[] {
  const result = schema.safeParse(value);
  if (result.success) return [];
  const problems: Problem[] = [];
  for (const issue of result.error.issues) {
    for (const problem of issueProblems(issue, [], value, schema)) {
      if (problems.length >= MAX_PROBLEMS) return problems;
      problems.push({ ...problem, pointer: at + problem.pointer });
    }
  }
  return problems;
}

function issueProblems(issue: Issue, prefix: readonly PropertyKey[], value: Json, schema: z.ZodType): Problem[] {
  const path = [...prefix, ...issue.path];
  const found = valueAt(value, path);
  const place = pointer(path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = membersOf(schemaAt(schema, path));
      return issue.keys.map((key) => {
        const hint = didYouMean(key, known);
        const message = `"${truncated(key)}" is not a known member here.`;
        return {
          pointer: pointer([...path, key]),
          code: 'unknown_member',
          message,
          ...omitUndefined({ hint }),
        };
      });
    }
    case 'invalid_type':
      return [typeProblem(place, path, issue.expected, found)];
    case 'invalid_value': {
      const known = issue.values.map(String);
      const message = `Expected ${joinAlternatives(known)}, got ${displayValue(found)}.`;
      if (found === undefined) return [missingProblem(place, path, joinAlternatives(known))];
      const hint = typeof found === 'string' ? didYouMean(found, known) : undefined;
      return [{ pointer: place, code: 'invalid_value', message, ...omitUndefined({ hint }) }];
    }
    case 'invalid_union':
      return unionProblems(issue, path, found, value, schema);
    case 'invalid_key':
      return [
        {
          pointer: place,
          code: 'invalid_name',
          message: asSentence(issue.issues[0]?.message ?? 'expected another name', path),
        },
      ];
    case 'invalid_element':
      return issue.issues.flatMap((inner) => issueProblems(inner, path, value, schema));
    default:
      return [{ pointer: place, code: 'invalid_value', message: asSentence(issue.message, path) }];
  }
}

/**
 * Reports the alternative whose issue is deepest. If all issues are at the top, it names what each alternative expects.
 */
function unionProblems(
  issue: z.core.$ZodIssueInvalidUnion,
  path: readonly PropertyKey[],
  found: Json | undefined,
  value: Json,
  schema: z.ZodType,
): Problem[] {
  const alternatives = issue.errors.filter((errors) => errors.length > 0);
  const inside = alternatives.find((errors) => errors.every((error) => !isRootMismatch(error)));
  if (inside !== undefined) return inside.flatMap((inner) => issueProblems(inner, path, value, schema));
  const expected = joinAlternatives([...new Set(alternatives.flatMap((errors) => expectedBy(errors[0])))]);
  if (found === undefined) return [missingProblem(pointer(path), path, expected)];
  const hint = typeof found === 'string' ? unionHint(found, alternatives) : undefined;
  // The value is shown only if texts are expected: elsewhere it can be a secret.
  const isKnownType = typeof found === 'string' && alternatives.some((errors) => knownTexts(errors[0]).length > 0);
  const message = isKnownType ? `Expected ${expected}, got ${displayValue(found)}.` : mismatchMessage(expected, found);
  const code = isKnownType ? 'invalid_value' : 'wrong_type';
  return [{ pointer: pointer(path), code, message, ...omitUndefined({ hint }) }];
}

/** The issue of every alternative for templates (src/steps/config/schema.ts). */
export const EXPECTED_TEMPLATE = 'a template such as {{ input.value }}';

function isRootMismatch(issue: Issue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === 'invalid_union') return issue.errors.every((errors) => errors.some(isRootMismatch));
  return issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.message === EXPECTED_TEMPLATE;
}

function expectedBy(issue: Issue | undefined): string[] {
  if (issue?.message === EXPECTED_TEMPLATE) return [EXPECTED_TEMPLATE];
  if (issue?.code === 'invalid_type') return [typeOf(issue.expected)];
  if (issue?.code === 'invalid_value') return issue.values.map((one) => JSON.stringify(one) ?? String(one));
  if (issue?.code === 'invalid_union') return issue.errors.flatMap((errors) => expectedBy(errors[0]));
  return ['another value'];
}

function knownTexts(issue: Issue | undefined): string[] {
  if (issue?.code === 'invalid_value') return issue.values.filter((one) => typeof one === 'string');
  return issue?.code === 'invalid_union' ? issue.errors.flatMap((errors) => knownTexts(errors[0])) : [];
}

/** The hint for a text that matches no alternative. */
function unionHint(found: string, alternatives: readonly Issue[][]): string | undefined {
  const types = alternatives.flatMap((errors) => expectedBy(errors[0]));
  const isNumber = /^-?\d+(\.\d+)?$/.test(found) && types.some((type) => type === 'number' || type === 'int');
  const isBoolean = (found === 'true' || found === 'false') && types.includes('boolean');
  if (isNumber || isBoolean) return `Write it without quotes: ${truncated(found)}.`;
  const known = alternatives.flatMap((errors) => knownTexts(errors[0]));
  const meant = nearestName(found.slice(0, 100), known);
  return meant === undefined ? undefined : `Did you mean "${meant}"?`;
}

/** zod's names of types in the words of messages. */
function typeOf(expected: string): string {
  if (expected === 'nonoptional') return 'a value';
  return expected === 'record' ? 'object' : expected;
}

function typeProblem(place: string, path: readonly PropertyKey[], expected: string, found: Json | undefined): Problem {
  const name = typeOf(expected);
  if (found === undefined) return missingProblem(place, path, name);
  const message = mismatchMessage(name, found);
  const quoted = name === 'string' && typeof found === 'number' ? { hint: `Write it in quotes: "${found}".` } : {};
  return { pointer: place, code: 'wrong_type', message, ...quoted };
}

/** An empty value of YAML is null. */
const mismatchMessage = (expected: string, found: Json): string =>
  found === null
    ? `Nothing is written here (null): expected ${expected}.`
    : `Expected ${expected}, got ${typeName(found)}.`;

function missingProblem(place: string, path: readonly PropertyKey[], expected: string): Problem {
  return {
    pointer: place,
    code: 'missing_member',
    message: `"${truncated(String(path.at(-1) ?? ''))}" is missing: expected ${expected}.`,
  };
}

function asSentence(message: string, path: readonly PropertyKey[]): string {
  const last = path.at(-1);
  const withFullStop = message.endsWith('.') ? message : `${message}.`;
  return last === undefined ? withFullStop : `"${truncated(String(last))}": ${withFullStop}`;
}

function joinAlternatives(names: readonly string[]): string {
  if (names.length <= 1) return names[0] ?? 'nothing';
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

function displayValue(value: Json | undefined): string {
  return typeof value === 'string'
    ? `"${truncated(value)}"`
    : typeof value === 'object'
      ? typeName(value)
      : String(value);
}

/** Cuts a text of the document for a message. */
function truncated(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

function valueAt(value: Json, path: readonly PropertyKey[]): Json | undefined {
  let here: Json | undefined = value;
  for (const part of path) {
    if (Array.isArray(here)) here = here[Number(part)];
    else if (isObject(here) && Object.hasOwn(here, part)) here = here[String(part)];
    else return undefined;
  }
  return here;
}

/** The schema for the value at `path`, as far as it can be followed. */
function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): ZodInternals | undefined {
  let here: ZodInternals | undefined = unwrapped(schema as unknown as ZodInternals);
  for (const part of path) {
    if (here === undefined) return undefined;
    const definition: ZodInternalsDefinition = here.def;
    here = unwrapped(definition.shape?.[String(part)] ?? definition.valueType ?? definition.element);
  }
  return here;
}

/** The parts of zod's internal shape that are read here: `def` of objects, records, arrays, unions and wrappers. */
interface ZodInternals {
  readonly def: ZodInternalsDefinition;
}
interface ZodInternalsDefinition {
  readonly shape?: { readonly [member: string]: ZodInternals };
  readonly valueType?: ZodInternals;
  readonly element?: ZodInternals;
  readonly innerType?: ZodInternals;
  readonly options?: readonly ZodInternals[];
}

function unwrapped(schema: ZodInternals | undefined): ZodInternals | undefined {
  let here = schema;
  while (here?.def.innerType !== undefined) here = here.def.innerType;
  if (here?.def.options !== undefined)
    return here.def.options.map(unwrapped).find((one) => one?.def.shape !== undefined);
  return here;
}

function membersOf(schema: ZodInternals | undefined): string[] {
  return Object.keys(schema?.def.shape ?? {});
}
