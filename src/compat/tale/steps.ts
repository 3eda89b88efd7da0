/** Converts a step of tale: kinds, ports and modifiers get their canonical names. */

import { isRoot } from '../../definition/document/roots.ts';
import { changeExpressions } from '../../definition/import/expressions.ts';
import { type ImportContext, type MemberTypes, memberNames } from '../../definition/import/import-context.ts';
import { importRetry, retryOrigins } from '../../definition/import/retry.ts';
import { unwrapTemplates } from '../../definition/import/unwrap-templates.ts';
import { sameJson } from '../../json/equality.ts';
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { childPointer } from '../../json/pointer.ts';

const STEP = memberNames(`
  stepSlug name description stepType order config nextSteps maxRetries backoffMs retryPolicy continueOnError timeout
  outputVariable saveToState when
`);
const RETRY_MEMBERS: ReadonlySet<string> = new Set(['maxRetries', 'backoffMs', 'retryPolicy']);
const PORTS: { readonly [written: string]: string } = { failure: 'error' };
/** By kind, the members of the config that keep their names. Other members are reported. */
const LLM_MEMBERS = memberNames(`
  model systemPrompt userPrompt messages outputFormat outputSchema temperature maxTokens tools mcpServerIds maxSteps
  description name
`);

interface Converted {
  readonly step: JsonObject;
  readonly trigger?: JsonObject;
}

/** The types of members whose other types would be lost, or that databases hold as JSON texts. */
const STEP_TYPES: MemberTypes = {
  config: 'object',
  nextSteps: 'object',
  retryPolicy: 'object',
  continueOnError: 'boolean',
};
const CONFIG_TYPES: MemberTypes = { retryPolicy: 'object', continueOnError: 'boolean', branches: 'array' };
const LOOP_TYPES: MemberTypes = { ...CONFIG_TYPES, itemVariable: 'string' };
const TRIGGER_TYPES: MemberTypes = {
  ...CONFIG_TYPES,
  cron: 'string',
  schedule: 'string',
  eventName: 'string',
  eventType: 'string',
};

export function taleStep(given: JsonObject, slug: string, at: string, context: ImportContext): Converted {
  context.warnUnknownMembers(given, at, STEP);
  const written = context.withTypes(given, at, STEP_TYPES);
  const writtenType = written['stepType'];
  const types =
    writtenType === 'loop'
      ? LOOP_TYPES
      : writtenType === 'trigger' || writtenType === 'start'
        ? TRIGGER_TYPES
        : CONFIG_TYPES;
  const config = isObject(written['config'])
    ? context.withTypes(written['config'], childPointer(at, 'config'), types)
    : {};
  context.mapOrigins(slug, at, memberOrigins(written, config));
  const step: JsonObject = { stepType: typeof written['stepType'] === 'string' ? written['stepType'] : '' };
  for (const member of ['name', 'description', 'order', 'timeout', 'outputVariable', 'saveToState', 'when'] as const) {
    const value = written[member];
    if (value !== undefined && value !== null) step[member] = value;
  }
  convertModifiers(written, config, step, at, context);
  const next = convertPorts(written['nextSteps'], childPointer(at, 'nextSteps'), context);
  if (Object.keys(next).length > 0) step['nextSteps'] = next;
  const { trigger, ...converted } = convertKind(
    String(step['stepType']),
    config,
    childPointer(at, 'config'),
    context,
    step,
  );
  step['stepType'] = converted.stepType;
  if (Object.keys(converted.config).length > 0) step['config'] = converted.config;
  changeExpressions(step, (expression, within) => unwrapWithWarning(expression, at + within, context));
  return trigger === undefined ? { step } : { step, trigger };
}

