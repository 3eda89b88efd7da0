/**
 * Definitions of mesh (001): `{steps: [{name, action: {toolName | code | return}, input, when, forEach, bail,
 * config}]}` with `@refs`. The references are the edges (`flow: dag`). A reference that is the whole text keeps its
 * type; others are put into the text.
 */

import { stepSlugs } from '../../definition/document/names.ts';
import {
  type ImportContext,
  type ImportResult,
  type MemberTypes,
  memberNames,
  renameMembers,
} from '../../definition/import/import-context.ts';
import { importRetry, retryOrigins } from '../../definition/import/retry.ts';
import { getOwn, isObject, type Json, type JsonObject, typeName } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { childPointer } from '../../json/pointer.ts';
import { escapeBraces, MESH_ROOTS, References, referencedStep } from './references.ts';

/** The longest timeout of a step of kind run_code. */
const MAX_CODE_TIMEOUT_MS = 600_000;
const OUTER = memberNames('id name title slug description version tags enabled steps triggers timeoutMs');
const STEP = memberNames('name description action input when forEach bail config dependsOn outputSchema preset');
const ORIGINS = [
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

export function fromMesh(written: JsonObject, context: ImportContext): ImportResult {
  context.warnUnknownMembers(written, '', OUTER);
  const document = context.withTypes(written, '', OUTER_TYPES);
  const list = document['steps'];
  if (!Array.isArray(list) || list.length === 0) {
    context.addProblem('/steps', 'no_steps', `Expected a list of at least one step, got ${typeName(list)}.`);
    return context.failed();
  }
  const steps = list.map((step, index) =>
    isObject(step) ? meshTyped(step, childPointer('/steps', index), context) : step,
  );
  const slugs = slugsOf(steps, context);
  const skippable = skippableOf(steps);
  for (const [index, step] of steps.entries()) {
    const at = childPointer('/steps', index);
    const slug = isObject(step) && typeof step['name'] === 'string' ? slugs.get(step['name']) : undefined;
    // The second step of a name has been reported.
    if (isObject(step) && slug !== undefined && !Object.hasOwn(context.steps, slug))
      context.addStep(slug, meshStep(step, slug, at, new References(slugs, context, skippable), document, context), at);
  }
  context.origins.set('/config/timeout', '/timeoutMs');
  return context.finish(convertOuter(document, context));
}

/** The step with the types of its members, and with the long forms of forEach and dependsOn. */
function meshTyped(written: JsonObject, at: string, context: ImportContext): JsonObject {
  context.warnUnknownMembers(written, at, STEP);
  const step = context.withTypes(written, at, STEP_TYPES);
  const { forEach, dependsOn } = step;
  if (typeof dependsOn === 'string') step['dependsOn'] = [dependsOn];
  if (typeof forEach === 'string') step['forEach'] = { ref: forEach };
  else if (isObject(forEach))
    step['forEach'] = context.withTypes(forEach, childPointer(at, 'forEach'), { ref: 'string' });
  return step;
}

function convertOuter(document: JsonObject, context: ImportContext): JsonObject {
  const canonical: JsonObject = { dialect: '001', flow: 'dag' };
  for (const member of ['slug', 'description', 'version', 'tags', 'enabled', 'triggers']) {
    const value = document[member];
    if (value !== undefined && value !== null)
      canonical[member] = member === 'triggers' ? context.readTriggers(value, '/triggers') : value;
  }
  const name = [document['name'], document['title'], document['slug'], document['id']].find(
    (one) => typeof one === 'string' && one !== '',
  );
  canonical['name'] = name ?? 'Workflow';
  for (const member of ['title', 'id'])
    if (document[member] !== undefined && document[member] !== null && document[member] !== name)
      context.warnDropped(
        childPointer('', member),
        `The ${member} is left out, since the document has a name or a slug.`,
      );
  if (document['timeoutMs'] !== undefined) canonical['config'] = { timeout: document['timeoutMs'] };
  return canonical;
}

/** By name. */
function slugsOf(steps: readonly Json[], context: ImportContext): Map<string, string> {
  const names = new Set<string>();
  for (const [index, step] of steps.entries()) {
    const at = childPointer('/steps', index);
    if (!isObject(step)) {
      context.addProblem(at, 'wrong_type', `Expected a step, got ${typeName(step)}.`);
      continue;
    }
    const { name } = step;
    if (typeof name !== 'string' || name === '')
      context.addProblem(
        childPointer(at, 'name'),
        'missing_member',
        'A step needs a name, by which others refer to it.',
      );
    else if (names.has(name))
      context.addProblem(
        childPointer(at, 'name'),
        'duplicate_step',
        `Two steps have the name "${name.slice(0, 80)}".`,
        'Give each step a unique name.',
      );
    else names.add(name);
    if (typeof name === 'string' && MESH_ROOTS.has(name))
      context.addWarning(
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
      if (isObject(forEach) && typeof forEach['ref'] === 'string' && skippable.has(referencedStep(forEach['ref'])))
        skippable.add(String(name));
  }
  return skippable;
}

function meshStep(
  written: JsonObject,
  slug: string,
  at: string,
  refs: References,
  document: OuterDocument,
  context: ImportContext,
): JsonObject {
  const action = isObject(written['action']) ? written['action'] : {};
  const config = isObject(written['config']) ? written['config'] : {};
  context.mapOrigins(slug, at, [
    ...ORIGINS,
    ['/config/server', action['server'] === undefined ? '/action/connectionId' : '/action/server'],
    ...retryOrigins(config, '/retry', '/config'),
  ]);
  const given = typeof action['toolName'] === 'string' ? readInput(written['input'], at, context) : written['input'];
  const input = given === undefined ? undefined : refs.value(given, childPointer(at, 'input'));
  const kind = kindOf(action, input, at, document, context);
  if (kind['stepType'] === 'run_workflow')
    context.mapOrigins(slug, at, [
      ['/config', '/input'],
      [
        '/config/workflow',
        `/input/${WORKFLOW_ID_MEMBERS.find((name) => getOwn(given, name) !== undefined) ?? WORKFLOW_ID_MEMBERS[0]}`,
      ],
    ]);
  const step: JsonObject = { ...kind, ...convertModifiers(config, childPointer(at, 'config'), context) };
  // That system calls a tool once: an error, also of the timeout, is the result of the step.
  if (kind['stepType'] === 'tool')
    step['retry'] = { maxAttempts: 1, ...(isObject(step['retry']) ? step['retry'] : {}) };
  const { timeoutMs } = config;
  // The sandbox applies the timeout of code, with an error that is not retried.
  if (kind['stepType'] === 'run_code' && typeof timeoutMs === 'number' && timeoutMs <= MAX_CODE_TIMEOUT_MS) {
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
    context.warnDropped(
      childPointer(at, 'outputSchema'),
      'The schema of the output is left out: outputs of steps are not checked.',
    );
  return step;
}

/** The input of a tool is an object, which databases hold as JSON text. */
function readInput(input: Json | undefined, at: string, context: ImportContext): Json | undefined {
  return input === undefined ? undefined : context.readJsonText(input, childPointer(at, 'input'));
}

/** The tool of that system which starts a workflow. A server that a step names has its own tools. */
const START_TOOL = 'COLLECTION_WORKFLOW_EXECUTION_CREATE';
const WORKFLOW_ID_MEMBERS = ['workflow_collection_id', 'workflowId'] as const;
const START_INPUT_MEMBERS: ReadonlySet<string> = new Set([...WORKFLOW_ID_MEMBERS, 'input', 'version']);

/** A step that starts a run and does not wait for it, so that a workflow can begin itself anew. */
function startOf(
  action: JsonObject,
  input: Json | undefined,
  at: string,
  document: OuterDocument,
  context: ImportContext,
): JsonObject {
  context.warnUnknownMembers(action, `${at}/action`, new Set(['toolName']));
  if (!isObject(input)) {
    const message = `${START_TOOL} needs the input {workflow_collection_id, input}, got ${typeName(input)}.`;
    context.addProblem(childPointer(at, 'input'), 'invalid_config', message);
    return { stepType: 'removed', config: { replaces: START_TOOL } };
  }
  const place = childPointer(at, 'input');
  context.warnUnknownMembers(input, place, START_INPUT_MEMBERS);
  const named = context.firstSpelling(input, place, WORKFLOW_ID_MEMBERS);
  return {
    stepType: 'run_workflow',
    config: {
      ...omitUndefined({ workflow: named !== undefined && named === document['id'] ? OWN_SLUG : named }),
      ...renameMembers(input, { version: 'version', input: 'input' }),
      wait: false,
    },
  };
}

/** The document, whose id names the workflow itself. */
type OuterDocument = JsonObject;
const OWN_SLUG = '{{ execution.workflow }}';

function kindOf(
  action: JsonObject,
  input: Json | undefined,
  step: string,
  document: OuterDocument,
  context: ImportContext,
): JsonObject {
  const { toolName, transformCode, code, language } = action;
  const at = childPointer(step, 'action');
  const given = input === undefined ? {} : { input };
  if (typeof toolName === 'string') {
    const server = context.firstSpelling(action, at, ['server', 'connectionId']);
    if (toolName === START_TOOL && server === undefined) return startOf(action, input, step, document, context);
    context.warnUnknownMembers(action, at, TOOL);
    return {
      stepType: 'tool',
      config: {
        toolName: escapeBraces(toolName),
        ...(server === undefined ? {} : { server: typeof server === 'string' ? escapeBraces(server) : server }),
        ...given,
        ...omitUndefined({ transformCode }),
      },
    };
  }
  if (typeof code === 'string') {
    context.warnUnknownMembers(action, at, CODE);
    return { stepType: 'run_code', config: { language: language ?? 'typescript', code, ...given } };
  }
  if (action['return'] === true) {
    context.warnUnknownMembers(action, at, RETURN);
    return { stepType: 'return', config: input === undefined ? {} : { output: input } };
  }
  context.addProblem(at, 'invalid_config', 'Expected an action: {toolName}, {code} or {return: true}.');
  return { stepType: 'removed', config: { replaces: 'action' } };
}

function convertModifiers(config: JsonObject, at: string, context: ImportContext): JsonObject {
  const { timeoutMs, onError, maxAttempts, backoffMs, maxRetries, ...rest } = config;
  context.warnUnknownMembers(rest, at, new Set());
  const result: JsonObject = {};
  const written = Object.fromEntries(
    Object.entries({ maxAttempts, backoffMs, maxRetries }).filter(
      (entry): entry is [string, Json] => entry[1] !== undefined,
    ),
  );
  const retry = importRetry(written, at, context);
  if (Object.keys(retry).length > 0) result['retry'] = retry;
  if (timeoutMs !== undefined) result['timeout'] = timeoutMs;
  if (onError !== undefined) result['onError'] = onError;
  return result;
}
