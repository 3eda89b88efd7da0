/**
 * Definitions of tale (000): `{workflowConfig, stepsConfig: [{stepSlug, name, stepType, order, config, nextSteps}]}`,
 * or its later form `{…, steps: [{stepSlug, …}]}` with the members of `workflowConfig` beside `steps`. Its input is
 * readable without a prefix, its expressions can contain templates, and a missing next step ends the run even within a
 * loop.
 */
import { isObject, type Json, type JsonObject, setOwn, typeName } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { stepSlug } from '../document/names.ts';
import { isRoot } from '../document/roots.ts';
import { loops000 } from './dialect-000-loops.ts';
import { step000 } from './dialect-000-steps.ts';
import { flatInput } from './flat-input.ts';
import { type Import, type ImportResult, type MemberTypes, memberNames } from './import.ts';
import { importRetry, retryPlaces } from './import-retry.ts';

const OUTER = memberNames('workflowConfig stepsConfig name slug description version tags triggers');
/** Of the later form, whose other members are those of a workflowConfig. */
const OUTER_LATER: ReadonlySet<string> = new Set(['steps', 'workflowConfig']);
/** Members of 000's run requests that do not belong to the definition. */
const OF_A_RUN: ReadonlySet<string> = new Set(['organizationId', 'input', 'triggeredBy', 'triggerData']);
const OUTER_TYPES: MemberTypes = { workflowConfig: 'object', tags: 'array', triggers: 'array' };
/** Members of the workflow that the canonical form has too. */
const CARRIED = memberNames('name slug description version tags enabled triggers input state output constraints');
const WORKFLOW: ReadonlySet<string> = new Set([...CARRIED, 'config', 'status']);
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

export function from000(written: JsonObject, into: Import): ImportResult {
  const stepsAt = written['stepsConfig'] === undefined && written['steps'] !== undefined ? '/steps' : '/stepsConfig';
  const isLater = stepsAt === '/steps' && (written['workflowConfig'] ?? null) === null;
  const document = into.typed(written, '', isLater ? WORKFLOW_TYPES : OUTER_TYPES);
  const known = isLater ? [...OUTER_LATER, ...WORKFLOW] : [...OUTER, stepsAt.slice(1)];
  into.lostMembers(document, '', new Set([...known, ...OF_A_RUN]));
  for (const member of OF_A_RUN) {
    if (document[member] !== undefined && !(isLater && WORKFLOW.has(member)))
      into.lost(childPointer('', member), `"${member}" belongs to a run, not to its definition, and is left out.`);
  }
  const workflow: Held = isLater
    ? { at: '', members: document }
    : { at: '/workflowConfig', members: workflowConfigOf(document, into) };
  const steps = document[stepsAt.slice(1)];
  if (!Array.isArray(steps) || steps.length === 0) {
    into.problem(stepsAt, 'missing_member', `Expected a list of at least one step, got ${typeName(steps)}.`);
    return into.refused();
  }
  const canonical = outer(isLater ? {} : document, workflow, into);
  const given = Array.isArray(canonical['triggers']) ? canonical['triggers'] : [];
  const triggers: Json[] = [...given];
  for (const [index, step] of steps.entries()) {
    const at = childPointer(stepsAt, index);
    if (!isObject(step)) {
      into.problem(at, 'wrong_type', `Expected a step, got ${typeName(step)}.`);
      continue;
    }
    const slug = slugOf(step, at, into);
    if (slug === undefined) continue;
    const converted = step000(step, slug, at, into);
    into.step(slug, converted.step, at);
    if (converted.trigger === undefined) continue;
    into.places.set(childPointer('/triggers', triggers.length), at);
    triggers.push({ name: slug, ...converted.trigger });
  }
  if (triggers.length > given.length) canonical['triggers'] = triggers;
  if (Object.keys(into.steps).length === 0) return into.refused();
  shadowed(into, canonical, `${workflow.at}/config/variables`);
  endings(into);
  loops000(into, canonical, stepsAt);
  return into.done(canonical);
}

/** An object with its place in the written document. */
interface Held {
  readonly at: string;
  readonly members: JsonObject;
}

function workflowConfigOf(document: JsonObject, into: Import): JsonObject {
  const holder = isObject(document['workflowConfig']) ? document['workflowConfig'] : {};
  into.lostMembers(holder, '/workflowConfig', WORKFLOW);
  return into.typed(holder, '/workflowConfig', WORKFLOW_TYPES);
}

function slugOf(written: JsonObject, at: string, into: Import): string | undefined {
  const slug = written['stepSlug'];
  if (typeof slug !== 'string' || slug === '') {
    into.problem(childPointer(at, 'stepSlug'), 'missing_member', 'A step needs a stepSlug.');
    return undefined;
  }
  const fitting = stepSlug(slug);
  if (fitting !== slug) {
    const written = slug.slice(0, 80);
    const message = `"${written}" is no step slug: expected a letter or _, then letters, digits, _, - (64 at most).`;
    into.problem(childPointer(at, 'stepSlug'), 'invalid_name', message, `Call it "${fitting}".`);
    return undefined;
  }
  return slug;
}

