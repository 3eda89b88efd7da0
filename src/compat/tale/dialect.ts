/**
 * Definitions of tale (000): `{workflowConfig, stepsConfig: [{stepSlug, name, stepType, order, config, nextSteps}]}`,
 * or its later form `{…, steps: [{stepSlug, …}]}` with the members of `workflowConfig` beside `steps`. Its input is
 * readable without a prefix, its expressions can contain templates, and a missing next step ends the run even within a
 * loop.
 */

import { stepSlug } from '../../definition/document/names.ts';
import { isRoot } from '../../definition/document/roots.ts';
import {
  type ImportContext,
  type ImportResult,
  type MemberTypes,
  memberNames,
} from '../../definition/import/import-context.ts';
import { importRetry, retryOrigins } from '../../definition/import/retry.ts';
import { isObject, type Json, type JsonObject, setOwn, typeName } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { flatInput } from './flat-input.ts';
import { taleLoops } from './loops.ts';
import { taleStep } from './steps.ts';

const OUTER = memberNames('workflowConfig stepsConfig name slug description version tags triggers');
/** Of the later form, whose other members are those of a workflowConfig. */
const OUTER_LATER: ReadonlySet<string> = new Set(['steps', 'workflowConfig']);
/** Members of tale's run requests that do not belong to the definition. */
const RUN_MEMBERS: ReadonlySet<string> = new Set(['organizationId', 'input', 'triggeredBy', 'triggerData']);
const OUTER_TYPES: MemberTypes = { workflowConfig: 'object', tags: 'array', triggers: 'array' };
/** Members of the workflow that the canonical form has too. */
const COPIED_MEMBERS = memberNames(
  'name slug description version tags enabled triggers input state output constraints',
);
const WORKFLOW: ReadonlySet<string> = new Set([...COPIED_MEMBERS, 'config', 'status']);
/** The types of members whose other types would be lost, or that databases hold as JSON texts. */
const WORKFLOW_TYPES: MemberTypes = {
  tags: 'array',
  config: 'object',
  triggers: 'array',
  input: 'object',
  state: 'object',
  constraints: 'object',
};
const CONFIG_TYPES: MemberTypes = {
  retryPolicy: ['object', 'string'],
  variables: 'object',
  secrets: 'object',
  debounce: 'object',
  concurrency: 'object',
};
const CONFIG = memberNames(`
  timeout timeoutMs retryPolicy variables secrets maxSteps mode debounce concurrency onFailure publicStart
`);

export function fromTale(written: JsonObject, context: ImportContext): ImportResult {
  const stepsAt = written['stepsConfig'] === undefined && written['steps'] !== undefined ? '/steps' : '/stepsConfig';
  const isLater = stepsAt === '/steps' && (written['workflowConfig'] ?? null) === null;
  const document = context.withTypes(written, '', isLater ? WORKFLOW_TYPES : OUTER_TYPES);
  const known = isLater ? [...OUTER_LATER, ...WORKFLOW] : [...OUTER, stepsAt.slice(1)];
  context.warnUnknownMembers(document, '', new Set([...known, ...RUN_MEMBERS]));
  for (const member of RUN_MEMBERS) {
    if (document[member] !== undefined && !(isLater && WORKFLOW.has(member)))
      context.warnDropped(
        childPointer('', member),
        `"${member}" belongs to a run, not to its definition, and is left out.`,
      );
  }
  const workflow: LocatedObject = isLater
    ? { at: '', members: document }
    : { at: '/workflowConfig', members: workflowConfigOf(document, context) };
  const steps = document[stepsAt.slice(1)];
  if (!Array.isArray(steps) || steps.length === 0) {
    context.addProblem(stepsAt, 'missing_member', `Expected a list of at least one step, got ${typeName(steps)}.`);
    return context.failed();
  }
  const canonical = convertOuter(isLater ? {} : document, workflow, context);
  const given = Array.isArray(canonical['triggers']) ? canonical['triggers'] : [];
  const triggers: Json[] = [...given];
  for (const [index, step] of steps.entries()) {
    const at = childPointer(stepsAt, index);
    if (!isObject(step)) {
      context.addProblem(at, 'wrong_type', `Expected a step, got ${typeName(step)}.`);
      continue;
    }
    const slug = slugOf(step, at, context);
    if (slug === undefined) continue;
    const converted = taleStep(step, slug, at, context);
    context.addStep(slug, converted.step, at);
    if (converted.trigger === undefined) continue;
    context.origins.set(childPointer('/triggers', triggers.length), at);
    triggers.push({ name: slug, ...converted.trigger });
  }
  if (triggers.length > given.length) canonical['triggers'] = triggers;
  if (Object.keys(context.steps).length === 0) return context.failed();
  warnShadowedInput(context, canonical, `${workflow.at}/config/variables`);
  convertNoopTargets(context);
  taleLoops(context, canonical, stepsAt);
  return context.finish(canonical);
}

/** An object with its pointer in the written document. */
interface LocatedObject {
  readonly at: string;
  readonly members: JsonObject;
}

function workflowConfigOf(document: JsonObject, context: ImportContext): JsonObject {
  const holder = isObject(document['workflowConfig']) ? document['workflowConfig'] : {};
  context.warnUnknownMembers(holder, '/workflowConfig', WORKFLOW);
  return context.withTypes(holder, '/workflowConfig', WORKFLOW_TYPES);
}

