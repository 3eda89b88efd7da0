/**
 * Definitions of mesh (001): `{steps: [{name, action: {toolName | code | return}, input, when, forEach, bail,
 * config}]}` with `@refs`. The references are the edges (`flow: dag`). A reference that is the whole text keeps its
 * type; others are put into the text.
 */

import { defined } from '../../json/defined.ts';
import { getOwn, isObject, type Json, type JsonObject, typeName } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { stepSlugs } from '../document/names.ts';
import { plain, References, ROOTS_001, referredStep } from './dialect-001-references.ts';
import { type Import, type ImportResult, type MemberTypes, memberNames, renamed } from './import.ts';
import { importRetry, retryPlaces } from './import-retry.ts';

/** The longest timeout of a step of kind run_code. */
const LONGEST_CODE_MS = 600_000;
const OUTER = memberNames('id name title slug description version tags enabled steps triggers timeoutMs');
const STEP = memberNames('name description action input when forEach bail config dependsOn outputSchema preset');
const MOVED = [
  ['/stepType', '/action'],
  ['/config', '/action'],
  ['/config/input', '/input'],
  ['/config/output', '/input'],
  ['/retry', '/config'],
  ['/timeout', '/config/timeoutMs'],
  ['/config/timeoutMs', '/config/timeoutMs'],
  ['/onError', '/config/onError'],
] as const;
/** The types of members whose other types would be lost, or that databases hold as JSON texts. */
const OUTER_TYPES: MemberTypes = { name: 'string', title: 'string', id: 'string', tags: 'array', triggers: 'array' };
const STEP_TYPES: MemberTypes = {
  action: 'object',
  config: 'object',
  forEach: ['object', 'string'],
  dependsOn: ['array', 'string'],
};
/** The members of each action. */
const TOOL: ReadonlySet<string> = new Set(['toolName', 'transformCode', 'connectionId', 'server']);
const CODE: ReadonlySet<string> = new Set(['code', 'language']);
const RETURN: ReadonlySet<string> = new Set(['return']);

export function from001(written: JsonObject, into: Import): ImportResult {
  into.lostMembers(written, '', OUTER);
  const document = into.typed(written, '', OUTER_TYPES);
  const list = document['steps'];
  if (!Array.isArray(list) || list.length === 0) {
    into.problem('/steps', 'no_steps', `Expected a list of at least one step, got ${typeName(list)}.`);
    return into.refused();
  }
  const steps = list.map((step, index) =>
    isObject(step) ? typed001(step, childPointer('/steps', index), into) : step,
  );
  const slugs = slugsOf(steps, into);
  const skippable = skippableOf(steps);
  for (const [index, step] of steps.entries()) {
    const at = childPointer('/steps', index);
    const slug = isObject(step) && typeof step['name'] === 'string' ? slugs.get(step['name']) : undefined;
    // The second step of a name has been reported.
    if (isObject(step) && slug !== undefined && !Object.hasOwn(into.steps, slug))
      into.step(slug, step001(step, slug, at, new References(slugs, into, skippable), document, into), at);
  }
  into.places.set('/config/timeout', '/timeoutMs');
  return into.done(outer(document, into));
}

/** The step with the types of its members, and with the long forms of forEach and dependsOn. */
function typed001(written: JsonObject, at: string, into: Import): JsonObject {
  into.lostMembers(written, at, STEP);
  const step = into.typed(written, at, STEP_TYPES);
  const { forEach, dependsOn } = step;
  if (typeof dependsOn === 'string') step['dependsOn'] = [dependsOn];
  if (typeof forEach === 'string') step['forEach'] = { ref: forEach };
  else if (isObject(forEach)) step['forEach'] = into.typed(forEach, childPointer(at, 'forEach'), { ref: 'string' });
  return step;
}

function outer(document: JsonObject, into: Import): JsonObject {
  const canonical: JsonObject = { dialect: '001', flow: 'dag' };
  for (const member of ['slug', 'description', 'version', 'tags', 'enabled', 'triggers']) {
    const value = document[member];
    if (value !== undefined && value !== null)
      canonical[member] = member === 'triggers' ? into.triggers(value, '/triggers') : value;
  }
  const name = [document['name'], document['title'], document['slug'], document['id']].find(
    (one) => typeof one === 'string' && one !== '',
  );
  canonical['name'] = name ?? 'Workflow';
  for (const member of ['title', 'id'])
    if (document[member] !== undefined && document[member] !== null && document[member] !== name)
      into.lost(childPointer('', member), `The ${member} is left out, since the document has a name or a slug.`);
  if (document['timeoutMs'] !== undefined) canonical['config'] = { timeout: document['timeoutMs'] };
  return canonical;
}

