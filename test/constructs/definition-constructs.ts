/** The constructs that tale and agent-ops use: members with their types, kinds, ports, ways, templates, paths. */

import { isRoot } from '../../src/definition/document/roots.ts';
import { unwrapTemplates } from '../../src/definition/import/unwrap-templates.ts';
import { isObject, type Json, type JsonObject, typeName } from '../../src/json/json.ts';
import { parseExpression } from '../../src/template/expression.ts';
import { references } from '../../src/template/references.ts';
import { parseTemplate } from '../../src/template/template.ts';
import { type Reference, TemplateError } from '../../src/template/types.ts';
import { ofExpression, ofTemplate } from './expression-constructs.ts';

/** Members whose own members are named by the author. */
const OPEN: ReadonlySet<string> = new Set([
  'variables',
  'secrets',
  'parameters',
  'arguments',
  'inputs',
  'outputSchema',
  'mapping',
  'nextSteps',
]);
/** Members that are expressions where they are texts. */
const ASKED: ReadonlySet<string> = new Set(['expression', 'condition', 'when', 'while', 'until']);
/** The names that the dialects give to ports. */
const PORTS: ReadonlySet<string> = new Set(
  'success failure error true false default loop done approved rejected'.split(' '),
);

const shapeOf = (value: Json): string =>
  typeof value === 'string' && value.includes('{{') ? 'template' : typeName(value);

function* ofMembers(value: JsonObject, at: string): Iterable<string> {
  for (const [name, member] of Object.entries(value)) {
    if (name === 'steps' || name === 'stepsConfig' || name === 'then' || name === 'else') continue;
    const place = `${at}.${name}`;
    yield `${place}: ${shapeOf(member)}`;
    if (OPEN.has(name)) continue;
    for (const inner of Array.isArray(member) ? member : [member]) if (isObject(inner)) yield* ofMembers(inner, place);
  }
}

