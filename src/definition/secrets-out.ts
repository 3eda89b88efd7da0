/**
 * Takes clear secrets out of a definition (language.md §3, "Secrets"): what is stored, hashed, shown and walked holds
 * references only. The names are made from the workflow's slug and the place, so that saving a definition again
 * replaces its secrets and never piles them up.
 */
import type { Json } from '../template/types.ts';
import { isObject, put } from './json.ts';
import { slugify } from './names.ts';
import type { Definition, JsonObject } from './types.ts';

/** A secret to be kept encrypted under `name` in the organization's store. */
export interface ClearSecret {
  readonly name: string;
  readonly value: string;
}

/** The member of a reference: `{secretRef: 'workflows/refund-approval/triggers/hook/secret'}`. */
export const SECRET_REF = 'secretRef';

/**
 * The definition without clear secrets, and those secrets. Taken out are `triggers[].config.secret` and `secrets` (texts
 * become `{secretRef}`), and in `config.secrets` the members `{value}` (they become the stored name).
 */
export function takeSecrets(definition: Definition): { definition: Definition; secrets: ClearSecret[] } {
  const taken = takeSecretsFrom(definition as unknown as JsonObject);
  return { definition: taken.document as unknown as Definition, secrets: taken.secrets };
}

/** As takeSecrets, for a document that no schema has looked at yet. Never throws. */
export function takeSecretsFrom(document: JsonObject): { document: JsonObject; secrets: ClearSecret[] } {
  const secrets: ClearSecret[] = [];
  const base = `workflows/${typeof document['slug'] === 'string' ? document['slug'] : 'inline'}`;
  const taken: JsonObject = { ...document };
  const { triggers, config } = document;
  if (Array.isArray(triggers))
    taken['triggers'] = triggers.map((trigger, index) => fromTrigger(trigger, index, base, secrets));
  if (isObject(config) && isObject(config['secrets'])) {
    taken['config'] = { ...config, secrets: fromConfig(config['secrets'], base, secrets) };
  }
  return { document: taken, secrets };
}

function fromTrigger(trigger: Json, index: number, base: string, secrets: ClearSecret[]): Json {
  if (!isObject(trigger) || !isObject(trigger['config'])) return trigger;
  const name = typeof trigger['name'] === 'string' ? slugify(trigger['name']) : String(index);
  const place = `${base}/triggers/${name}`;
  const config: JsonObject = { ...trigger['config'] };
  const { secret, secrets: several } = config;
  if (secret !== undefined) config['secret'] = reference(secret, `${place}/secret`, secrets);
  if (Array.isArray(several)) {
    config['secrets'] = several.map((one, at) => reference(one, `${place}/secrets/${at}`, secrets));
  }
  return { ...trigger, config };
}

function reference(written: Json, name: string, secrets: ClearSecret[]): Json {
  if (typeof written !== 'string') return written;
  secrets.push({ name, value: written });
  return { [SECRET_REF]: name };
}

function fromConfig(written: JsonObject, base: string, secrets: ClearSecret[]): JsonObject {
  const names: JsonObject = {};
  for (const [key, value] of Object.entries(written)) {
    const clear = isObject(value) ? value['value'] : undefined;
    if (typeof clear !== 'string') {
      put(names, key, value);
      continue;
    }
    const name = `${base}/secrets/${key}`;
    secrets.push({ name, value: clear });
    put(names, key, name);
  }
  return names;
}
