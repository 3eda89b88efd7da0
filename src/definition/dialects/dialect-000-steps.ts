/** Converts a step of document 000: kinds, ports and modifiers get their canonical names. */

import { defined } from '../../json/defined.ts';
import { isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { isRoot } from '../document/roots.ts';
import type { Import } from './import.ts';
import { changeExpressions } from './import-expressions.ts';
import { importRetry, retryPlaces } from './import-retry.ts';
import { unwrapTemplates } from './unwrap-templates.ts';

const STEP: ReadonlySet<string> = new Set([
  'stepSlug',
  'name',
  'description',
  'stepType',
  'order',
  'config',
  'nextSteps',
  'maxRetries',
  'backoffMs',
  'retryPolicy',
  'continueOnError',
  'timeout',
  'outputVariable',
  'saveToState',
  'when',
]);
const RETRY: ReadonlySet<string> = new Set(['maxRetries', 'backoffMs', 'retryPolicy']);
const PORTS: { readonly [written: string]: string } = { failure: 'error' };
/** By kind, the members of the config that keep their names. Other members are reported. */
const LLM: ReadonlySet<string> = new Set([
  'model',
  'systemPrompt',
  'userPrompt',
  'messages',
  'outputFormat',
  'outputSchema',
  'temperature',
  'maxTokens',
  'tools',
  'mcpServerIds',
  'maxSteps',
  'description',
  'name',
]);

interface Converted {
  readonly step: JsonObject;
  readonly trigger?: JsonObject;
}

export function step000(written: JsonObject, slug: string, at: string, into: Import): Converted {
  into.lostMembers(written, at, STEP);
  const config: JsonObject = isObject(written['config']) ? { ...written['config'] } : {};
  into.moved(slug, at, movedIn(written, config));
  const step: JsonObject = { stepType: typeof written['stepType'] === 'string' ? written['stepType'] : '' };
  for (const member of ['name', 'description', 'order', 'timeout', 'outputVariable', 'saveToState', 'when'] as const) {
    const value = written[member];
    if (value !== undefined && value !== null) step[member] = value;
  }
  modifiers(written, config, step, at, into);
  const next = ports(written['nextSteps']);
  if (Object.keys(next).length > 0) step['nextSteps'] = next;
  const { trigger, ...converted } = kind(String(step['stepType']), config, childPointer(at, 'config'), into, step);
  step['stepType'] = converted.stepType;
  if (Object.keys(converted.config).length > 0) step['config'] = converted.config;
  changeExpressions(step, (expression, within) => unbraced(expression, at + within, into));
  return trigger === undefined ? { step } : { step, trigger };
}

/** The original places of members that have other names in the canonical form. */
function* movedIn(written: JsonObject, config: JsonObject): Iterable<readonly [string, string]> {
  for (const [from, source] of [['', written] as const, ['/config', config] as const]) {
    const { retryPolicy } = source;
    if (isObject(retryPolicy)) {
      yield ['/retry', `${from}/retryPolicy`];
      yield* retryPlaces(retryPolicy, '/retry', `${from}/retryPolicy`);
    }
    yield* retryPlaces(source, '/retry', from);
  }
  if (config['type'] === 'set_variables') yield ['/config/values', '/config/parameters/variables'];
  if (config['approvers'] === undefined) yield ['/config/approvers/users/0', '/config/approverMemberId'];
  for (const [canonical, said] of SPELT)
    if (config[canonical] === undefined && config[said] !== undefined)
      yield [`/config/${canonical}`, `/config/${said}`];
  if (!Array.isArray(config['branches'])) return;
  for (const [index, branch] of config['branches'].entries())
    if (isObject(branch) && branch['expression'] === undefined)
      yield [`/config/branches/${index}/expression`, `/config/branches/${index}/condition`];
}

const SPELT = [
  ['output', 'mapping'],
  ['inputs', 'inputSchema'],
  ['message', 'title'],
] as const;

function modifiers(written: JsonObject, config: JsonObject, step: JsonObject, at: string, into: Import): void {
  const retry: JsonObject = {};
  for (const [source, place] of [[written, at] as const, [config, childPointer(at, 'config')] as const]) {
    const { maxRetries, backoffMs, retryPolicy } = source;
    if (isObject(retryPolicy)) Object.assign(retry, importRetry(retryPolicy, childPointer(place, 'retryPolicy'), into));
    const flat: JsonObject = {};
    if (maxRetries !== undefined) flat['maxRetries'] = maxRetries;
    if (backoffMs !== undefined) flat['backoffMs'] = backoffMs;
    Object.assign(retry, importRetry(flat, place, into));
  }
  for (const member of RETRY) delete config[member];
  if (Object.keys(retry).length > 0) step['retry'] = retry;
  const isLoop = step['stepType'] === 'loop';
  if (written['continueOnError'] === true || (config['continueOnError'] === true && !isLoop))
    step['onError'] = 'continue';
  if (!isLoop) delete config['continueOnError'];
}

function ports(next: Json | undefined): JsonObject {
  const result: JsonObject = {};
  if (!isObject(next)) return result;
  for (const [port, target] of Object.entries(next)) {
    if (target === null || target === '') continue;
    setOwn(result, PORTS[port] ?? port, target);
  }
  return result;
}

interface Kind {
  readonly stepType: string;
  readonly config: JsonObject;
  readonly trigger?: JsonObject;
}

function kind(stepType: string, config: JsonObject, at: string, into: Import, step: JsonObject): Kind {
  switch (stepType) {
    case 'start':
    case 'trigger':
      return triggerStep(config, at, into);
    case 'output':
      return outputStep(config, at, into);
    case 'condition':
      return { stepType, config: condition(config) };
    case 'llm':
      return llm(config, at, into);
    case 'action':
      return config['type'] === 'set_variables' ? setVariables(config, at, into) : { stepType, config };
    case 'approval':
      return approval(config, at, into, step);
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
function triggerStep(config: JsonObject, at: string, into: Import): Kind {
  const {
    type,
    inputs,
    inputSchema,
    schedule,
    cron,
    timezone,
    path,
    method,
    secret,
    eventName,
    eventType,
    description,
    ...rest
  } = config;
  into.lostMembers(rest, at, new Set());
  const kept: JsonObject = {};
  if (type !== undefined) kept['type'] = type;
  if (description !== undefined) kept['description'] = description;
  const format = inputs ?? objectSchema(inputSchema);
  if (format !== undefined && format !== null) kept['inputs'] = format;
  const pattern = cron ?? schedule;
  const event = eventName ?? eventType;
  const given = (members: { readonly [name: string]: Json | undefined }): JsonObject =>
    Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined));
  let trigger: JsonObject | undefined;
  if (typeof pattern === 'string') trigger = { type: 'schedule', config: given({ cron: pattern, timezone }) };
  else if (type === 'webhook' && path !== undefined)
    trigger = { type: 'webhook', config: given({ path, method, secret }) };
  else if (typeof event === 'string') trigger = { type: 'event', config: { name: event } };
  return { stepType: 'trigger', config: kept, ...defined({ trigger }) };
}

function outputStep(config: JsonObject, at: string, into: Import): Kind {
  const { mapping, output, description, ...rest } = config;
  into.lostMembers(rest, at, new Set());
  const value = output ?? mapping;
  return {
    stepType: 'finish',
    config: defined({ output: value, description }),
  };
}

function condition(config: JsonObject): JsonObject {
  if (!Array.isArray(config['branches'])) return config;
  const branches = config['branches'].map((branch) => {
    if (!isObject(branch)) return branch;
    const { name, condition: asked, ...kept } = branch;
    if (name !== undefined && kept['port'] === undefined) kept['port'] = name;
    if (typeof asked === 'string') kept['expression'] ??= asked;
    return kept;
  });
  return { ...config, branches };
}

function unbraced(expression: string, at: string, into: Import): string {
  const plain = unwrapTemplates(expression);
  if (plain !== expression)
    into.warn(
      at,
      'template_in_expression',
      `The templates in this expression are read as paths: ${plain.slice(0, 200)}`,
    );
  return plain;
}

/** A model with tools becomes an agent, each of whose calls is a step. */
function llm(config: JsonObject, at: string, into: Import): Kind {
  if (config['llmNode'] !== undefined) {
    into.problem(
      childPointer(at, 'llmNode'),
      'unknown_member',
      '"llmNode" is not a member of the config of an llm step: without it the step has no prompt.',
      'Move its members (systemPrompt, userPrompt, …) up into config.',
    );
    return { stepType: 'llm', config: {} };
  }
  into.lostMembers(config, at, LLM);
  const { name, ...rest } = config;
  const kept = Object.fromEntries(Object.entries(rest).filter(([key]) => LLM.has(key)));
  if (name !== undefined)
    into.lost(childPointer(at, 'name'), 'The name of the model step is left out, since the step has its own name.');
  const tools = kept['tools'];
  const hasTools =
    (Array.isArray(tools) && tools.length > 0) ||
    (Array.isArray(kept['mcpServerIds']) && kept['mcpServerIds'].length > 0);
  if (hasTools) return { stepType: 'agent', config: kept };
  if (kept['maxSteps'] !== undefined)
    into.lost(childPointer(at, 'maxSteps'), 'A model without tools takes one step; maxSteps is left out.');
  const { tools: _tools, mcpServerIds: _servers, maxSteps: _steps, ...plain } = kept;
  return { stepType: 'llm', config: plain };
}

/** `set_variables` evaluates its entries in order, like the list form of `set`. */
function setVariables(config: JsonObject, at: string, into: Import): Kind {
  const parameters = isObject(config['parameters']) ? config['parameters'] : {};
  const variables = parameters['variables'];
  const values: Json[] = [];
  const place = `${at}/parameters/variables`;
  const entries: readonly (readonly [Json, string])[] = Array.isArray(variables)
    ? variables.map((entry, index) => [entry, childPointer(place, index)] as const)
    : isObject(variables)
      ? Object.entries(variables).map(([name, value]) => [{ name, value }, childPointer(place, name)] as const)
      : [];
  for (const [entry, entryAt] of entries) {
    if (!isObject(entry) || typeof entry['name'] !== 'string') {
      into.problem(entryAt, 'invalid_config', 'Expected an entry such as {name: "page", value: 1}.');
      continue;
    }
    if (isRoot(entry['name'])) {
      into.lost(
        entryAt,
        `The variable "${entry['name']}" has the name of a root, which only the engine writes; it is left out.`,
      );
      continue;
    }
    if (entry['secure'] === true) {
      into.lost(
        childPointer(entryAt, 'secure'),
        `"${entry['name']}" is a secret that would be stored in clear in the run.`,
        'Store it as a secret of the organization and write {{ secrets.NAME }} instead.',
      );
    }
    values.push({ name: entry['name'], value: entry['value'] ?? null });
  }
  if (entries.length === 0) into.problem(place, 'invalid_config', 'Expected a list of variables.');
  return {
    stepType: 'set',
    config: { values, ...defined({ description: config['description'] }) },
  };
}

/** Approvals of 000 name one member and have no timeout. */
function approval(config: JsonObject, at: string, into: Import, step: JsonObject): Kind {
  const { approverMemberId, title, ...rest } = config;
  const kept: JsonObject = { ...rest };
  if (approverMemberId !== undefined && kept['approvers'] === undefined)
    kept['approvers'] = { users: [approverMemberId] };
  if (kept['message'] === undefined) {
    const message = title ?? (typeof kept['description'] === 'string' ? kept['description'] : step['name']);
    if (message !== undefined) kept['message'] = message;
  } else if (title !== undefined)
    into.lost(childPointer(at, 'title'), 'The title is left out; the approval shows the message.');
  return { stepType: 'approval', config: kept };
}