/** A list and the data that authors name, by the types that occur in it. */
function* ofData(value: Json, at: string): Iterable<string> {
  yield `${at}: ${shapeOf(value)}`;
  for (const inner of isObject(value) ? Object.values(value) : Array.isArray(value) ? value : [])
    yield* ofData(inner, `${at} within`.replace(' within within', ' within'));
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

function pathOf({ root, path }: Reference, steps: ReadonlySet<string>): string {
  if (root === 'steps') {
    const step = steps.has(String(path[0])) ? 'a step' : 'no step';
    const deep = path.slice(3).some((part) => typeof part === 'number') ? ', with an index' : '';
    return `steps, ${step}, ${path.slice(1, 3).join('.')}${path.length > 3 ? ' and members' : ''}${deep}`;
  }
  if (root === 'loop') return ['loop', ...path.slice(0, path[0] === 'state' ? 2 : 1)].join('.');
  return isRoot(root) ? root : 'a name of the author';
}

function* ofTexts(value: Json, name: string, steps: ReadonlySet<string>): Iterable<string> {
  if (typeof value === 'string' && ASKED.has(name)) {
    const plain = unwrapTemplates(value);
    if (plain !== value) yield `template in an expression${/["'][^"']*\{\{/.test(value) ? ', in quotes' : ''}`;
    yield* ofExpression(plain, undefined);
    for (const one of attempt(() => references(parseExpression(plain))) ?? []) yield `reads ${pathOf(one, steps)}`;
  } else if (typeof value === 'string' && value.includes('{{')) {
    yield* ofTemplate(value, undefined);
    const found = attempt(() => references(parseTemplate(value, { secrets: true })));
    for (const one of found ?? []) yield `reads ${pathOf(one, steps)}`;
  } else if (isObject(value))
    for (const [key, member] of Object.entries(value)) {
      if (key.includes('{{')) yield 'template as a key';
      if (key !== 'steps' && key !== 'then' && key !== 'else') yield* ofTexts(member, key, steps);
    }
  else if (Array.isArray(value)) for (const member of value) yield* ofTexts(member, name, steps);
}

export function* ofTale(document: JsonObject): Iterable<string> {
  const list = (document['stepsConfig'] as JsonObject[]).filter(isObject);
  const kinds = new Map(list.map(({ stepSlug, stepType }) => [String(stepSlug), String(stepType)]));
  const indexes = new Map([...kinds.keys()].map((slug, index) => [slug, index]));
  yield* ofMembers(document, 'document');
  const workflow = document['workflowConfig'] as JsonObject;
  yield* ofTexts(workflow, '', new Set(kinds.keys()));
  const config = isObject(workflow['config']) ? workflow['config'] : {};
  yield* ofData(config['variables'] ?? null, 'variables');
  const ways: string[] = [];
  for (const [index, step] of list.entries()) {
    const kind = String(step['stepType']);
    const inner = isObject(step['config']) ? step['config'] : {};
    const isSet = inner['type'] === 'set_variables';
    yield* ofMembers(step, isSet ? 'action set_variables' : kind);
    if (isSet) yield* ofData((inner['parameters'] as JsonObject)['variables'] ?? null, 'set_variables');
    else if (kind === 'action') yield* ofData(inner['parameters'] ?? null, 'parameters');
    if (kind === 'trigger') yield `trigger of type ${String(inner['type'])}`;
    yield* ofTexts(inner, '', new Set(kinds.keys()));
    const next = isObject(step['nextSteps']) ? step['nextSteps'] : {};
    if (Object.keys(next).length === 0) yield `${kind} that leads nowhere`;
    for (const [port, target] of Object.entries(next)) {
      const to = kinds.has(String(target)) ? String(target) : undefined;
      yield `${kind} ${PORTS.has(port) ? port : 'a branch'} → ${to === undefined ? String(target) : 'a step'}`;
      if (to === undefined) continue;
      ways.push(to);
      if ((indexes.get(to) ?? 0) <= index) yield `back to a step before: ${kinds.get(to)}`;
      if (kind === 'loop' && port === 'loop' && kinds.get(to) === 'loop') yield 'loop that begins with a loop';
    }
    if (new Set(Object.values(next)).size < Object.keys(next).length) yield 'two ports that lead to one step';
  }
  for (const to of ways) if (ways.filter((one) => one === to).length > 2) yield `steps that meet: ${kinds.get(to)}`;
}

export function* ofAgentOps(document: Json): Iterable<string> {
  if (!isObject(document) || !Array.isArray(document['steps'])) {
    yield `document: ${isObject(document) ? `steps are ${typeName(document['steps'] ?? null)}` : typeName(document)}`;
    return;
  }
  const known = Object.fromEntries(Object.entries(document).filter(([name]) => name.length > 1));
  if (Object.keys(known).length < Object.keys(document).length) yield 'members that the format does not have';
  yield* ofMembers(known, 'document');
  yield* ofList(document['steps'], 'top');
}

const AGENT_OPS_STEP_CONSTRUCTS =
  /^(id|type|tool|arguments|condition|then|else|prompt|content|await_response|await_timeout_ms)$/;

function* ofList(list: readonly Json[], at: string): Iterable<string> {
  yield `list ${at} of ${Math.min(list.length, 3)}`;
  const ids = list.filter(isObject).map(({ id }) => id);
  if (new Set(ids.filter((id) => id !== undefined)).size < ids.filter((id) => id !== undefined).length)
    yield 'ids that are the same';
  for (const step of list) {
    if (!isObject(step)) {
      yield `step that is ${typeName(step)}`;
      continue;
    }
    const kind = typeof step['type'] === 'string' ? step['type'].trim() : 'step without a type';
    const name =
      kind === '' ? 'step with a blank type' : kind === 'tool' && step['tool'] === 'bash' ? 'tool bash' : kind;
    const isKnown = /^(tool|bash|approval|conditional|agent_message|tool bash|step w)/.test(name);
    const place = isKnown ? name : 'a kind that there is not';
    if (kind !== step['type'] && typeof step['type'] === 'string') yield 'type between blanks';
    if (step['id'] === undefined) yield 'step without an id';
    else if (String(step['id']).trim() !== step['id']) yield 'id between blanks';
    else if (!/^\w+$/.test(String(step['id']))) yield 'id with a hyphen';
    const written = Object.fromEntries(
      Object.entries(step).filter(([member]) => AGENT_OPS_STEP_CONSTRUCTS.test(member)),
    );
    if (Object.keys(written).length < Object.keys(step).length) yield 'members that a step does not have';
    yield* ofMembers(written, place);
    if (isObject(step['arguments'])) yield* ofData(step['arguments'], 'arguments');
    if (isObject(step['condition'])) yield `condition with ${typeName(step['condition']['equals'] ?? null)}`;
    for (const member of ['then', 'else', 'steps'] as const) {
      const inner = step[member];
      if (Array.isArray(inner)) yield* ofList(inner, member);
      else if (inner !== undefined) yield `${member}: ${typeName(inner)}`;
    }
  }
}
