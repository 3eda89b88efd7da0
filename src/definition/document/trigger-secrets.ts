/**
 * Which secrets the triggers of a definition name. They are no part of its content (LANGUAGE.md §11: the hash leaves them
 * out), so they stand beside it: rotating one makes no version, and no version brings an old one back.
 */
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import type { Definition, TriggerDefinition } from './types.ts';

/** Members of a trigger's config that are secrets, in clear or as references. */
const TRIGGER_SECRETS: ReadonlySet<string> = new Set(['secret', 'secrets']);

/** By the trigger's name: `secret` and `secrets` of its config, of those that have any. */
export type TriggerSecrets = { readonly [trigger: string]: JsonObject };

/** The secrets that the triggers of a definition name. */
export function triggerSecretsOf({ triggers = [] }: Pick<Definition, 'triggers'>): TriggerSecrets {
  return Object.fromEntries(
    triggers.flatMap(({ name, config = {} }) => {
      const secrets = Object.entries(config).filter(([key]) => TRIGGER_SECRETS.has(key));
      return secrets.length === 0 ? [] : [[name, Object.fromEntries(secrets)]];
    }),
  );
}

/** The definition with these secrets and no others. */
export function withTriggerSecrets(definition: Definition, secrets: TriggerSecrets): Definition {
  const { triggers } = definition;
  if (triggers === undefined) return definition;
  return { ...definition, triggers: triggers.map((trigger) => withSecrets(trigger, secrets[trigger.name])) };
}

/** The definition with the secrets that its triggers have by now; those that are new keep their own. */
export function withCurrentTriggerSecrets(definition: Definition, current: TriggerSecrets = {}): Definition {
  return withTriggerSecrets(definition, { ...triggerSecretsOf(definition), ...current });
}

/** What of a trigger counts for the hash. */
export function withoutTriggerSecrets(trigger: Json): Json {
  if (!isObject(trigger) || !isObject(trigger['config'])) return trigger;
  return { ...trigger, config: withoutSecrets(trigger['config']) };
}

function withSecrets(trigger: TriggerDefinition, secrets: JsonObject | undefined): TriggerDefinition {
  if (trigger.config === undefined && secrets === undefined) return trigger;
  return { ...trigger, config: { ...withoutSecrets(trigger.config ?? {}), ...secrets } };
}

const withoutSecrets = (config: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(config).filter(([key]) => !TRIGGER_SECRETS.has(key)));
