/**
 * Completions at an offset of a definition: members and values by the schema of the language, names of steps, and
 * names within templates. Pure. The text may be unfinished: the word at the cursor is replaced by a mark, and the mark
 * is searched in the parsed text.
 */
import { isMap, isScalar, isSeq } from 'yaml';
import { ROOT_MEANINGS } from '../../definition/document/roots.ts';
import { getOwn, isObject, type Json, type JsonObject } from '../../json/json.ts';
import { valueAt } from '../../json/pointer.ts';
import { type ParsedText, parsedValue, parseText } from './text-ranges.ts';

interface Completion {
  readonly label: string;
  readonly kind: 'member' | 'value' | 'step' | 'name';
  /** A sentence about it. */
  readonly info?: string | undefined;
  /** The text that replaces the word. */
  readonly apply: string;
}

interface Completions {
  /** The offset of the word that a completion replaces. */
  readonly from: number;
  readonly options: readonly Completion[];
}

const CURSOR_MARK = 'zzMARKzz';
const END = '$end';
const MAX_TEMPLATE = 2_000;
/** Members whose text is an expression, without braces. */
const EXPRESSION_MEMBERS: ReadonlySet<string> = new Set(['when', 'bail', 'while', 'until', 'expression']);

/** The completions at `offset`. Undefined if there are none. */
export function completionsAt(text: string, offset: number, schema: JsonObject): Completions | undefined {
  const expression = expressionBefore(text, offset);
  if (expression !== undefined) return nameCompletions(expression, offset, () => parsedValue(parseText(text)));
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  const word = /[\w$-]*$/.exec(before)?.[0] ?? '';
  const from = offset - word.length;
  const tail = /^[\w$-]*/.exec(text.slice(offset))?.[0].length ?? 0;
  const rest = text.slice(offset + tail);
  const locations = markLocations(text, from, rest, before.slice(0, before.length - word.length));
  const isQuoted = /["']$/.test(text.slice(0, from));
  const isJson = /^\s*\{/.test(text);
  const options: Completion[] = [];
  for (const { parsed, path, isKey } of locations) {
    const value = parsedValue(parsed);
    if (!isKey && EXPRESSION_MEMBERS.has(String(path.at(-1))))
      options.push(...(nameCompletions(word, offset, () => value)?.options ?? []));
    const steps = isKey ? undefined : stepCompletions(path, value);
    if (isKey) options.push(...memberCompletions(path, value, schema));
    else options.push(...(steps ?? valueCompletions(path, value, schema)));
  }
  const completions = options.map((option) => ({ ...option, apply: insertedText(option, { isQuoted, isJson, rest }) }));
  return completions.length === 0 ? undefined : { from, options: completions };
}

interface MarkLocation {
  readonly parsed: ParsedText;
  readonly path: readonly (string | number)[];
  /** The mark is the name of a member of the object at `path`. */
  readonly isKey: boolean;
}

/** The locations of the mark, parsed as a member name and as a value. */
function markLocations(text: string, from: number, rest: string, lead: string): MarkLocation[] {
  const head = text.slice(0, from);
  const isOnlyWord = /^\s*(?:- +)*$/.test(lead) && !/^\s*:/.test(rest);
  const readings = [...(isOnlyWord ? [`${CURSOR_MARK}: `] : []), CURSOR_MARK];
  const locations: MarkLocation[] = [];
  for (const reading of readings) {
    const parsed = parseText(`${head}${reading}${rest}`);
    const found = findMark(parsed.document.contents, []);
    if (found !== undefined && !locations.some(({ isKey }) => isKey === found.isKey))
      locations.push({ parsed, ...found });
  }
  return locations;
}

function findMark(node: unknown, path: readonly (string | number)[]): Omit<MarkLocation, 'parsed'> | undefined {
  if (isScalar(node)) return node.value === CURSOR_MARK ? { path, isKey: false } : undefined;
  if (isMap(node))
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : undefined;
      if (name === CURSOR_MARK) return { path, isKey: true };
      const found = name === undefined ? undefined : findMark(value, [...path, name]);
      if (found !== undefined) return found;
    }
  if (isSeq(node))
    for (const [index, item] of node.items.entries()) {
      const found = findMark(item, [...path, index]);
      if (found !== undefined) return found;
    }
  return undefined;
}

function insertedText(
  { label, kind, apply }: Completion,
  { isQuoted, isJson, rest }: { readonly isQuoted: boolean; readonly isJson: boolean; readonly rest: string },
): string {
  if (isQuoted) return label;
  if (kind === 'member') {
    const name = isJson ? JSON.stringify(label) : label;
    return /^\s*:/.test(rest) ? name : `${name}: `;
  }
  return isJson && kind !== 'name' && apply === label && !/^(true|false|null|-?\d)/.test(label)
    ? JSON.stringify(label)
    : apply;
}

/** Completions of members whose value is the name of a step. */
function stepCompletions(path: readonly (string | number)[], value: Json | undefined): Completion[] | undefined {
  const [root, , member, ...rest] = path;
  const isPort = root === 'steps' && member === 'nextSteps' && rest.length === 1;
  const isNeed = root === 'steps' && member === 'dependsOn';
  const isStart = path.length === 1 && root === 'start';
  if (!isPort && !isNeed && !isStart) return undefined;
  const own = String(path[1]);
  const names = Object.keys(stepsIn(value)).filter((name) => isStart || isPort || name !== own);
  const steps = names.map((name) => stepCompletion(name, value));
  return isPort ? [...steps, { label: END, kind: 'step', info: 'Ends the run.', apply: END }] : steps;
}

function stepCompletion(name: string, value: Json | undefined): Completion {
  const step = getOwn(stepsIn(value), name);
  const kind = isObject(step) ? step['stepType'] : undefined;
  return { label: name, kind: 'step', info: typeof kind === 'string' ? kind : undefined, apply: name };
}

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const memberOf = (value: Json | undefined, name: string): JsonObject => objectOf(getOwn(objectOf(value), name));
const stepsIn = (value: Json | undefined): JsonObject => {
  const { [CURSOR_MARK]: _mark, ...steps } = memberOf(value, 'steps');
  return steps;
};

function memberCompletions(
  path: readonly (string | number)[],
  value: Json | undefined,
  schema: JsonObject,
): Completion[] {
  const written = objectOf(valueOfPath(value, path));
  const found = new Map<string, Completion>();
  for (const one of schemasAt(path, value, schema))
    for (const [label, member] of Object.entries(objectOf(one['properties'])))
      if (!Object.hasOwn(written, label) && !found.has(label))
        found.set(label, { label, kind: 'member', info: descriptionOf(member, schema), apply: label });
  return [...found.values()];
}

function valueCompletions(
  path: readonly (string | number)[],
  value: Json | undefined,
  schema: JsonObject,
): Completion[] {
  const found = new Map<string, Completion>();
  for (const one of schemasAt(path, value, schema)) {
    const descriptions = Array.isArray(one['enumDescriptions']) ? one['enumDescriptions'] : [];
    for (const [index, label] of constantsOf(one).entries()) {
      const info = descriptions[index];
      if (!found.has(label))
        found.set(label, { label, kind: 'value', info: typeof info === 'string' ? info : undefined, apply: label });
    }
  }
  return [...found.values()];
}

function constantsOf(schema: JsonObject): string[] {
  const { enum: values, const: only, type } = schema;
  const all = Array.isArray(values) ? values : only !== undefined ? [only] : type === 'boolean' ? [true, false] : [];
  return all.filter((one) => typeof one !== 'object').map(String);
}

function descriptionOf(schema: Json, root: JsonObject): string | undefined {
  const { description } = resolveRef(objectOf(schema), root);
  return typeof description === 'string' ? description : undefined;
}

function valueOfPath(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  let here = value;
  for (const part of path) here = Array.isArray(here) ? here[Number(part)] : getOwn(objectOf(here), String(part));
  return here;
}

const MAX_SCHEMA_DEPTH = 8;

/** The schemas that apply to the value at a path, by the members beside it. */
function schemasAt(path: readonly (string | number)[], value: Json | undefined, root: JsonObject): JsonObject[] {
  let all = applicableSchemas(root, value, root);
  let here = value;
  for (const part of path) {
    here = valueOfPath(here, [part]);
    const next: JsonObject[] = [];
    for (const schema of all) {
      const { items, properties, additionalProperties } = schema;
      const inner = typeof part === 'number' ? items : (getOwn(objectOf(properties), part) ?? additionalProperties);
      if (isObject(inner)) next.push(...applicableSchemas(inner, here, root));
    }
    all = next;
  }
  return all;
}

/** The schema and its subschemas that may apply to the value. */
function applicableSchemas(given: JsonObject, value: Json | undefined, root: JsonObject, depth = 0): JsonObject[] {
  if (depth > MAX_SCHEMA_DEPTH) return [];
  const schema = resolveRef(given, root);
  const found = [schema];
  for (const word of ['allOf', 'anyOf', 'oneOf']) {
    const parts = schema[word];
    for (const part of Array.isArray(parts) ? parts : []) {
      const inner = resolveRef(objectOf(part), root);
      if (mayMatch(inner, value, root, false)) found.push(...applicableSchemas(inner, value, root, depth + 1));
    }
  }
  const { if: condition } = schema;
  if (isObject(condition)) {
    const branch = schema[mayMatch(condition, value, root, true) ? 'then' : 'else'];
    if (isObject(branch)) found.push(...applicableSchemas(branch, value, root, depth + 1));
  }
  return found;
}

/** Whether the value has the constants of the schema. `isStrict`: the members must be present. */
function mayMatch(schema: JsonObject, value: Json | undefined, root: JsonObject, isStrict: boolean): boolean {
  if (isStrict && isObject(schema['not'])) return !mayMatch(objectOf(schema['not']), value, root, true);
  return Object.entries(objectOf(schema['properties'])).every(([name, member]) => {
    const { const: only, enum: values } = resolveRef(objectOf(member), root);
    const actual = getOwn(objectOf(value), name);
    if (actual === undefined || actual === CURSOR_MARK) return !isStrict;
    if (only !== undefined) return only === actual;
    return !Array.isArray(values) || values.some((one) => one === actual);
  });
}

function resolveRef(schema: JsonObject, root: JsonObject): JsonObject {
  let here = schema;
  for (let left = MAX_SCHEMA_DEPTH; left > 0; left--) {
    const { $ref } = here;
    if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return here;
    here = objectOf(valueAt(root, decodeURIComponent($ref.slice(1))));
  }
  return here;
}

/** The expression at the cursor, from its braces to the cursor. Undefined outside of templates. */
function expressionBefore(text: string, offset: number): string | undefined {
  const before = text.slice(Math.max(0, offset - MAX_TEMPLATE), offset);
  const open = before.lastIndexOf('{{');
  return open < 0 || before.lastIndexOf('}}') > open ? undefined : before.slice(open + 2);
}

const OUTPUT_MEMBERS = {
  type: 'The kind of the output.',
  data: 'The data of the output.',
  meta: 'What else is known of it.',
};
const STEP_MEMBERS = { output: '`{type, data, meta}` of the last visit.', stepType: 'Its kind.', name: 'Its name.' };
const LOOP_MEMBERS = ['item', 'index', 'items', 'batch', 'state', 'carry', 'parent'];
const EXECUTION_MEMBERS = ['id', 'path', 'workflow', 'version', 'hash', 'startedAt', 'parentId', 'trigger'];
const ERROR_MEMBERS = ['code', 'message', 'path', 'step', 'attempts', 'retryable', 'details'];

/** Names after the path that an expression ends with: `steps.` gives the steps. */
function nameCompletions(
  expression: string,
  offset: number,
  readValue: () => Json | undefined,
): Completions | undefined {
  const match = /(^|[^\w.$-])((?:[A-Za-z_$][\w-]*\.)*)([A-Za-z_$][\w-]*)?$/.exec(expression);
  const [, lead = '', path = '', word = ''] = match ?? [];
  // After a bar come transforms, and a text is no path.
  if (match === null || (path === '' && /\|\s*$/.test(expression.slice(0, match.index) + lead))) return undefined;
  if ((expression.match(/'/g)?.length ?? 0) % 2 === 1 || (expression.match(/"/g)?.length ?? 0) % 2 === 1)
    return undefined;
  const options = namesBelow(path === '' ? [] : path.slice(0, -1).split('.'), readValue);
  return options.length === 0 ? undefined : { from: offset - word.length, options };
}

function namesBelow(path: readonly string[], readValue: () => Json | undefined): Completion[] {
  const [root, first, second, ...more] = path;
  if (root === undefined) return describedCompletions(ROOT_MEANINGS);
  if (root === 'steps') {
    const value = readValue();
    if (first === undefined) return Object.keys(stepsIn(value)).map((name) => stepCompletion(name, value));
    if (second === undefined) return describedCompletions(STEP_MEMBERS);
    return second === 'output' && more.length === 0 ? describedCompletions(OUTPUT_MEMBERS) : [];
  }
  if (first !== undefined) return [];
  const names: { readonly [root: string]: () => readonly string[] } = {
    input: () => inputsIn(memberOf(readValue(), 'input')),
    state: () => Object.keys(memberOf(readValue(), 'state')),
    variables: () => Object.keys(memberOf(memberOf(readValue(), 'config'), 'variables')),
    secrets: () => Object.keys(memberOf(memberOf(readValue(), 'config'), 'secrets')),
    outputs: () =>
      Object.values(stepsIn(readValue()))
        .map((step) => objectOf(step)['outputVariable'])
        .filter((name) => typeof name === 'string'),
    loop: () => LOOP_MEMBERS,
    execution: () => EXECUTION_MEMBERS,
    error: () => ERROR_MEMBERS,
  };
  return (Object.hasOwn(names, root) ? names[root]!() : []).map((label) => ({ label, kind: 'name', apply: label }));
}

/** The names of a run's input: of a JSON Schema, or of the short form. */
const inputsIn = (input: JsonObject): string[] =>
  Object.keys(input['type'] === 'object' && isObject(input['properties']) ? objectOf(input['properties']) : input);

const describedCompletions = (names: { readonly [name: string]: string }): Completion[] =>
  Object.entries(names).map(([label, info]) => ({ label, kind: 'name', info, apply: label }));