function slugOf(written: JsonObject, at: string, context: ImportContext): string | undefined {
  const slug = written['stepSlug'];
  if (typeof slug !== 'string' || slug === '') {
    context.addProblem(childPointer(at, 'stepSlug'), 'missing_member', 'A step needs a stepSlug.');
    return undefined;
  }
  const fitting = stepSlug(slug);
  if (fitting !== slug) {
    const written = slug.slice(0, 80);
    const message = `"${written}" is no step slug: expected a letter or _, then letters, digits, _, - (64 at most).`;
    context.addProblem(childPointer(at, 'stepSlug'), 'invalid_name', message, `Call it "${fitting}".`);
    return undefined;
  }
  return slug;
}

/** `document`: the members outside of a workflowConfig. */
function convertOuter(
  document: JsonObject,
  { at, members: workflow }: LocatedObject,
  context: ImportContext,
): JsonObject {
  const canonical: JsonObject = { dialect: '000' };
  for (const member of COPIED_MEMBERS) {
    const value = workflow[member] ?? document[member];
    if (workflow[member] !== undefined && document[member] !== undefined && member !== 'input')
      context.warnDropped(childPointer('', member), `"${member}" is left out: workflowConfig has it too.`);
    // A document that is sent to be run has the input of the run here, not a format.
    if (value === undefined || value === null || (member === 'input' && workflow[member] === undefined)) continue;
    const place = childPointer(workflow[member] === undefined ? '' : at, member);
    canonical[member] = convertMember(member, value, place, context);
    context.origins.set(childPointer('', member), place);
  }
  if (workflow['status'] === 'inactive' || workflow['status'] === 'archived') canonical['enabled'] = false;
  else if (workflow['status'] !== undefined && workflow['status'] !== 'active')
    context.warnDropped(
      `${at}/status`,
      `The status ${(JSON.stringify(workflow['status']) ?? '').slice(0, 40)} has no counterpart.`,
    );
  const converted = configOf(isObject(workflow['config']) ? workflow['config'] : {}, `${at}/config`, context);
  context.origins.set('/config', `${at}/config`);
  if (Object.keys(converted).length > 0) canonical['config'] = converted;
  return canonical;
}

/** The system counts its versions: n becomes `n.0.0`. */
function convertMember(member: string, value: Json, at: string, context: ImportContext): Json {
  if (member === 'triggers') return context.readTriggers(value, at);
  const isCounted = member === 'version' && Number.isSafeInteger(value) && Number(value) >= 0;
  return isCounted ? `${String(value)}.0.0` : value;
}

function configOf(written: JsonObject, at: string, context: ImportContext): JsonObject {
  context.warnUnknownMembers(written, at, CONFIG);
  const config = context.withTypes(written, at, CONFIG_TYPES);
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(config)) {
    if (CONFIG.has(key) && value !== null) result[key] = value;
  }
  if (isObject(config['retryPolicy']))
    result['retryPolicy'] = importRetry(config['retryPolicy'], childPointer(at, 'retryPolicy'), context);
  const policy = isObject(config['retryPolicy']) ? config['retryPolicy'] : {};
  for (const [canonical, written] of retryOrigins(policy, '/config/retryPolicy', childPointer(at, 'retryPolicy')))
    context.origins.set(canonical, written);
  if (isObject(config['variables']))
    result['variables'] = variablesOf(config['variables'], childPointer(at, 'variables'), context);
  if (isObject(config['secrets'])) {
    const secrets = secretsOf(config['secrets'], childPointer(at, 'secrets'), context);
    if (Object.keys(secrets).length > 0) result['secrets'] = secrets;
    else delete result['secrets'];
  }
  return result;
}

function variablesOf(variables: JsonObject, at: string, context: ImportContext): JsonObject {
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(variables)) {
    if (isRoot(name)) {
      context.warnDropped(
        childPointer(at, name),
        `The variable "${name}" has the name of a root, which only the engine writes; it is left out.`,
        `{{ ${name} }} reads the root.`,
      );
      continue;
    }
    setOwn(kept, name, value);
  }
  return kept;
}

/** The input's keys are readable without a prefix. Variables win over them. */
function warnShadowedInput(context: ImportContext, { input, config }: JsonObject, at: string): void {
  const variables = isObject(config) && isObject(config['variables']) ? config['variables'] : {};
  const declared = flatInput(input, Object.values(context.steps));
  for (const name of Object.keys(variables)) {
    if (!declared.has(name)) continue;
    context.addWarning(
      childPointer(at, name),
      'shadowed_input',
      `"${name}" is both a variable and a key of the input; the variable wins.`,
      `Write input.${name} to read the input.`,
    );
  }
}

const SECRET: ReadonlySet<string> = new Set(['value']);

/** Values become `{value}`, which is removed before the definition is stored. */
function secretsOf(secrets: JsonObject, at: string, context: ImportContext): JsonObject {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(secrets)) {
    const clear = isObject(value) ? value['value'] : value;
    if (isObject(value)) context.warnUnknownMembers(value, childPointer(at, name), SECRET);
    if (typeof clear === 'string') {
      setOwn(result, name, { value: clear });
      if (!isObject(value))
        context.origins.set(`${childPointer('/config/secrets', name)}/value`, childPointer(at, name));
    } else {
      setOwn(result, name, name);
      context.warnDropped(
        childPointer(at, name),
        `The secret "${name}" has no readable value.`,
        `Store it as the secret "${name}".`,
      );
    }
  }
  return result;
}

/** The target `noop` ends the run, unless a step has that name. */
function convertNoopTargets(context: ImportContext): void {
  if (Object.hasOwn(context.steps, 'noop')) return;
  for (const step of Object.values(context.steps)) {
    if (!isObject(step) || !isObject(step['nextSteps'])) continue;
    for (const [port, target] of Object.entries(step['nextSteps'])) {
      if (target === 'noop') setOwn(step['nextSteps'], port, '$end');
    }
  }
}
