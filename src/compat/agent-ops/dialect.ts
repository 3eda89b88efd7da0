/**
 * Definitions of agent-ops (002): nested `{steps: [{id, type, then, else, steps}]}`. A list is walked in order. A step
 * without an id is named by its path (`step[0].then[1]`). A denied approval cancels the run. The default of maxSteps is
 * 50.
 */

import { stepSlug } from '../../definition/document/names.ts';
import {
  type ImportContext,
  type ImportResult,
  type MemberTypes,
  memberNames,
} from '../../definition/import/import-context.ts';
import { isObject, type Json, type JsonObject, setOwn, typeName } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { childPointer } from '../../json/pointer.ts';
import { agentOpsStep } from './steps.ts';
import { AgentOpsNames } from './variable-names.ts';

const OUTER = memberNames(`
  id name slug description version tags enabled steps constraints variables runtime triggers config input output
`);
const DEFAULT_MAX_STEPS = 50;
/** The target after the last step of the top list. It is explicit, since a document of agent-ops cannot name it. */
const END_TARGET = '$end';
const MAX_LISTS = 150;
const MAX_NAME_CHARACTERS = 200;

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

export function fromAgentOps(written: JsonObject, context: ImportContext): ImportResult {
  context.warnUnknownMembers(written, '', OUTER);
  const document = context.withTypes(written, '', OUTER_TYPES);
  const steps = document['steps'];
  if (!Array.isArray(steps)) {
    context.addProblem(
      '/steps',
      steps === undefined ? 'missing_member' : 'wrong_type',
      `workflow.steps must be an array, got ${typeName(steps)}.`,
    );
    return context.failed();
  }
  if (steps.length === 0) {
    context.addProblem('/steps', 'no_steps', 'A definition needs at least one step.');
    return context.failed();
  }
  const variables = isObject(document['variables']) ? document['variables'] : {};
  const defaults = defaultsOf(variables, context);
  const names = new AgentOpsNames({
    variables: new Set(Object.keys(variables)),
    defaults: new Set(Object.keys(defaults)),
    outputs: outputsIn(steps),
  });
  const start = new FlowConverter(context, names).list(steps, '/steps', 'step', undefined, 0);
  return context.finish({ ...convertOuter(document, defaults, names, context), ...omitUndefined({ start }) });
}

function convertOuter(
  document: JsonObject,
  defaults: JsonObject,
  names: AgentOpsNames,
  context: ImportContext,
): JsonObject {
  const canonical: JsonObject = { dialect: '002' };
  for (const member of ['name', 'slug', 'description', 'version', 'tags', 'enabled', 'constraints', 'input']) {
    const value = document[member];
    if (value !== undefined && value !== null) canonical[member] = value;
  }
  const { output, triggers } = document;
  if (output !== undefined && output !== null) canonical['output'] = names.templates(output);
  if (triggers !== undefined && triggers !== null)
    canonical['triggers'] = triggersOf(context.readTriggers(triggers, '/triggers'));
  context.nameById(document['id'], canonical);
  context.origins.set('/config/variables', '/variables');
  const config = isObject(document['config'])
    ? context.withTypes(document['config'], '/config', { variables: 'object', secrets: 'object' })
    : {};
  const ownMaxSteps = maxSteps(document['runtime'], context);
  if (config['maxSteps'] !== undefined && config['maxSteps'] !== null) {
    if (ownMaxSteps !== undefined)
      context.warnDropped('/runtime/policy/maxSteps', 'It is left out: config.maxSteps counts.');
  } else {
    config['maxSteps'] = ownMaxSteps ?? DEFAULT_MAX_STEPS;
    if (ownMaxSteps !== undefined) context.origins.set('/config/maxSteps', '/runtime/policy/maxSteps');
  }
  const configVariables = isObject(config['variables']) ? config['variables'] : {};
  for (const name of Object.keys(defaults))
    if (Object.hasOwn(configVariables, name))
      context.warnDropped(
        childPointer('/variables', name),
        `The default is left out: config.variables has "${name}" too.`,
      );
  for (const name of Object.keys(configVariables))
    if (!Object.hasOwn(defaults, name))
      context.origins.set(childPointer('/config/variables', name), childPointer('/config/variables', name));
  if (Object.keys(defaults).length > 0) config['variables'] = { ...defaults, ...configVariables };
  return { ...canonical, config };
}