/** By name. */
function slugsOf(steps: readonly Json[], into: Import): Map<string, string> {
  const names = new Set<string>();
  for (const [index, step] of steps.entries()) {
    const at = childPointer('/steps', index);
    if (!isObject(step)) {
      into.problem(at, 'wrong_type', `Expected a step, got ${typeName(step)}.`);
      continue;
    }
    const { name } = step;
    if (typeof name !== 'string' || name === '')
      into.problem(childPointer(at, 'name'), 'missing_member', 'A step needs a name, by which others refer to it.');
    else if (names.has(name))
      into.problem(
        childPointer(at, 'name'),
        'duplicate_step',
        `Two steps have the name "${name.slice(0, 80)}".`,
        'Give each step a unique name.',
      );
    else names.add(name);
    if (typeof name === 'string' && ROOTS_001.has(name))
      into.warn(
        childPointer(at, 'name'),
        'reserved_name',
        `"@${name}" is reserved, so that no reference can name this step.`,
        'Give the step another name.',
      );
  }
  return stepSlugs([...names]);
}

/** The names of steps that can be skipped: those with a condition, and iterations over the output of such a step. */
function skippableOf(steps: readonly Json[]): Set<string> {
  const written = steps.filter(isObject).filter(({ name }) => typeof name === 'string');
  const skippable = new Set(written.filter(({ when }) => when !== undefined).map(({ name }) => String(name)));
  for (let before = -1; before < skippable.size; ) {
    before = skippable.size;
    for (const { name, forEach } of written)
      if (isObject(forEach) && typeof forEach['ref'] === 'string' && skippable.has(referredStep(forEach['ref'])))
        skippable.add(String(name));
  }
  return skippable;
}

function step001(written: JsonObject, slug: string, at: string, refs: References, own: Own, into: Import): JsonObject {
  const action = isObject(written['action']) ? written['action'] : {};
  const config = isObject(written['config']) ? written['config'] : {};
  into.moved(slug, at, [
    ...MOVED,
    ['/config/server', action['server'] === undefined ? '/action/connectionId' : '/action/server'],
    ...retryPlaces(config, '/retry', '/config'),
  ]);
  const given = typeof action['toolName'] === 'string' ? readInput(written['input'], at, into) : written['input'];
  const input = given === undefined ? undefined : refs.value(given, childPointer(at, 'input'));
  const kind = kindOf(action, input, at, own, into);
  if (kind['stepType'] === 'run_workflow')
    into.moved(slug, at, [
      ['/config', '/input'],
      ['/config/workflow', `/input/${STARTS.find((name) => getOwn(given, name) !== undefined) ?? STARTS[0]}`],
    ]);
  const step: JsonObject = { ...kind, ...modifiers(config, childPointer(at, 'config'), into) };
  // That system calls a tool once: an error, also of the timeout, is the result of the step.
  if (kind['stepType'] === 'tool')
    step['retry'] = { maxAttempts: 1, ...(isObject(step['retry']) ? step['retry'] : {}) };
  const { timeoutMs } = config;
  // The sandbox applies the timeout of code, with an error that is not retried.
  if (kind['stepType'] === 'run_code' && typeof timeoutMs === 'number' && timeoutMs <= LONGEST_CODE_MS) {
    step['config'] = { ...(kind['config'] as JsonObject), timeoutMs };
    delete step['timeout'];
  }
  if (written['name'] !== slug) step['name'] = written['name'] ?? slug;
  for (const member of ['description', 'preset'] as const)
    if (written[member] !== undefined) step[member] = written[member];
  if (written['when'] !== undefined) step['when'] = refs.condition(written['when'], childPointer(at, 'when'));
  if (written['bail'] !== undefined && written['bail'] !== false)
    step['bail'] = written['bail'] === true ? true : refs.condition(written['bail'], childPointer(at, 'bail'));
  if (isObject(written['forEach'])) {
    const { ref, items, ...rest } = written['forEach'];
    step['forEach'] = {
      ...rest,
      ...(typeof ref === 'string' ? { ref: refs.path(ref, `${at}/forEach/ref`) } : {}),
      ...(items === undefined ? {} : { items: refs.value(items, `${at}/forEach/items`) }),
    };
  }
  if (Array.isArray(written['dependsOn']))
    step['dependsOn'] = written['dependsOn'].map((one) =>
      typeof one === 'string' ? (refs.slugs.get(one.replace(/^@/, '')) ?? one) : one,
    );
  if (written['outputSchema'] !== undefined)
    into.lost(
      childPointer(at, 'outputSchema'),
      'The schema of the output is left out: outputs of steps are not checked.',
    );
  return step;
}