/** The origins of members that have other names in the canonical form. */
function* memberOrigins(written: JsonObject, config: JsonObject): Iterable<readonly [string, string]> {
  for (const [from, source] of [['', written] as const, ['/config', config] as const]) {
    const { retryPolicy } = source;
    if (isObject(retryPolicy)) {
      yield ['/retry', `${from}/retryPolicy`];
      yield* retryOrigins(retryPolicy, '/retry', `${from}/retryPolicy`);
    }
    yield* retryOrigins(source, '/retry', from);
  }
  if (config['type'] === 'set_variables') yield ['/config/values', '/config/parameters/variables'];
  if (config['approvers'] === undefined) yield ['/config/approvers/users/0', '/config/approverMemberId'];
  for (const [canonical, spelling] of ALTERNATIVE_SPELLINGS)
    if (config[canonical] === undefined && config[spelling] !== undefined)
      yield [`/config/${canonical}`, `/config/${spelling}`];
  if (!Array.isArray(config['branches'])) return;
  for (const [index, branch] of config['branches'].entries())
    if (isObject(branch) && branch['expression'] === undefined)
      yield [`/config/branches/${index}/expression`, `/config/branches/${index}/condition`];
}

const ALTERNATIVE_SPELLINGS = [
  ['output', 'mapping'],
  ['inputs', 'inputSchema'],
  ['message', 'title'],
] as const;

function convertModifiers(
  written: JsonObject,
  config: JsonObject,
  step: JsonObject,
  at: string,
  context: ImportContext,
): void {
  const retry: JsonObject = {};
  const places = new Map<string, string>();
  const add = (policy: JsonObject, place: string): void => {
    for (const [member, value] of Object.entries(policy)) {
      const before = places.get(member);
      if (before !== undefined && !sameJson(retry[member], value))
        context.warnDropped(before, `The ${member} of this policy is left out: ${place} has it too.`);
      places.set(member, place);
      retry[member] = value;
    }
  };
  for (const [source, place] of [[written, at] as const, [config, childPointer(at, 'config')] as const]) {
    const { maxRetries, backoffMs, retryPolicy } = source;
    const policyAt = childPointer(place, 'retryPolicy');
    if (isObject(retryPolicy)) add(importRetry(retryPolicy, policyAt, context), policyAt);
    for (const [member, value] of Object.entries(omitUndefined({ maxRetries, backoffMs })))
      add(importRetry({ [member]: value }, place, context), childPointer(place, member));
  }
  for (const member of RETRY_MEMBERS) delete config[member];
  if (Object.keys(retry).length > 0) step['retry'] = retry;
  const isLoop = step['stepType'] === 'loop';
  if (written['continueOnError'] === true || (config['continueOnError'] === true && !isLoop))
    step['onError'] = 'continue';
  if (!isLoop) delete config['continueOnError'];
}

function convertPorts(next: Json | undefined, at: string, context: ImportContext): JsonObject {
  const result: JsonObject = {};
  if (!isObject(next)) return result;
  for (const [port, target] of Object.entries(next)) {
    if (target === null || target === '') continue;
    const canonical = getOwn(PORTS, port) ?? port;
    if (typeof canonical !== 'string') continue;
    if (canonical !== port && (next[canonical] ?? '') !== '')
      context.warnDropped(childPointer(at, port), `"${port}" is another spelling of "${canonical}", and is left out.`);
    else setOwn(result, canonical, target);
  }
  return result;
}

interface Kind {
  readonly stepType: string;
  readonly config: JsonObject;
  readonly trigger?: JsonObject;
}

function convertKind(stepType: string, config: JsonObject, at: string, context: ImportContext, step: JsonObject): Kind {
  switch (stepType) {
    case 'start':
    case 'trigger':
      return triggerStep(config, at, context);
    case 'output':
      return outputStep(config, at, context);
    case 'condition':
      return { stepType, config: condition(config, at, context) };
    case 'llm':
      return llm(config, at, context);
    case 'action':
      if (config['type'] === 'set_variables') return setVariables(config, at, context);
      if (typeof config['parameters'] !== 'string') return { stepType, config };
      return {
        stepType,
        config: { ...config, parameters: context.readJsonText(config['parameters'], childPointer(at, 'parameters')) },
      };
    case 'approval':
      return approval(config, at, context, step);
    default:
      return { stepType, config };
  }
}

/** An `inputSchema` is a JSON Schema even without `type`. */
function objectSchema(schema: Json | undefined): Json | undefined {
  if (!isObject(schema) || schema['type'] !== undefined || !isObject(schema['properties'])) return schema;
  return { type: 'object', ...schema };
}