/** The schema reports a value that is not a number. */
function maxSteps(runtime: Json | undefined, context: ImportContext): Json | undefined {
  if (!isObject(runtime)) return undefined;
  context.warnUnknownMembers(runtime, '/runtime', new Set(['policy']));
  const { policy } = context.withTypes(runtime, '/runtime', { policy: 'object' });
  if (!isObject(policy)) return undefined;
  context.warnUnknownMembers(policy, '/runtime/policy', new Set(['maxSteps']));
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

function defaultsOf(variables: JsonObject, context: ImportContext): JsonObject {
  const defaults: JsonObject = {};
  for (const [name, written] of Object.entries(variables)) {
    const value = isDeclared(written) ? written['default'] : written;
    if (isDeclared(written)) context.warnUnknownMembers(written, childPointer('/variables', name), DECLARATION_MEMBERS);
    if (value !== undefined) setOwn(defaults, name, value);
  }
  return defaults;
}

const DECLARATION_MEMBERS: ReadonlySet<string> = new Set(['type', 'default']);

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
class FlowConverter {
  private readonly context: ImportContext;
  private readonly names: AgentOpsNames;
  private readonly usedSlugs = new Set<string>();

  constructor(context: ImportContext, names: AgentOpsNames) {
    this.context = context;
    this.names = names;
  }

  /**
   * Adds the steps of a list. `after` is the target of its last step. Returns its first step, or `after` if it is
   * empty.
   */
  list(steps: readonly Json[], at: string, path: string, after: string | undefined, depth: number): string | undefined {
    if (depth > MAX_LISTS) {
      this.context.addProblem(at, 'too_deep', `Steps are nested deeper than ${MAX_LISTS} levels.`);
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
      this.context.addProblem(at, 'wrong_type', `Step must be an object, got ${typeName(step)}.`);
      return undefined;
    }
    this.context.withTypes(step, at, { id: 'string' });
    const id = typeof step['id'] === 'string' && step['id'].trim() !== '' ? step['id'].trim() : path;
    const slug = stepSlug(id);
    let free = slug;
    for (let number = 2; this.usedSlugs.has(free); number++) free = `${slug.slice(0, 58)}_${number}`;
    if (free !== slug)
      this.context.addWarning(
        childPointer(at, 'id'),
        'duplicate_step',
        `Two steps have the id "${id}"; this one becomes "${free}".`,
      );
    this.usedSlugs.add(free);
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
      this.context.addProblem(
        childPointer(at, member),
        'wrong_type',
        `${member} must be an array, got ${typeName(list)}.`,
      );
      return last;
    };
    const id = typeof step['id'] === 'string' && step['id'].trim() !== '' ? step['id'].trim() : path;
    const added: JsonObject = {};
    this.context.addStep(slug, added, at);
    const converted = agentOpsStep(step, slug, at, this.context, this.names);
    const next: JsonObject = {};
    const connect = (port: string, target: string | undefined): void => {
      if (target !== undefined) setOwn(next, port, target);
    };
    if (converted.type === 'conditional') {
      connect('true', inner('then', after) ?? END_TARGET);
      connect('false', inner('else', after) ?? END_TARGET);
    } else if (converted.type === 'parallel') {
      this.branches(step, slug, at, path, depth, connect);
      connect('done', after);
    } else if (converted.type === 'loop' && converted.step['stepType'] === 'loop') {
      connect('loop', inner('steps', slug));
      connect('done', after);
    } else connect(converted.port, converted.type === 'approval' ? (after ?? END_TARGET) : after);
    for (const member of ['then', 'else', 'steps']) {
      if (step[member] !== undefined && !converted.lists.includes(member))
        this.context.warnDropped(
          childPointer(at, member),
          `A ${converted.type} step has no "${member}"; it is left out.`,
        );
    }
    if (id !== slug) added['name'] = id.length > MAX_NAME_CHARACTERS ? `…${id.slice(1 - MAX_NAME_CHARACTERS)}` : id;
    Object.assign(added, converted.step, Object.keys(next).length > 0 ? { nextSteps: next } : {});
  }

  /** Each step in the list of a parallel is a branch with its name. */
  private branches(
    step: JsonObject,
    slug: string,
    at: string,
    path: string,
    depth: number,
    connect: (port: string, target: string | undefined) => void,
  ): void {
    const list = step['steps'];
    if (list === undefined) return;
    if (!Array.isArray(list)) {
      this.context.addProblem(
        childPointer(at, 'steps'),
        'wrong_type',
        `steps must be an array, got ${typeName(list)}.`,
      );
      return;
    }
    for (const [index, branch] of list.entries()) {
      const place = childPointer(childPointer(at, 'steps'), index);
      const branchPath = `${path}.steps[${index}]`;
      const entry = this.slugOf(branch, place, branchPath);
      if (entry === undefined) continue;
      this.step(branch, entry, place, branchPath, slug, depth + 1);
      connect(`branch_${entry}`, entry);
    }
  }
}
