/** Converts a node of alloy to its canonical kind. */

import { changeExpressions } from '../../definition/import/expressions.ts';
import {
  type ImportContext,
  type MemberTypes,
  memberNames,
  renameMembers,
} from '../../definition/import/import-context.ts';
import { importRetry, retryOrigins } from '../../definition/import/retry.ts';
import { unwrapTemplates } from '../../definition/import/unwrap-templates.ts';
import { isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { childPointer } from '../../json/pointer.ts';

type Slugs = ReadonlyMap<string, string>;

/** The members of a node that are not part of its config. */
const NODE = memberNames(`
  id type stepType name title description config data next next_step next_step_id nextStepId nextSteps branches
  default default_next_step_id saveToState save_to_state retry position onError on_error timeout
`);
const PORTS: { readonly [stepType: string]: string } = { user_input: 'submitted', wait_callback: 'received' };
const MODEL = {
  system_prompt: 'systemPrompt',
  user_prompt: 'userPrompt',
  prompt: 'userPrompt',
  output_schema: 'outputSchema',
  output_format: 'outputFormat',
  max_tokens: 'maxTokens',
} as const;
/** Spellings of members, by kind: written → canonical. Other members keep their names. */
const SPELLINGS: { readonly [stepType: string]: { readonly [written: string]: string } } = {
  llm: MODEL,
  agent: { ...MODEL, max_steps: 'maxSteps', mcp_server_ids: 'mcpServerIds' },
  run_workflow: { workflow_id: 'workflow', payload: 'input' },
  run_employee: { employee_id: 'employee', response_schema: 'responseSchema' },
  run_code: { timeout_ms: 'timeoutMs', memory_mb: 'memoryMb' },
  user_input: { prompt: 'message', fields: 'form' },
  send_message: { message: 'text' },
  mapping: { mapping: 'output' },
};

/** The types of members whose other types would be lost, or that databases hold as JSON texts. */
const NODE_TYPES: MemberTypes = {
  config: 'object',
  data: 'object',
  retry: 'object',
  nextSteps: 'object',
  branches: 'array',
};

export function alloyNode(
  given: JsonObject,
  slug: string,
  at: string,
  slugs: Slugs,
  context: ImportContext,
): JsonObject {
  const node = context.withTypes(given, at, NODE_TYPES);
  if (node['config'] !== undefined && node['data'] !== undefined)
    context.warnDropped(childPointer(at, 'data'), '"data" is another spelling of "config", and is left out.');
  const writtenType = node['type'] ?? node['stepType'];
  const stepType = typeof writtenType === 'string' ? writtenType : '';
  const written = isObject(node['config']) ? node['config'] : isObject(node['data']) ? node['data'] : undefined;
  const place = isObject(node['config'])
    ? childPointer(at, 'config')
    : isObject(node['data'])
      ? childPointer(at, 'data')
      : at;
  const config = context.withTypes(written ?? configMembers(node), place, { branches: 'array' });
  if (written !== undefined) context.warnUnknownMembers(node, at, NODE);
  context.mapOrigins(slug, at, [
    ['/config', place.slice(at.length)],
    ['/stepType', node['type'] === undefined ? '/stepType' : '/type'],
    ['/nextSteps', isObject(node['nextSteps']) ? '/nextSteps' : ''],
    ['/name', node['name'] === undefined ? '/title' : '/name'],
    ['/onError', node['onError'] === undefined ? '/on_error' : '/onError'],
    ['/saveToState', node['saveToState'] === undefined ? '/save_to_state' : '/saveToState'],
    ...retryOrigins(isObject(node['retry']) ? node['retry'] : {}, '/retry', '/retry'),
    ...(config['branches'] === undefined ? branchOrigins(node['branches'], '/branches') : []),
  ]);
  context.mapOrigins(slug, place, memberOrigins(stepType, config));
  const step: JsonObject = {
    ...renameMembers(node, { description: 'description', timeout: 'timeout' }),
    ...omitUndefined({ name: context.firstSpelling(node, at, ['name', 'title']) }),
    ...omitUndefined({ onError: context.firstSpelling(node, at, ['onError', 'on_error']) }),
  };
  const save = takeSaveToState(node, config, { at, place }, context);
  if (save !== undefined && save !== '') step['saveToState'] = save;
  if (isObject(node['retry'])) step['retry'] = importRetry(node['retry'], childPointer(at, 'retry'), context);
  const next = convertEdges(node, config, stepType, slugs, { at, place }, context);
  const converted = convertKind(stepType, config, node, place, context);
  if (converted.stepType !== stepType || stepType === '') step['stepType'] = converted.stepType;
  else step['stepType'] = stepType;
  if (Object.keys(converted.config).length > 0) step['config'] = converted.config;
  if (Object.keys(next).length > 0) step['nextSteps'] = next;
  changeExpressions(step, unwrapTemplates);
  return step;
}

/** What a node saves, which its config can say too. Removed from the config. */
function takeSaveToState(
  node: JsonObject,
  config: JsonObject,
  { at, place }: { readonly at: string; readonly place: string },
  context: ImportContext,
): Json | undefined {
  const outer = context.firstSpelling(node, at, SAVE_MEMBERS);
  const inner = context.firstSpelling(config, place, SAVE_MEMBERS);
  for (const member of SAVE_MEMBERS) {
    if (outer !== undefined && config[member] !== undefined && place !== at)
      context.warnDropped(childPointer(place, member), `"${member}" is left out, since the node has one too.`);
    delete config[member];
  }
  return outer ?? inner;
}

const SAVE_MEMBERS = ['saveToState', 'save_to_state'] as const;
const TOOL_NAMES = ['tool', 'tool_name', 'toolName', 'name'] as const;
const TOOL_INPUTS = ['parameters', 'params', 'input'] as const;

/** The origins of members of the canonical config. */
function* memberOrigins(stepType: string, config: JsonObject): Iterable<readonly [string, string]> {
  const first = (members: readonly string[]): string =>
    members.find((member) => config[member] !== undefined && config[member] !== null) ?? '';
  if (stepType === 'tool') {
    yield ['/config/type', `/${first(TOOL_NAMES) || TOOL_NAMES[0]}`];
    yield ['/config/parameters', `/${first(TOOL_INPUTS) || TOOL_INPUTS[0]}`];
  }
  if (stepType === 'condition') {
    yield ['/config/expression', `/${first(['expression', 'condition'])}`];
    yield* branchOrigins(config['branches'], '/branches');
  }
  for (const [written, canonical] of Object.entries(SPELLINGS[stepType] ?? {}))
    if (config[written] !== undefined && config[canonical] === undefined) yield [`/config/${canonical}`, `/${written}`];
}

function* branchOrigins(branches: Json | undefined, at: string): Iterable<readonly [string, string]> {
  if (!Array.isArray(branches)) return;
  yield ['/config/branches', at];
  for (const [index, branch] of branches.entries())
    if (isObject(branch) && branch['expression'] === undefined)
      yield [`/config/branches/${index}/expression`, `${at}/${index}/condition`];
}

function configMembers(node: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([key]) => !NODE.has(key)));
}