/** The input of a tool is an object, which databases hold as JSON text. */
function readInput(input: Json | undefined, at: string, into: Import): Json | undefined {
  return input === undefined ? undefined : into.read(input, childPointer(at, 'input'));
}

/** The tool of that system which starts a workflow. A server that a step names has its own tools. */
const START_TOOL = 'COLLECTION_WORKFLOW_EXECUTION_CREATE';
const STARTS = ['workflow_collection_id', 'workflowId'] as const;
const START: ReadonlySet<string> = new Set([...STARTS, 'input', 'version']);

/** A step that starts a run and does not wait for it, so that a workflow can begin itself anew. */
function startOf(action: JsonObject, input: Json | undefined, at: string, own: Own, into: Import): JsonObject {
  into.lostMembers(action, `${at}/action`, new Set(['toolName']));
  if (!isObject(input)) {
    const message = `${START_TOOL} needs the input {workflow_collection_id, input}, got ${typeName(input)}.`;
    into.problem(childPointer(at, 'input'), 'invalid_config', message);
    return { stepType: 'removed', config: { replaces: START_TOOL } };
  }
  const place = childPointer(at, 'input');
  into.lostMembers(input, place, START);
  const named = into.first(input, place, STARTS);
  return {
    stepType: 'run_workflow',
    config: {
      ...defined({ workflow: named !== undefined && named === own['id'] ? OWN_SLUG : named }),
      ...renamed(input, { version: 'version', input: 'input' }),
      wait: false,
    },
  };
}

/** The document, whose id names the workflow itself. */
type Own = JsonObject;
const OWN_SLUG = '{{ execution.workflow }}';

function kindOf(action: JsonObject, input: Json | undefined, step: string, own: Own, into: Import): JsonObject {
  const { toolName, transformCode, code, language } = action;
  const at = childPointer(step, 'action');
  const given = input === undefined ? {} : { input };
  if (typeof toolName === 'string') {
    const where = into.first(action, at, ['server', 'connectionId']);
    if (toolName === START_TOOL && where === undefined) return startOf(action, input, step, own, into);
    into.lostMembers(action, at, TOOL);
    return {
      stepType: 'tool',
      config: {
        toolName: plain(toolName),
        ...(where === undefined ? {} : { server: typeof where === 'string' ? plain(where) : where }),
        ...given,
        ...defined({ transformCode }),
      },
    };
  }
  if (typeof code === 'string') {
    into.lostMembers(action, at, CODE);
    return { stepType: 'run_code', config: { language: language ?? 'typescript', code, ...given } };
  }
  if (action['return'] === true) {
    into.lostMembers(action, at, RETURN);
    return { stepType: 'return', config: input === undefined ? {} : { output: input } };
  }
  into.problem(at, 'invalid_config', 'Expected an action: {toolName}, {code} or {return: true}.');
  return { stepType: 'removed', config: { replaces: 'action' } };
}

function modifiers(config: JsonObject, at: string, into: Import): JsonObject {
  const { timeoutMs, onError, maxAttempts, backoffMs, maxRetries, ...rest } = config;
  into.lostMembers(rest, at, new Set());
  const result: JsonObject = {};
  const written = Object.fromEntries(
    Object.entries({ maxAttempts, backoffMs, maxRetries }).filter(
      (entry): entry is [string, Json] => entry[1] !== undefined,
    ),
  );
  const retry = importRetry(written, at, into);
  if (Object.keys(retry).length > 0) result['retry'] = retry;
  if (timeoutMs !== undefined) result['timeout'] = timeoutMs;
  if (onError !== undefined) result['onError'] = onError;
  return result;
}
