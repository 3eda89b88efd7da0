/** Converts a node of alloy to its canonical kind. */

import { defined } from '../../json/defined.ts';
import { isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { type Import, type MemberTypes, memberNames, renamed } from './import.ts';
import { changeExpressions } from './import-expressions.ts';
import { importRetry, retryPlaces } from './import-retry.ts';
import { unwrapTemplates } from './unwrap-templates.ts';

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

export function node004(given: JsonObject, slug: string, at: string, slugs: Slugs, into: Import): JsonObject {
  const node = into.typed(given, at, NODE_TYPES);
  if (node['config'] !== undefined && node['data'] !== undefined)
    into.lost(childPointer(at, 'data'), '"data" is another spelling of "config", and is left out.');
  const said = node['type'] ?? node['stepType'];
  const stepType = typeof said === 'string' ? said : '';
  const written = isObject(node['config']) ? node['config'] : isObject(node['data']) ? node['data'] : undefined;
  const place = isObject(node['config'])
    ? childPointer(at, 'config')
    : isObject(node['data'])
      ? childPointer(at, 'data')
      : at;
  const config = into.typed(written ?? rest(node), place, { branches: 'array' });
  if (written !== undefined) into.lostMembers(node, at, NODE);
  into.moved(slug, at, [
    ['/config', place.slice(at.length)],
    ['/stepType', node['type'] === undefined ? '/stepType' : '/type'],
    ['/nextSteps', isObject(node['nextSteps']) ? '/nextSteps' : ''],
    ['/name', node['name'] === undefined ? '/title' : '/name'],
    ['/onError', node['onError'] === undefined ? '/on_error' : '/onError'],
    ['/saveToState', node['saveToState'] === undefined ? '/save_to_state' : '/saveToState'],
    ...retryPlaces(isObject(node['retry']) ? node['retry'] : {}, '/retry', '/retry'),
    ...(config['branches'] === undefined ? movedBranches(node['branches'], '/branches') : []),
  ]);
  into.moved(slug, place, movedIn(stepType, config));
  const step: JsonObject = {
    ...renamed(node, { description: 'description', timeout: 'timeout' }),
    ...defined({ name: into.first(node, at, ['name', 'title']) }),
    ...defined({ onError: into.first(node, at, ['onError', 'on_error']) }),
  };
  const save = savedBy(node, config, { at, place }, into);
  if (save !== undefined && save !== '') step['saveToState'] = save;
  if (isObject(node['retry'])) step['retry'] = importRetry(node['retry'], childPointer(at, 'retry'), into);
  const next = edges(node, config, stepType, slugs, { at, place }, into);
  const converted = kind(stepType, config, node, place, into);
  if (converted.stepType !== stepType || stepType === '') step['stepType'] = converted.stepType;
  else step['stepType'] = stepType;
  if (Object.keys(converted.config).length > 0) step['config'] = converted.config;
  if (Object.keys(next).length > 0) step['nextSteps'] = next;
  changeExpressions(step, unwrapTemplates);
  return step;
}

/** What a node saves, which its config can say too. Removed from the config. */
function savedBy(
  node: JsonObject,
  config: JsonObject,
  { at, place }: { readonly at: string; readonly place: string },
  into: Import,
): Json | undefined {
  const outer = into.first(node, at, SAVES);
  const inner = into.first(config, place, SAVES);
  for (const member of SAVES) {
    if (outer !== undefined && config[member] !== undefined && place !== at)
      into.lost(childPointer(place, member), `"${member}" is left out, since the node has one too.`);
    delete config[member];
  }
  return outer ?? inner;
}

const SAVES = ['saveToState', 'save_to_state'] as const;
const TOOL_NAMES = ['tool', 'tool_name', 'toolName', 'name'] as const;
const TOOL_INPUTS = ['parameters', 'params', 'input'] as const;

/** The original places of members of the canonical config. */
function* movedIn(stepType: string, config: JsonObject): Iterable<readonly [string, string]> {
  const first = (members: readonly string[]): string =>
    members.find((member) => config[member] !== undefined && config[member] !== null) ?? '';
  if (stepType === 'tool') {
    yield ['/config/type', `/${first(TOOL_NAMES) || TOOL_NAMES[0]}`];
    yield ['/config/parameters', `/${first(TOOL_INPUTS) || TOOL_INPUTS[0]}`];
  }
  if (stepType === 'condition') {
    yield ['/config/expression', `/${first(['expression', 'condition'])}`];
    yield* movedBranches(config['branches'], '/branches');
  }
  for (const [written, canonical] of Object.entries(SPELLINGS[stepType] ?? {}))
    if (config[written] !== undefined && config[canonical] === undefined) yield [`/config/${canonical}`, `/${written}`];
}

function* movedBranches(branches: Json | undefined, at: string): Iterable<readonly [string, string]> {
  if (!Array.isArray(branches)) return;
  yield ['/config/branches', at];
  for (const [index, branch] of branches.entries())
    if (isObject(branch) && branch['expression'] === undefined)
      yield [`/config/branches/${index}/expression`, `${at}/${index}/condition`];
}

function rest(node: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([key]) => !NODE.has(key)));
}