function convertKind(
  stepType: string,
  config: JsonObject,
  node: JsonObject,
  at: string,
  context: ImportContext,
): { stepType: string; config: JsonObject } {
  switch (stepType) {
    case 'starting_step':
      context.warnUnknownMembers(config, at, new Set());
      return { stepType, config: {} };
    case 'tool': {
      context.warnUnknownMembers(config, at, new Set([...TOOL_NAMES, ...TOOL_INPUTS]));
      const type = context.firstSpelling(config, at, TOOL_NAMES);
      const read = { ...config };
      for (const member of TOOL_INPUTS)
        read[member] = context.readJsonText(config[member] ?? null, childPointer(at, member));
      return {
        stepType: 'action',
        config: omitUndefined({ type, parameters: context.firstSpelling(read, at, TOOL_INPUTS) }),
      };
    }
    case 'condition':
      return { stepType, config: condition(config, node, at, context) };
    default: {
      const canonical = withCanonicalNames(config, SPELLINGS[stepType] ?? {}, at, context);
      return { stepType, config: stepType === 'send_message' ? withChannel(canonical, at, context) : canonical };
    }
  }
}

/** Messages of alloy have no channel, and go to the inbox. */
function withChannel(config: JsonObject, at: string, context: ImportContext): JsonObject {
  if (config['channel'] !== undefined && config['channel'] !== null && config['channel'] !== '') return config;
  context.addWarning(
    childPointer(at, 'channel'),
    'missing_member',
    'The node names no channel: its message goes to the inbox (GET /api/inbox).',
    'Add channel and to, to send it elsewhere.',
  );
  return { ...config, channel: 'inbox' };
}

/** Members under their canonical names. Of two spellings the canonical one or the first is taken. */
function withCanonicalNames(
  config: JsonObject,
  spellings: { readonly [written: string]: string },
  at: string,
  context: ImportContext,
): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(config)) {
    const canonical = Object.hasOwn(spellings, key) ? spellings[key] : undefined;
    if (canonical === undefined) setOwn(result, key, value);
    else if (config[canonical] === undefined && result[canonical] === undefined) result[canonical] = value;
    else context.warnDropped(childPointer(at, key), `"${key}" is another spelling of "${canonical}", and is left out.`);
  }
  return result;
}