/** `document`: the members outside of a workflowConfig. */
function outer(document: JsonObject, { at, members: workflow }: Held, into: Import): JsonObject {
  const canonical: JsonObject = { dialect: '000' };
  for (const member of CARRIED) {
    const value = workflow[member] ?? document[member];
    if (workflow[member] !== undefined && document[member] !== undefined && member !== 'input')
      into.lost(childPointer('', member), `"${member}" is left out: workflowConfig has it too.`);
    // A document that is sent to be run has the input of the run here, not a format.
    if (value === undefined || value === null || (member === 'input' && workflow[member] === undefined)) continue;
    const place = childPointer(workflow[member] === undefined ? '' : at, member);
    canonical[member] = carried(member, value, place, into);
    into.places.set(childPointer('', member), place);
  }
  if (workflow['status'] === 'inactive' || workflow['status'] === 'archived') canonical['enabled'] = false;
  else if (workflow['status'] !== undefined && workflow['status'] !== 'active')
    into.lost(
      `${at}/status`,
      `The status ${(JSON.stringify(workflow['status']) ?? '').slice(0, 40)} has no counterpart.`,
    );
  const converted = configOf(isObject(workflow['config']) ? workflow['config'] : {}, `${at}/config`, into);
  into.places.set('/config', `${at}/config`);
  if (Object.keys(converted).length > 0) canonical['config'] = converted;
  return canonical;
}

/** The system counts its versions: n becomes `n.0.0`. */
function carried(member: string, value: Json, at: string, into: Import): Json {
  if (member === 'triggers') return into.triggers(value, at);
  const isCounted = member === 'version' && Number.isSafeInteger(value) && Number(value) >= 0;
  return isCounted ? `${String(value)}.0.0` : value;
}

function configOf(written: JsonObject, at: string, into: Import): JsonObject {
  into.lostMembers(written, at, CONFIG);
  const config = into.typed(written, at, CONFIG_TYPES);
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(config)) {
    if (CONFIG.has(key) && value !== null) result[key] = value;
  }
  if (isObject(config['retryPolicy']))
    result['retryPolicy'] = importRetry(config['retryPolicy'], childPointer(at, 'retryPolicy'), into);
  const policy = isObject(config['retryPolicy']) ? config['retryPolicy'] : {};
  for (const [canonical, written] of retryPlaces(policy, '/config/retryPolicy', childPointer(at, 'retryPolicy')))
    into.places.set(canonical, written);
  if (isObject(config['variables']))
    result['variables'] = variablesOf(config['variables'], childPointer(at, 'variables'), into);
  if (isObject(config['secrets'])) {
    const secrets = secretsOf(config['secrets'], childPointer(at, 'secrets'), into);
    if (Object.keys(secrets).length > 0) result['secrets'] = secrets;
    else delete result['secrets'];
  }
  return result;
}

function variablesOf(variables: JsonObject, at: string, into: Import): JsonObject {
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(variables)) {
    if (isRoot(name)) {
      into.lost(
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
function shadowed(into: Import, { input, config }: JsonObject, at: string): void {
  const variables = isObject(config) && isObject(config['variables']) ? config['variables'] : {};
  const declared = flatInput(input, Object.values(into.steps));
  for (const name of Object.keys(variables)) {
    if (!declared.has(name)) continue;
    into.warn(
      childPointer(at, name),
      'shadowed_input',
      `"${name}" is both a variable and a key of the input; the variable wins.`,
      `Write input.${name} to read the input.`,
    );
  }
}

const SECRET: ReadonlySet<string> = new Set(['value']);

/** Values become `{value}`, which is removed before the definition is stored. */
function secretsOf(secrets: JsonObject, at: string, into: Import): JsonObject {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(secrets)) {
    const clear = isObject(value) ? value['value'] : value;
    if (isObject(value)) into.lostMembers(value, childPointer(at, name), SECRET);
    if (typeof clear === 'string') {
      setOwn(result, name, { value: clear });
      if (!isObject(value)) into.places.set(`${childPointer('/config/secrets', name)}/value`, childPointer(at, name));
    } else {
      setOwn(result, name, name);
      into.lost(
        childPointer(at, name),
        `The secret "${name}" has no readable value.`,
        `Store it as the secret "${name}".`,
      );
    }
  }
  return result;
}

/** The target `noop` ends the run, unless a step has that name. */
function endings(into: Import): void {
  if (Object.hasOwn(into.steps, 'noop')) return;
  for (const step of Object.values(into.steps)) {
    if (!isObject(step) || !isObject(step['nextSteps'])) continue;
    for (const [port, target] of Object.entries(step['nextSteps'])) {
      if (target === 'noop') setOwn(step['nextSteps'], port, '$end');
    }
  }
}
