/**
 * Definitions of agent-ops (002): nested `{steps: [{id, type, then, else, steps}]}`. A list is walked in order. A step
 * without an id is named by its path (`step[0].then[1]`). A denied approval cancels the run. The default of maxSteps is
 * 50.
 */

import { defined } from '../../json/defined.ts';
import { isObject, type Json, type JsonObject, setOwn, typeName } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { stepSlug } from '../document/names.ts';
import { Names002 } from './dialect-002-names.ts';
import { step002 } from './dialect-002-steps.ts';
import { type Import, type ImportResult, type MemberTypes, memberNames } from './import.ts';

const OUTER = memberNames(`
  id name slug description version tags enabled steps constraints variables runtime triggers config input output
`);
const DEFAULT_MAX_STEPS = 50;
/** The target after the last step of the top list. It is explicit, since a document of 002 cannot name it. */
const END_TARGET = '$end';
const MAX_LISTS = 150;
const MAX_NAME = 200;

/** The types of members whose other types would be lost, or that databases hold as JSON texts. */
const OUTER_TYPES: MemberTypes = {
  id: 'string',
  tags: 'array',
  constraints: 'object',
  variables: 'object',
  runtime: 'object',
  triggers: 'array',
  config: 'object',
  input: 'object',
};

export function from002(written: JsonObject, into: Import): ImportResult {
  into.lostMembers(written, '', OUTER);
  const document = into.typed(written, '', OUTER_TYPES);
  const steps = document['steps'];
  if (!Array.isArray(steps)) {
    into.problem(
      '/steps',
      steps === undefined ? 'missing_member' : 'wrong_type',
      `workflow.steps must be an array, got ${typeName(steps)}.`,
    );
    return into.refused();
  }
  if (steps.length === 0) {
    into.problem('/steps', 'no_steps', 'A definition needs at least one step.');
    return into.refused();
  }
  const variables = isObject(document['variables']) ? document['variables'] : {};
  const defaults = defaultsOf(variables, into);
  const names = new Names002({
    variables: new Set(Object.keys(variables)),
    defaults: new Set(Object.keys(defaults)),
    outputs: outputsIn(steps),
  });
  const start = new Flow(into, names).list(steps, '/steps', 'step', undefined, 0);
  return into.done({ ...outer(document, defaults, names, into), ...defined({ start }) });
}

function outer(document: JsonObject, defaults: JsonObject, names: Names002, into: Import): JsonObject {
  const canonical: JsonObject = { dialect: '002' };
  for (const member of ['name', 'slug', 'description', 'version', 'tags', 'enabled', 'constraints', 'input']) {
    const value = document[member];
    if (value !== undefined && value !== null) canonical[member] = value;
  }
  const { output, triggers } = document;
  if (output !== undefined && output !== null) canonical['output'] = names.templates(output);
  if (triggers !== undefined && triggers !== null)
    canonical['triggers'] = triggersOf(into.triggers(triggers, '/triggers'));
  into.nameById(document['id'], canonical);
  into.places.set('/config/variables', '/variables');
  const config = isObject(document['config'])
    ? into.typed(document['config'], '/config', { variables: 'object', secrets: 'object' })
    : {};
  const most = maxSteps(document['runtime'], into);
  if (config['maxSteps'] !== undefined && config['maxSteps'] !== null) {
    if (most !== undefined) into.lost('/runtime/policy/maxSteps', 'It is left out: config.maxSteps counts.');
  } else {
    config['maxSteps'] = most ?? DEFAULT_MAX_STEPS;
    if (most !== undefined) into.places.set('/config/maxSteps', '/runtime/policy/maxSteps');
  }
  const more = isObject(config['variables']) ? config['variables'] : {};
  for (const name of Object.keys(defaults))
    if (Object.hasOwn(more, name))
      into.lost(childPointer('/variables', name), `The default is left out: config.variables has "${name}" too.`);
  for (const name of Object.keys(more))
    if (!Object.hasOwn(defaults, name))
      into.places.set(childPointer('/config/variables', name), childPointer('/config/variables', name));
  if (Object.keys(defaults).length > 0) config['variables'] = { ...defaults, ...more };
  return { ...canonical, config };
}

/** The schema reports a value that is not a number. */
function maxSteps(runtime: Json | undefined, into: Import): Json | undefined {
  if (!isObject(runtime)) return undefined;
  into.lostMembers(runtime, '/runtime', new Set(['policy']));
  const { policy } = into.typed(runtime, '/runtime', { policy: 'object' });
  if (!isObject(policy)) return undefined;
  into.lostMembers(policy, '/runtime/policy', new Set(['maxSteps']));
  return policy['maxSteps'] ?? undefined;
}

/** The type of a trigger can be in its config. */
function triggersOf(triggers: Json): Json {
  if (!Array.isArray(triggers)) return triggers;
  return triggers.map((trigger) => {
    if (!isObject(trigger) || !isObject(trigger['config'])) return trigger;
    const { type, ...config } = trigger['config'];
    if (typeof type !== 'string' || (trigger['type'] !== undefined && trigger['type'] !== type)) return trigger;
    return { ...trigger, type, config };
  });
}

function defaultsOf(variables: JsonObject, into: Import): JsonObject {
  const defaults: JsonObject = {};
  for (const [name, written] of Object.entries(variables)) {
    const value = isDeclared(written) ? written['default'] : written;
    if (isDeclared(written)) into.lostMembers(written, childPointer('/variables', name), DECLARED);
    if (value !== undefined) setOwn(defaults, name, value);
  }
  return defaults;
}

