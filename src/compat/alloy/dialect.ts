/**
 * Definitions of alloy (004): `{flow: {id: node}, starting_step_id, payload_format, state_definition, mode,
 * debounce_key, debounce_seconds}`. Its `{{input.*}}` reads the output of the direct predecessor, and becomes a path to
 * that step.
 */

import { stepSlugs } from '../../definition/document/names.ts';
import {
  type ImportContext,
  type ImportResult,
  type MemberTypes,
  memberNames,
} from '../../definition/import/import-context.ts';
import { getOwn, isObject, type Json, type JsonObject, setOwn, typeName } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { predecessorPaths } from './input.ts';
import { alloyNode } from './nodes.ts';

const OUTER = memberNames(`
  id name slug description version tags enabled type flow starting_step_id payload_format state_definition mode
  debounce_seconds debounce_key triggers public_start
`);

const STATE_TYPES: ReadonlySet<string> = new Set(['string', 'number', 'boolean']);
const ORIGINS = [
  ['/input', '/payload_format'],
  ['/state', '/state_definition'],
  ['/start', '/starting_step_id'],
  ['/steps', '/flow'],
  ['/config/mode', '/mode'],
  ['/config/publicStart', '/public_start'],
  ['/config/debounce', '/debounce_key'],
  ['/config/debounce/key', '/debounce_key'],
  ['/config/debounce/seconds', '/debounce_seconds'],
] as const;

/** The types of members whose other types would be lost, or that databases hold as JSON texts. */
const OUTER_TYPES: MemberTypes = {
  id: 'string',
  tags: 'array',
  payload_format: 'object',
  state_definition: 'object',
  triggers: 'array',
};

export function fromAlloy(given: JsonObject, context: ImportContext): ImportResult {
  context.warnUnknownMembers(given, '', OUTER);
  const document = context.withTypes(given, '', OUTER_TYPES);
  const flow = flowOf(document['flow'], context);
  if (flow === undefined || Object.keys(flow).length === 0) {
    context.addProblem(
      '/flow',
      'missing_member',
      `Expected a map of at least one node, got ${typeName(document['flow'])}.`,
    );
    return context.failed();
  }
  for (const [canonical, written] of ORIGINS) context.origins.set(canonical, written);
  const slugs = stepSlugs(Object.keys(flow));
  const written = document['flow'];
  const indexes = new Map(Array.isArray(written) ? written.map((node, index) => [idOf(node), index]) : []);
  for (const [id, node] of Object.entries(flow)) {
    const at = childPointer('/flow', indexes.get(id) ?? id);
    const slug = slugs.get(id) ?? id;
    if (!isObject(node)) context.addProblem(at, 'wrong_type', `Expected a node, got ${typeName(node)}.`);
    else
      context.addStep(slug, { ...(slug === id ? {} : { name: id }), ...alloyNode(node, slug, at, slugs, context) }, at);
  }
  // Every node can have one, and one warning says it.
  const drawn = Object.keys(flow).find((id) => getOwn(flow[id], 'position') !== undefined);
  if (drawn !== undefined)
    context.warnDropped(
      `${childPointer('/flow', indexes.get(drawn) ?? drawn)}/position`,
      'Positions of nodes are left out: the console arranges the steps.',
    );
  const start = document['starting_step_id'];
  const canonical = convertOuter(document, context);
  if (typeof start !== 'string')
    context.addProblem('/starting_step_id', 'missing_member', 'A workflow needs a starting_step_id.');
  else if (!slugs.has(start))
    context.addProblem('/starting_step_id', 'unknown_step', `The flow has no node "${start.slice(0, 80)}".`);
  else canonical['start'] = slugs.get(start) ?? start;
  predecessorPaths(context, canonical);
  return context.finish(canonical);
}

/** A map of nodes by id, or a list of nodes with ids. */
function flowOf(flow: Json | undefined, context: ImportContext): JsonObject | undefined {
  if (isObject(flow)) return flow;
  if (!Array.isArray(flow)) return undefined;
  const nodes: JsonObject = {};
  for (const [index, node] of flow.entries()) {
    const at = childPointer('/flow', index);
    const id = idOf(node);
    if (!isObject(node)) context.addProblem(at, 'wrong_type', `Expected a node, got ${typeName(node)}.`);
    else if (id === undefined)
      context.addProblem(childPointer(at, 'id'), 'missing_member', 'A node of a list needs an id, which is a text.');
    else if (Object.hasOwn(nodes, id))
      context.addProblem(childPointer(at, 'id'), 'duplicate_step', `Two nodes have the id "${id.slice(0, 80)}".`);
    else setOwn(nodes, id, node);
  }
  return nodes;
}

function idOf(node: Json): string | undefined {
  return isObject(node) && typeof node['id'] === 'string' ? node['id'] : undefined;
}

function convertOuter(document: JsonObject, context: ImportContext): JsonObject {
  const canonical: JsonObject = { dialect: '004' };
  for (const [member, written] of Object.entries({
    name: 'name',
    slug: 'slug',
    description: 'description',
    version: 'version',
    tags: 'tags',
    enabled: 'enabled',
    type: 'type',
    triggers: 'triggers',
    input: 'payload_format',
    state: 'state_definition',
  })) {
    const value = document[written];
    if (value === undefined || value === null) continue;
    canonical[member] =
      member === 'state'
        ? withSearchableFields(value)
        : member === 'triggers'
          ? context.readTriggers(value, '/triggers')
          : value;
  }
  context.nameById(document['id'], canonical);
  // Every workflow of that system has a public trigger, unless it has `public_start: false`.
  const { public_start: publicStart } = document;
  const config: JsonObject = { publicStart: isPresent(publicStart) ? publicStart : true };
  if (document['mode'] !== undefined && document['mode'] !== null) config['mode'] = document['mode'];
  const { debounce_seconds: seconds, debounce_key: key } = document;
  // That system debounces only with both. Without seconds, `mode: restart` still uses the key.
  if (isPresent(key)) config['debounce'] = { seconds: isPresent(seconds) ? seconds : 0, key };
  else if (typeof seconds === 'number')
    context.warnDropped(
      '/debounce_seconds',
      'Without a debounce_key nothing is debounced: each payload starts its run.',
      'Name what payloads have in common: debounce_key.',
    );
  else if (isPresent(seconds))
    context.addProblem(
      '/debounce_seconds',
      'wrong_type',
      `"debounce_seconds" must be number, got ${typeName(seconds)}.`,
    );
  return { ...canonical, config };
}

/** Every field is searchable, since lists of that system filter by every field. */
function withSearchableFields(state: Json): Json {
  if (!isObject(state)) return state;
  return Object.fromEntries(
    Object.entries(state).map(([name, field]) => {
      if (typeof field === 'string' && STATE_TYPES.has(field)) return [name, { type: field, searchable: true }];
      return [name, isObject(field) ? { searchable: true, ...field } : field];
    }),
  );
}

/** The value, unless it is null or an empty text, which count as missing. */
function isPresent(value: Json | undefined): value is Json {
  return value !== undefined && value !== null && value !== '';
}