function condition(config: JsonObject, node: JsonObject, at: string, context: ImportContext): JsonObject {
  const branches = config['branches'] ?? node['branches'];
  if (!Array.isArray(branches)) {
    const expression = context.firstSpelling(config, at, CONDITION_MEMBERS);
    if (typeof expression !== 'string') return config;
    context.warnUnknownMembers(config, at, new Set([...CONDITION_MEMBERS, ...DEFAULT_MEMBERS, 'description']));
    return { expression, ...renameMembers(config, { description: 'description' }) };
  }
  context.warnUnknownMembers(config, at, new Set(['branches', ...DEFAULT_MEMBERS, 'description']));
  return {
    branches: branches.map((branch, index) => {
      if (!isObject(branch)) return branch;
      const place = `${at}/branches/${index}`;
      context.warnUnknownMembers(branch, place, BRANCH);
      const expression = context.firstSpelling(branch, place, CONDITION_MEMBERS);
      const port = portOf(branch, index, place, context);
      const described = renameMembers(branch, { description: 'description' });
      if (typeof expression === 'string') return { port, expression, ...described };
      context.addProblem(place, 'invalid_config', 'Expected a branch with a condition.');
      return { port, expression: 'false', ...described };
    }),
    ...renameMembers(config, { description: 'description' }),
  };
}

const CONDITION_MEMBERS = ['expression', 'condition'] as const;
const PORT_NAMES = ['port', 'name', 'id'] as const;
const DEFAULT_MEMBERS = ['default_next_step_id', 'default'] as const;
const NEXT_MEMBERS = ['next_step_id', 'next_step', 'nextStepId', 'next'] as const;
const BRANCH: ReadonlySet<string> = new Set([...PORT_NAMES, ...CONDITION_MEMBERS, ...NEXT_MEMBERS, 'description']);

function portOf(branch: JsonObject, index: number, at: string, context: ImportContext): string {
  const name = context.firstSpelling(
    context.withTypes(branch, at, { port: 'string', name: 'string', id: 'string' }),
    at,
    PORT_NAMES,
  );
  return typeof name === 'string' && name !== '' && !['default', 'error', 'skipped'].includes(name)
    ? name
    : `branch_${index}`;
}

function convertEdges(
  node: JsonObject,
  config: JsonObject,
  stepType: string,
  slugs: Slugs,
  { at, place }: { readonly at: string; readonly place: string },
  context: ImportContext,
): JsonObject {
  const next: JsonObject = {};
  const connect = (port: string, target: Json | undefined, place: string): void => {
    if (target === undefined || target === null || target === '') return;
    const slug = typeof target === 'string' ? slugs.get(target) : undefined;
    if (slug === undefined)
      context.addProblem(
        place,
        'unknown_step',
        `The flow has no node ${typeof target === 'string' ? `"${target.slice(0, 80)}"` : 'of that name'}.`,
      );
    else if (Object.hasOwn(next, port) && next[port] !== slug)
      context.addProblem(place, 'duplicate_key', `The port "${port}" has two next nodes.`, 'Name one of them.');
    else setOwn(next, port, slug);
  };
  if (isObject(node['nextSteps'])) {
    for (const [port, target] of Object.entries(node['nextSteps']))
      connect(port, target, childPointer(childPointer(at, 'nextSteps'), port));
  }
  for (const member of NEXT_MEMBERS) {
    connect(PORTS[stepType] ?? 'success', node[member], childPointer(at, member));
    connect(PORTS[stepType] ?? 'success', config[member], childPointer(place, member));
    delete config[member];
  }
  if (stepType !== 'condition') {
    for (const member of ['branches', ...DEFAULT_MEMBERS])
      if (node[member] !== undefined)
        context.warnDropped(childPointer(at, member), `"${member}" belongs to a condition.`);
    return next;
  }
  const isOuter = node['branches'] !== undefined;
  if (isOuter && config['branches'] !== undefined)
    context.warnDropped(childPointer(at, 'branches'), 'The branches are left out, since the config has some too.');
  const branches = config['branches'] ?? node['branches'];
  if (Array.isArray(branches)) {
    for (const [index, branch] of branches.entries()) {
      if (!isObject(branch)) continue;
      const within = `${config['branches'] === undefined ? at : place}/branches/${index}`;
      connect(portOf(branch, index, within, context), context.firstSpelling(branch, within, NEXT_MEMBERS), within);
    }
    if (next['success'] !== undefined) {
      setOwn(next, 'default', next['success']);
      delete next['success'];
    }
  }
  for (const [holder, within] of [[node, at] as const, [config, place] as const]) {
    for (const member of DEFAULT_MEMBERS) {
      connect('default', holder[member], childPointer(within, member));
    }
  }
  for (const member of DEFAULT_MEMBERS) delete config[member];
  return next;
}