const DECLARED: ReadonlySet<string> = new Set(['type', 'default']);

/** A variable is declared as `{type, default, description}`, or by its value. */
function isDeclared(written: Json): written is JsonObject {
  return isObject(written) && typeof written['type'] === 'string';
}

function outputsIn(steps: readonly Json[]): Set<string> {
  const outputs = new Set<string>();
  const open: Json[] = [...steps];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    if (!isObject(step)) continue;
    if (typeof step['outputVariable'] === 'string') outputs.add(step['outputVariable']);
    for (const list of [step['then'], step['else'], step['steps']]) if (Array.isArray(list)) open.push(...list);
  }
  return outputs;
}

/** Converts nested lists to steps with edges. */
class Flow {
  private readonly into: Import;
  private readonly names: Names002;
  private readonly taken = new Set<string>();

  constructor(into: Import, names: Names002) {
    this.into = into;
    this.names = names;
  }

  /**
   * Adds the steps of a list. `after` is the target of its last step. Returns its first step, or `after` if it is
   * empty.
   */
  list(steps: readonly Json[], at: string, path: string, after: string | undefined, depth: number): string | undefined {
    if (depth > MAX_LISTS) {
      this.into.problem(at, 'too_deep', `Steps are nested deeper than ${MAX_LISTS} levels.`);
      return after;
    }
    // Slugs are given in the order of the document, so that the first of two equal names keeps its name.
    const slugs = steps.map((step, index) => this.slugOf(step, childPointer(at, index), `${path}[${index}]`));
    const following: (string | undefined)[] = [];
    let next = after;
    for (let index = steps.length - 1; index >= 0; index--) {
      following[index] = next;
      next = slugs[index] ?? next;
    }
    for (const [index, step] of steps.entries()) {
      this.step(step, slugs[index], childPointer(at, index), `${path}[${index}]`, following[index], depth);
    }
    return next;
  }

  private slugOf(step: Json, at: string, path: string): string | undefined {
    if (!isObject(step)) {
      this.into.problem(at, 'wrong_type', `Step must be an object, got ${typeName(step)}.`);
      return undefined;
    }
    this.into.typed(step, at, { id: 'string' });
    const id = typeof step['id'] === 'string' && step['id'].trim() !== '' ? step['id'].trim() : path;
    const slug = stepSlug(id);
    let free = slug;
    for (let number = 2; this.taken.has(free); number++) free = `${slug.slice(0, 58)}_${number}`;
    if (free !== slug)
      this.into.warn(
        childPointer(at, 'id'),
        'duplicate_step',
        `Two steps have the id "${id}"; this one becomes "${free}".`,
      );
    this.taken.add(free);
    return free;
  }

  private step(
    step: Json,
    slug: string | undefined,
    at: string,
    path: string,
    after: string | undefined,
    depth: number,
  ): void {
    if (!isObject(step) || slug === undefined) return;
    const inner = (member: string, last: string | undefined): string | undefined => {
      const list = step[member];
      if (list === undefined || list === null) return last;
      if (Array.isArray(list)) return this.list(list, childPointer(at, member), `${path}.${member}`, last, depth + 1);
      this.into.problem(childPointer(at, member), 'wrong_type', `${member} must be an array, got ${typeName(list)}.`);
      return last;
    };
    const id = typeof step['id'] === 'string' && step['id'].trim() !== '' ? step['id'].trim() : path;
    const added: JsonObject = {};
    this.into.step(slug, added, at);
    const converted = step002(step, slug, at, this.into, this.names);
    const next: JsonObject = {};
    const lead = (port: string, target: string | undefined): void => {
      if (target !== undefined) setOwn(next, port, target);
    };
    if (converted.type === 'conditional') {
      lead('true', inner('then', after) ?? END_TARGET);
      lead('false', inner('else', after) ?? END_TARGET);
    } else if (converted.type === 'parallel') {
      this.branches(step, slug, at, path, depth, lead);
      lead('done', after);
    } else if (converted.type === 'loop' && converted.step['stepType'] === 'loop') {
      lead('loop', inner('steps', slug));
      lead('done', after);
    } else lead(converted.port, converted.type === 'approval' ? (after ?? END_TARGET) : after);
    for (const member of ['then', 'else', 'steps']) {
      if (step[member] !== undefined && !converted.lists.includes(member))
        this.into.lost(childPointer(at, member), `A ${converted.type} step has no "${member}"; it is left out.`);
    }
    if (id !== slug) added['name'] = id.length > MAX_NAME ? `…${id.slice(1 - MAX_NAME)}` : id;
    Object.assign(added, converted.step, Object.keys(next).length > 0 ? { nextSteps: next } : {});
  }

  /** Each step in the list of a parallel is a branch with its name. */
  private branches(
    step: JsonObject,
    slug: string,
    at: string,
    path: string,
    depth: number,
    lead: (port: string, target: string | undefined) => void,
  ): void {
    const list = step['steps'];
    if (list === undefined) return;
    if (!Array.isArray(list)) {
      this.into.problem(childPointer(at, 'steps'), 'wrong_type', `steps must be an array, got ${typeName(list)}.`);
      return;
    }
    for (const [index, branch] of list.entries()) {
      const place = childPointer(childPointer(at, 'steps'), index);
      const branchPath = `${path}.steps[${index}]`;
      const entry = this.slugOf(branch, place, branchPath);
      if (entry === undefined) continue;
      this.step(branch, entry, place, branchPath, slug, depth + 1);
      lead(`branch_${entry}`, entry);
    }
  }
}