/** The config of a trigger step becomes a trigger of the definition, unless its type is `manual`. */
function triggerStep(config: JsonObject, at: string, context: ImportContext): Kind {
  const {
    type,
    inputs: _inputs,
    inputSchema,
    schedule: _schedule,
    cron: _cron,
    timezone,
    path,
    method,
    secret,
    eventName: _eventName,
    eventType: _eventType,
    description,
    ...rest
  } = config;
  context.warnUnknownMembers(rest, at, new Set());
  const kept: JsonObject = omitUndefined({ type, description });
  const format = context.firstSpelling(
    { ...config, ...omitUndefined({ inputSchema: objectSchema(inputSchema) }) },
    at,
    ['inputs', 'inputSchema'],
  );
  if (format !== undefined) kept['inputs'] = format;
  const pattern = context.firstSpelling(config, at, ['cron', 'schedule']);
  const event = context.firstSpelling(config, at, ['eventName', 'eventType']);
  let trigger: JsonObject | undefined;
  if (pattern !== undefined) trigger = { type: 'schedule', config: omitUndefined({ cron: pattern, timezone }) };
  else if (type === 'webhook' && path !== undefined)
    trigger = { type: 'webhook', config: omitUndefined({ path, method, secret }) };
  else if (event !== undefined) trigger = { type: 'event', config: { name: event } };
  for (const [member, of] of Object.entries(TRIGGER_TYPE_BY_MEMBER))
    if (config[member] !== undefined && config[member] !== null && trigger?.['type'] !== of)
      context.warnDropped(childPointer(at, member), `"${member}" is left out: only a trigger of type ${of} has it.`);
  return { stepType: 'trigger', config: kept, ...omitUndefined({ trigger }) };
}

/** The members of a trigger step → the type of trigger that has them. */
const TRIGGER_TYPE_BY_MEMBER: { readonly [member: string]: string } = {
  timezone: 'schedule',
  path: 'webhook',
  method: 'webhook',
  secret: 'webhook',
  eventName: 'event',
  eventType: 'event',
};

function outputStep(config: JsonObject, at: string, context: ImportContext): Kind {
  const { mapping: _mapping, output: _output, description, ...rest } = config;
  context.warnUnknownMembers(rest, at, new Set());
  const value = context.firstSpelling(config, at, ['output', 'mapping']);
  return {
    stepType: 'finish',
    config: omitUndefined({ output: value, description }),
  };
}

function condition(config: JsonObject, at: string, context: ImportContext): JsonObject {
  if (!Array.isArray(config['branches'])) return config;
  const branches = config['branches'].map((branch, index) => {
    if (!isObject(branch)) return branch;
    const place = childPointer(childPointer(at, 'branches'), index);
    const { name: _name, condition: _asked, port: _port, expression: _expression, ...kept } = branch;
    const port = context.firstSpelling(branch, place, ['port', 'name']);
    const expression = context.firstSpelling(branch, place, ['expression', 'condition']);
    return { ...kept, ...omitUndefined({ port, expression }) };
  });
  return { ...config, branches };
}

function unwrapWithWarning(expression: string, at: string, context: ImportContext): string {
  const plain = unwrapTemplates(expression);
  if (plain !== expression)
    context.addWarning(
      at,
      'template_in_expression',
      `The templates in this expression are read as paths: ${plain.slice(0, 200)}`,
    );
  return plain;
}