function kind(
  stepType: string,
  config: JsonObject,
  node: JsonObject,
  at: string,
  into: Import,
): { stepType: string; config: JsonObject } {
  switch (stepType) {
    case 'starting_step':
      into.lostMembers(config, at, new Set());
      return { stepType, config: {} };
    case 'tool': {
      into.lostMembers(config, at, new Set([...TOOL_NAMES, ...TOOL_INPUTS]));
      const type = into.first(config, at, TOOL_NAMES);
      const read = { ...config };
      for (const member of TOOL_INPUTS) read[member] = into.read(config[member] ?? null, childPointer(at, member));
      return {
        stepType: 'action',
        config: defined({ type, parameters: into.first(read, at, TOOL_INPUTS) }),
      };
    }
    case 'condition':
      return { stepType, config: condition(config, node, at, into) };
    default: {
      const canonical = spelt(config, SPELLINGS[stepType] ?? {}, at, into);
      return { stepType, config: stepType === 'send_message' ? withChannel(canonical, at, into) : canonical };
    }
  }
}

/** Messages of alloy have no channel, and go to the inbox. */
function withChannel(config: JsonObject, at: string, into: Import): JsonObject {
  if (config['channel'] !== undefined && config['channel'] !== null && config['channel'] !== '') return config;
  into.warn(
    childPointer(at, 'channel'),
    'missing_member',
    'The node names no channel: its message goes to the inbox (GET /api/inbox).',
    'Add channel and to, to send it elsewhere.',
  );
  return { ...config, channel: 'inbox' };
}

/** Members under their canonical names. Of two spellings the canonical one or the first is taken. */
function spelt(
  config: JsonObject,
  spellings: { readonly [written: string]: string },
  at: string,
  into: Import,
): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(config)) {
    const canonical = Object.hasOwn(spellings, key) ? spellings[key] : undefined;
    if (canonical === undefined) setOwn(result, key, value);
    else if (config[canonical] === undefined && result[canonical] === undefined) result[canonical] = value;
    else into.lost(childPointer(at, key), `"${key}" is another spelling of "${canonical}", and is left out.`);
  }
  return result;
}

