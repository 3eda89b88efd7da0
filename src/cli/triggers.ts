/** Triggers outside of definitions, as files describe them. */

import type { Json, JsonObject } from '../json/json.ts';
import { getOwn, isObject } from '../json/json.ts';
import { CliError, EXIT } from './exit.ts';
import type { Trigger } from './gateway-answers.ts';
import type { Gateway } from './gateway-client.ts';
import type { WrittenDocument } from './read-document.ts';

/** The triggers in a file: one, or a list. @throws CliError if it is neither */
export function writtenTriggers({ file, document }: WrittenDocument): JsonObject[] {
  const { json } = document;
  const list = Array.isArray(json) ? json : [json];
  const triggers = list.filter(isObject);
  if (triggers.length === list.length && triggers.every(({ name }) => typeof name === 'string')) return triggers;
  throw new CliError(
    EXIT.input,
    `${file} is not a trigger. Expected {workflowId, name, type, config}, or a list of these.`,
  );
}

/** Creates the trigger. If it exists, it becomes as written; only `enabled` stays as it is where the file omits it. */
export async function applyTrigger(
  gateway: Gateway,
  wanted: JsonObject,
): Promise<{ readonly created: boolean; readonly trigger: Trigger }> {
  try {
    return { created: true, trigger: (await gateway.call('POST', '/api/triggers', { json: wanted })).body };
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'trigger_exists') throw error;
  }
  const { workflowId, name, type, enabled, config = {}, variableMapping = null, targetState = null } = wanted;
  const id = `${typeof workflowId === 'string' ? workflowId : 'orchestrator'}.${name}`;
  const params = { id };
  const { body: present } = await gateway.call('GET', '/api/triggers/:id', { params });
  const wantedType = type ?? (isObject(config) ? getOwn(config, 'type') : undefined);
  if (wantedType !== present.type)
    throw new CliError(EXIT.input, `${id} is of type ${present.type}, which cannot be changed. Delete it first.`);
  const json: JsonObject = { variableMapping, targetState, config: mergePatchTo(present.config, config) };
  if (enabled !== undefined) json['enabled'] = enabled;
  return { created: false, trigger: (await gateway.call('PATCH', '/api/triggers/:id', { params, json })).body };
}

/** The JSON merge patch (RFC 7396) that makes `wanted` of `present`. */
function mergePatchTo(present: Json, wanted: Json): Json {
  if (!isObject(present) || !isObject(wanted)) return wanted;
  const removed = Object.keys(present).filter((key) => getOwn(wanted, key) === undefined);
  return {
    ...Object.fromEntries(removed.map((key) => [key, null])),
    ...Object.fromEntries(
      Object.entries(wanted).map(([key, value]) => [key, mergePatchTo(getOwn(present, key) ?? null, value)]),
    ),
  };
}