/** A model with tools becomes an agent, each of whose calls is a step. */
function llm(given: JsonObject, at: string, context: ImportContext): Kind {
  const config = context.withTypes(given, at, { tools: 'array', mcpServerIds: 'array' });
  if (config['llmNode'] !== undefined) {
    context.addProblem(
      childPointer(at, 'llmNode'),
      'unknown_member',
      '"llmNode" is not a member of the config of an llm step: without it the step has no prompt.',
      'Move its members (systemPrompt, userPrompt, …) up into config.',
    );
    return { stepType: 'llm', config: {} };
  }
  context.warnUnknownMembers(config, at, LLM_MEMBERS);
  const { name, ...rest } = config;
  const kept = Object.fromEntries(Object.entries(rest).filter(([key]) => LLM_MEMBERS.has(key)));
  if (name !== undefined)
    context.warnDropped(
      childPointer(at, 'name'),
      'The name of the model step is left out, since the step has its own name.',
    );
  const tools = kept['tools'];
  const hasTools =
    (Array.isArray(tools) && tools.length > 0) ||
    (Array.isArray(kept['mcpServerIds']) && kept['mcpServerIds'].length > 0);
  if (hasTools) return { stepType: 'agent', config: kept };
  if (kept['maxSteps'] !== undefined)
    context.warnDropped(childPointer(at, 'maxSteps'), 'A model without tools takes one step; maxSteps is left out.');
  const { tools: _tools, mcpServerIds: _servers, maxSteps: _steps, ...plain } = kept;
  return { stepType: 'llm', config: plain };
}

const ENTRY_MEMBERS: ReadonlySet<string> = new Set(['name', 'value', 'secure']);

/** `set_variables` evaluates its entries in order, like the list form of `set`. */
function setVariables(config: JsonObject, at: string, context: ImportContext): Kind {
  const place = `${at}/parameters/variables`;
  context.warnUnknownMembers(config, at, new Set(['type', 'parameters', 'description']));
  const { parameters } = context.withTypes(config, at, { parameters: 'object' });
  const held = isObject(parameters) ? parameters : {};
  context.warnUnknownMembers(held, childPointer(at, 'parameters'), new Set(['variables']));
  const { variables } = context.withTypes(held, childPointer(at, 'parameters'), { variables: ['array', 'object'] });
  const values: Json[] = [];
  const entries: readonly (readonly [Json, string])[] = Array.isArray(variables)
    ? variables.map((entry, index) => [entry, childPointer(place, index)] as const)
    : isObject(variables)
      ? Object.entries(variables).map(([name, value]) => [{ name, value }, childPointer(place, name)] as const)
      : [];
  if (held['variables'] === undefined || held['variables'] === null)
    context.addProblem(place, 'invalid_config', 'Expected a list of variables.');
  for (const [entry, entryAt] of entries) {
    if (!isObject(entry) || typeof entry['name'] !== 'string') {
      context.addProblem(entryAt, 'invalid_config', 'Expected an entry such as {name: "page", value: 1}.');
      continue;
    }
    context.warnUnknownMembers(entry, entryAt, ENTRY_MEMBERS);
    if (isRoot(entry['name'])) {
      context.warnDropped(
        entryAt,
        `The variable "${entry['name']}" has the name of a root, which only the engine writes; it is left out.`,
      );
      continue;
    }
    if (entry['secure'] !== undefined && entry['secure'] !== null && entry['secure'] !== false) {
      context.warnDropped(
        childPointer(entryAt, 'secure'),
        `"${entry['name']}" is a secret that would be stored in clear in the run.`,
        'Store it as a secret of the organization and write {{ secrets.NAME }} instead.',
      );
    }
    values.push({ name: entry['name'], value: entry['value'] ?? null });
  }
  return {
    stepType: 'set',
    config: { values, ...omitUndefined({ description: config['description'] }) },
  };
}

/** Approvals of tale name one member and have no timeout. */
function approval(config: JsonObject, at: string, context: ImportContext, step: JsonObject): Kind {
  const { approverMemberId, title, ...rest } = config;
  const kept: JsonObject = { ...rest };
  if (approverMemberId !== undefined && approverMemberId !== null) {
    if (kept['approvers'] === undefined) kept['approvers'] = { users: [approverMemberId] };
    else
      context.warnDropped(childPointer(at, 'approverMemberId'), 'The approver is left out: approvers are named too.');
  }
  if (kept['message'] === undefined) {
    const message = title ?? (typeof kept['description'] === 'string' ? kept['description'] : step['name']);
    if (message !== undefined) kept['message'] = message;
  } else if (title !== undefined)
    context.warnDropped(childPointer(at, 'title'), 'The title is left out; the approval shows the message.');
  return { stepType: 'approval', config: kept };
}