function condition(config: JsonObject, node: JsonObject, at: string, into: Import): JsonObject {
  const branches = config['branches'] ?? node['branches'];
  if (!Array.isArray(branches)) {
    const asked = into.first(config, at, ASKED);
    if (typeof asked !== 'string') return config;
    into.lostMembers(config, at, new Set([...ASKED, ...DEFAULTS, 'description']));
    return { expression: asked, ...renamed(config, { description: 'description' }) };
  }
  into.lostMembers(config, at, new Set(['branches', ...DEFAULTS, 'description']));
  return {
    branches: branches.map((branch, index) => {
      if (!isObject(branch)) return branch;
      const place = `${at}/branches/${index}`;
      into.lostMembers(branch, place, BRANCH);
      const asked = into.first(branch, place, ASKED);
      const port = portOf(branch, index, place, into);
      const described = renamed(branch, { description: 'description' });
      if (typeof asked === 'string') return { port, expression: asked, ...described };
      into.problem(place, 'invalid_config', 'Expected a branch with a condition.');
      return { port, expression: 'false', ...described };
    }),
    ...renamed(config, { description: 'description' }),
  };
}

const ASKED = ['expression', 'condition'] as const;
const PORT_NAMES = ['port', 'name', 'id'] as const;
const DEFAULTS = ['default_next_step_id', 'default'] as const;
const NEXT = ['next_step_id', 'next_step', 'nextStepId', 'next'] as const;
const BRANCH: ReadonlySet<string> = new Set([...PORT_NAMES, ...ASKED, ...NEXT, 'description']);

function portOf(branch: JsonObject, index: number, at: string, into: Import): string {
  const name = into.first(into.typed(branch, at, { port: 'string', name: 'string', id: 'string' }), at, PORT_NAMES);
  return typeof name === 'string' && name !== '' && !['default', 'error', 'skipped'].includes(name)
    ? name
    : `branch_${index}`;
}

function edges(
  node: JsonObject,
  config: JsonObject,
  stepType: string,
  slugs: Slugs,
  { at, place }: { readonly at: string; readonly place: string },
  into: Import,
): JsonObject {
  const next: JsonObject = {};
  const lead = (port: string, target: Json | undefined, place: string): void => {
    if (target === undefined || target === null || target === '') return;
    const slug = typeof target === 'string' ? slugs.get(target) : undefined;
    if (slug === undefined)
      into.problem(
        place,
        'unknown_step',
        `The flow has no node ${typeof target === 'string' ? `"${target.slice(0, 80)}"` : 'of that name'}.`,
      );
    else if (Object.hasOwn(next, port) && next[port] !== slug)
      into.problem(place, 'duplicate_key', `The port "${port}" has two next nodes.`, 'Name one of them.');
    else setOwn(next, port, slug);
  };
  if (isObject(node['nextSteps'])) {
    for (const [port, target] of Object.entries(node['nextSteps']))
      lead(port, target, childPointer(childPointer(at, 'nextSteps'), port));
  }
  for (const member of NEXT) {
    lead(PORTS[stepType] ?? 'success', node[member], childPointer(at, member));
    lead(PORTS[stepType] ?? 'success', config[member], childPointer(place, member));
    delete config[member];
  }
  if (stepType !== 'condition') {
    for (const member of ['branches', ...DEFAULTS])
      if (node[member] !== undefined) into.lost(childPointer(at, member), `"${member}" belongs to a condition.`);
    return next;
  }
  const isOuter = node['branches'] !== undefined;
  if (isOuter && config['branches'] !== undefined)
    into.lost(childPointer(at, 'branches'), 'The branches are left out, since the config has some too.');
  const branches = config['branches'] ?? node['branches'];
  if (Array.isArray(branches)) {
    for (const [index, branch] of branches.entries()) {
      if (!isObject(branch)) continue;
      const within = `${config['branches'] === undefined ? at : place}/branches/${index}`;
      lead(portOf(branch, index, within, into), into.first(branch, within, NEXT), within);
    }
    if (next['success'] !== undefined) {
      setOwn(next, 'default', next['success']);
      delete next['success'];
    }
  }
  for (const [holder, within] of [[node, at] as const, [config, place] as const]) {
    for (const member of DEFAULTS) {
      lead('default', holder[member], childPointer(within, member));
    }
  }
  for (const member of DEFAULTS) delete config[member];
  return next;
}
