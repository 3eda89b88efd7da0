/**
 * What can be written at a place of a definition: members and values by the language's schema, names of steps, and
 * names within templates. Pure. The text may be unfinished: what is being written is replaced by a mark, and the mark
 * is looked for in what can be read.
 */
import { isMap, isScalar, isSeq } from 'yaml';
import { ROOT_MEANINGS } from '../../definition/document/roots.ts';
import { getOwn, isObject, type Json, type JsonObject } from '../../json/json.ts';
import { valueAt } from '../../json/pointer.ts';
import { type ParsedText, parsedOf, valueIn } from './places.ts';

interface Option {
  readonly label: string;
  readonly kind: 'member' | 'value' | 'step' | 'name';
  /** A sentence about it. */
  readonly info?: string | undefined;
  /** What is written in place of the beginning. */
  readonly apply: string;
}

export interface Options {
  /** Where the beginning of the word stands that an option replaces. */
  readonly from: number;
  readonly options: readonly Option[];
}

const MARK = 'zzMARKzz';
const END = '$end';
const LONGEST_TEMPLATE = 2_000;
/** Members whose text is an expression, without braces. */
const EXPRESSIONS: ReadonlySet<string> = new Set(['when', 'bail', 'while', 'until', 'expression']);

/** What can be written at `offset`. Undefined where nothing is known. */
export function optionsAt(text: string, offset: number, schema: JsonObject): Options | undefined {
  const expression = expressionBefore(text, offset);
  if (expression !== undefined) return namesIn(expression, offset, () => valueIn(parsedOf(text)));
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  const word = /[\w$-]*$/.exec(before)?.[0] ?? '';
  const from = offset - word.length;
  const tail = /^[\w$-]*/.exec(text.slice(offset))?.[0].length ?? 0;
  const rest = text.slice(offset + tail);
  const hits = hitsAt(text, from, rest, before.slice(0, before.length - word.length));
  const isQuoted = /["']$/.test(text.slice(0, from));
  const isJson = /^\s*\{/.test(text);
  const options: Option[] = [];
  for (const { parsed, path, isKey } of hits) {
    const value = valueIn(parsed);
    if (!isKey && EXPRESSIONS.has(String(path.at(-1))))
      options.push(...(namesIn(word, offset, () => value)?.options ?? []));
    const steps = isKey ? undefined : stepsFor(path, value);
    if (isKey) options.push(...membersAt(path, value, schema));
    else options.push(...(steps ?? valuesAt(path, value, schema)));
  }
  const written = options.map((option) => ({ ...option, apply: applied(option, { isQuoted, isJson, rest }) }));
  return written.length === 0 ? undefined : { from, options: written };
}

interface Hit {
  readonly parsed: ParsedText;
  readonly path: readonly (string | number)[];
  /** The mark is the name of a member of the object at `path`. */
  readonly isKey: boolean;
}

/** Where the mark stands, read as a name and as a value. */
function hitsAt(text: string, from: number, rest: string, lead: string): Hit[] {
  const head = text.slice(0, from);
  const isAlone = /^\s*(?:- +)*$/.test(lead) && !/^\s*:/.test(rest);
  const readings = [...(isAlone ? [`${MARK}: `] : []), MARK];
  const hits: Hit[] = [];
  for (const reading of readings) {
    const parsed = parsedOf(`${head}${reading}${rest}`);
    const found = markIn(parsed.document.contents, []);
    if (found !== undefined && !hits.some(({ isKey }) => isKey === found.isKey)) hits.push({ parsed, ...found });
  }
  return hits;
}

function markIn(node: unknown, path: readonly (string | number)[]): Omit<Hit, 'parsed'> | undefined {
  if (isScalar(node)) return node.value === MARK ? { path, isKey: false } : undefined;
  if (isMap(node))
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : undefined;
      if (name === MARK) return { path, isKey: true };
      const found = name === undefined ? undefined : markIn(value, [...path, name]);
      if (found !== undefined) return found;
    }
  if (isSeq(node))
    for (const [index, item] of node.items.entries()) {
      const found = markIn(item, [...path, index]);
      if (found !== undefined) return found;
    }
  return undefined;
}

function applied(
  { label, kind, apply }: Option,
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

/** Members that name a step. */
function stepsFor(path: readonly (string | number)[], value: Json | undefined): Option[] | undefined {
  const [root, , member, ...more] = path;
  const isPort = root === 'steps' && member === 'nextSteps' && more.length === 1;
  const isNeed = root === 'steps' && member === 'dependsOn';
  const isStart = path.length === 1 && root === 'start';
  if (!isPort && !isNeed && !isStart) return undefined;
  const own = String(path[1]);
  const names = Object.keys(stepsIn(value)).filter((name) => isStart || isPort || name !== own);
  const steps = names.map((name) => stepOption(name, value));
  return isPort ? [...steps, { label: END, kind: 'step', info: 'Ends the run.', apply: END }] : steps;
}

function stepOption(name: string, value: Json | undefined): Option {
  const step = getOwn(stepsIn(value), name);
  const kind = isObject(step) ? step['stepType'] : undefined;
  return { label: name, kind: 'step', info: typeof kind === 'string' ? kind : undefined, apply: name };
}

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const memberOf = (value: Json | undefined, name: string): JsonObject => objectOf(getOwn(objectOf(value), name));
const stepsIn = (value: Json | undefined): JsonObject => {
  const { [MARK]: _mark, ...steps } = memberOf(value, 'steps');
  return steps;
};

function membersAt(path: readonly (string | number)[], value: Json | undefined, schema: JsonObject): Option[] {
  const there = objectOf(valueOfPath(value, path));
  const found = new Map<string, Option>();
  for (const one of schemasAt(path, value, schema))
    for (const [label, member] of Object.entries(objectOf(one['properties'])))
      if (!Object.hasOwn(there, label) && !found.has(label))
        found.set(label, { label, kind: 'member', info: descriptionOf(member, schema), apply: label });
  return [...found.values()];
}

function valuesAt(path: readonly (string | number)[], value: Json | undefined, schema: JsonObject): Option[] {
  const found = new Map<string, Option>();
  for (const one of schemasAt(path, value, schema)) {
    const told = Array.isArray(one['enumDescriptions']) ? one['enumDescriptions'] : [];
    for (const [index, label] of constantsOf(one).entries()) {
      const info = told[index];
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
  const { description } = resolved(objectOf(schema), root);
  return typeof description === 'string' ? description : undefined;
}

function valueOfPath(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  let here = value;
  for (const part of path) here = Array.isArray(here) ? here[Number(part)] : getOwn(objectOf(here), String(part));
  return here;
}

const DEEPEST = 8;

/** The schemas that a value at a path may have, by what is written beside it. */
function schemasAt(path: readonly (string | number)[], value: Json | undefined, root: JsonObject): JsonObject[] {
  let all = alternatives(root, value, root);
  let here = value;
  for (const part of path) {
    here = valueOfPath(here, [part]);
    const next: JsonObject[] = [];
    for (const schema of all) {
      const { items, properties, additionalProperties } = schema;
      const inner = typeof part === 'number' ? items : (getOwn(objectOf(properties), part) ?? additionalProperties);
      if (isObject(inner)) next.push(...alternatives(inner, here, root));
    }
    all = next;
  }
  return all;
}

/** The schema and those in it that the value may have as well. */
function alternatives(given: JsonObject, value: Json | undefined, root: JsonObject, depth = 0): JsonObject[] {
  if (depth > DEEPEST) return [];
  const schema = resolved(given, root);
  const found = [schema];
  for (const word of ['allOf', 'anyOf', 'oneOf']) {
    const parts = schema[word];
    for (const part of Array.isArray(parts) ? parts : []) {
      const inner = resolved(objectOf(part), root);
      if (mayFit(inner, value, root, false)) found.push(...alternatives(inner, value, root, depth + 1));
    }
  }
  const { if: condition } = schema;
  if (isObject(condition)) {
    const branch = schema[mayFit(condition, value, root, true) ? 'then' : 'else'];
    if (isObject(branch)) found.push(...alternatives(branch, value, root, depth + 1));
  }
  return found;
}

/** Whether the constants of a schema's members are those of the value. `isStrict`: they must be there. */
function mayFit(schema: JsonObject, value: Json | undefined, root: JsonObject, isStrict: boolean): boolean {
  if (isStrict && isObject(schema['not'])) return !mayFit(objectOf(schema['not']), value, root, true);
  return Object.entries(objectOf(schema['properties'])).every(([name, member]) => {
    const { const: only, enum: values } = resolved(objectOf(member), root);
    const there = getOwn(objectOf(value), name);
    if (there === undefined || there === MARK) return !isStrict;
    if (only !== undefined) return only === there;
    return !Array.isArray(values) || values.some((one) => one === there);
  });
}

function resolved(schema: JsonObject, root: JsonObject): JsonObject {
  let here = schema;
  for (let left = DEEPEST; left > 0; left--) {
    const { $ref } = here;
    if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return here;
    here = objectOf(valueAt(root, decodeURIComponent($ref.slice(1))));
  }
  return here;
}

/** The expression that is being written, from its braces to the place. Undefined outside of templates. */
function expressionBefore(text: string, offset: number): string | undefined {
  const before = text.slice(Math.max(0, offset - LONGEST_TEMPLATE), offset);
  const open = before.lastIndexOf('{{');
  return open < 0 || before.lastIndexOf('}}') > open ? undefined : before.slice(open + 2);
}

const OUTPUT = { type: 'The kind of the output.', data: 'The data of the output.', meta: 'What else is known of it.' };
const STEP = { output: '`{type, data, meta}` of the last visit.', stepType: 'Its kind.', name: 'Its name.' };
const LOOP = ['item', 'index', 'items', 'batch', 'state', 'carry', 'parent'];
const EXECUTION = ['id', 'path', 'workflow', 'version', 'hash', 'startedAt', 'parentId', 'trigger'];
const ERROR = ['code', 'message', 'path', 'step', 'attempts', 'retryable', 'details'];

/** Names after the path that an expression ends with: `steps.` gives the steps. */
function namesIn(expression: string, offset: number, valueNow: () => Json | undefined): Options | undefined {
  const match = /(^|[^\w.$-])((?:[A-Za-z_$][\w-]*\.)*)([A-Za-z_$][\w-]*)?$/.exec(expression);
  const [, lead = '', path = '', word = ''] = match ?? [];
  // After a bar come transforms, and a text is no path.
  if (match === null || (path === '' && /\|\s*$/.test(expression.slice(0, match.index) + lead))) return undefined;
  if ((expression.match(/'/g)?.length ?? 0) % 2 === 1 || (expression.match(/"/g)?.length ?? 0) % 2 === 1)
    return undefined;
  const options = namesUnder(path === '' ? [] : path.slice(0, -1).split('.'), valueNow);
  return options.length === 0 ? undefined : { from: offset - word.length, options };
}

function namesUnder(path: readonly string[], valueNow: () => Json | undefined): Option[] {
  const [root, first, second, ...more] = path;
  if (root === undefined) return told(ROOT_MEANINGS);
  if (root === 'steps') {
    const value = valueNow();
    if (first === undefined) return Object.keys(stepsIn(value)).map((name) => stepOption(name, value));
    if (second === undefined) return told(STEP);
    return second === 'output' && more.length === 0 ? told(OUTPUT) : [];
  }
  if (first !== undefined) return [];
  const names: { readonly [root: string]: () => readonly string[] } = {
    input: () => inputsIn(memberOf(valueNow(), 'input')),
    state: () => Object.keys(memberOf(valueNow(), 'state')),
    variables: () => Object.keys(memberOf(memberOf(valueNow(), 'config'), 'variables')),
    secrets: () => Object.keys(memberOf(memberOf(valueNow(), 'config'), 'secrets')),
    outputs: () =>
      Object.values(stepsIn(valueNow()))
        .map((step) => objectOf(step)['outputVariable'])
        .filter((name) => typeof name === 'string'),
    loop: () => LOOP,
    execution: () => EXECUTION,
    error: () => ERROR,
  };
  return (Object.hasOwn(names, root) ? names[root]!() : []).map((label) => ({ label, kind: 'name', apply: label }));
}

/** The names of a run's input: of a JSON Schema, or of the short form. */
const inputsIn = (input: JsonObject): string[] =>
  Object.keys(input['type'] === 'object' && isObject(input['properties']) ? objectOf(input['properties']) : input);

const told = (names: { readonly [name: string]: string }): Option[] =>
  Object.entries(names).map(([label, info]) => ({ label, kind: 'name', info, apply: label }));
