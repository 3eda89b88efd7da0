/**
 * The secrets of a definition's triggers. They are not part of its content (LANGUAGE.md §11: the hash leaves them out)
 * and are stored beside it: rotating a secret makes no version, and an old version restores no old secret.
 */
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import type { Definition, TriggerDefinition } from './types.ts';

/** Members of a trigger's config that are secrets or references to secrets. */
const TRIGGER_SECRETS: ReadonlySet<string> = new Set(['secret', 'secrets']);

/**
 * `secret` and `secrets` of each trigger's config, by the name of the trigger. Triggers without secrets are left out.
 */
export type TriggerSecrets = { readonly [trigger: string]: JsonObject };

/** The secrets of a definition's triggers. */
export function triggerSecretsOf({ triggers = [] }: Pick<Definition, 'triggers'>): TriggerSecrets {
  return Object.fromEntries(
    triggers.flatMap(({ name, config = {} }) => {
      const secrets = Object.entries(config).filter(([key]) => TRIGGER_SECRETS.has(key));
      return secrets.length === 0 ? [] : [[name, Object.fromEntries(secrets)]];
    }),
  );
}

/** The definition with these secrets only. */
export function withTriggerSecrets(definition: Definition, secrets: TriggerSecrets): Definition {
  const { triggers } = definition;
  if (triggers === undefined) return definition;
  return { ...definition, triggers: triggers.map((trigger) => withSecrets(trigger, secrets[trigger.name])) };
}

/** The definition with the current secrets of its triggers. New triggers keep their own. */
export function withCurrentTriggerSecrets(definition: Definition, current: TriggerSecrets = {}): Definition {
  return withTriggerSecrets(definition, { ...triggerSecretsOf(definition), ...current });
}

/** The part of a trigger's config that is hashed. */
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
