/**
 * Removes clear secrets from a definition (LANGUAGE.md §3, "Secrets"): a definition that is stored, hashed, shown or
 * walked has references only. The names of secrets come from the workflow's slug and the pointer, so that storing a
 * definition again replaces its secrets.
 */
import { isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { pointer } from '../../json/pointer.ts';
import { MIN_SECRET_CHARACTERS } from './limits.ts';
import { slugify } from './names.ts';
import type { Problem } from './types.ts';

/** A secret that is to be stored encrypted under `name` in the organization. */
export interface ClearSecret {
  readonly name: string;
  readonly value: string;
}

/** A reference: `{secretRef: 'workflows/refund-approval/triggers/hook/secret'}`. */
const SECRET_REF = 'secretRef';

export interface Replacement {
  readonly path: readonly (string | number)[];
  readonly value: Json;
}

/** The result of removing secrets from a document. */
interface ExtractedSecrets {
  readonly document: JsonObject;
  readonly secrets: readonly ClearSecret[];
  /** What replaces each secret, by its path in the given document. */
  readonly replacements: readonly Replacement[];
  /** `secret_too_short`, with pointers into the given document. */
  readonly problems: readonly Problem[];
}

/**
 * The document without clear secrets, and the secrets. They are the texts of `triggers[].config.secret` and `secrets`,
 * which become `{secretRef}`, and the members `{value}` of `config.secrets`, which become stored names. The document
 * need not match the schema. Never throws.
 */
export function extractSecrets(document: JsonObject): ExtractedSecrets {
  const base = `workflows/${typeof document['slug'] === 'string' ? document['slug'] : 'inline'}`;
  const collector = new SecretCollector();
  const cleaned: JsonObject = { ...document };
  const { triggers, config } = document;
  if (Array.isArray(triggers))
    cleaned['triggers'] = triggers.map((trigger, index) => extractFromTrigger(trigger, index, base, collector));
  if (isObject(config) && isObject(config['secrets'])) {
    cleaned['config'] = { ...config, secrets: extractFromConfig(config['secrets'], base, collector) };
  }
  const { secrets, replacements, problems } = collector;
  return { document: cleaned, secrets, replacements, problems };
}

class SecretCollector {
  readonly secrets: ClearSecret[] = [];
  readonly replacements: Replacement[] = [];
  readonly problems: Problem[] = [];

  /** `path`: where the secret is in the document. */
  add(name: string, value: string, path: readonly (string | number)[]): void {
    this.secrets.push({ name, value });
    if (value.length < MIN_SECRET_CHARACTERS)
      this.problems.push({
        pointer: pointer(path),
        code: 'secret_too_short',
        message: `A secret needs at least ${MIN_SECRET_CHARACTERS} characters. Use a longer one.`,
      });
  }
}

function extractFromTrigger(trigger: Json, index: number, base: string, collector: SecretCollector): Json {
  if (!isObject(trigger) || !isObject(trigger['config'])) return trigger;
  const name = typeof trigger['name'] === 'string' ? slugify(trigger['name']) : String(index);
  const place = `${base}/triggers/${name}`;
  const at = ['triggers', index, 'config'];
  const config: JsonObject = { ...trigger['config'] };
  const { secret, secrets: several } = config;
  if (secret !== undefined)
    config['secret'] = replaceByReference(secret, `${place}/secret`, [...at, 'secret'], collector);
  if (Array.isArray(several)) {
    config['secrets'] = several.map((one, n) =>
      replaceByReference(one, `${place}/secrets/${n}`, [...at, 'secrets', n], collector),
    );
  }
  return { ...trigger, config };
}

function replaceByReference(
  written: Json,
  name: string,
  path: readonly (string | number)[],
  collector: SecretCollector,
): Json {
  if (typeof written !== 'string') return written;
  collector.add(name, written, path);
  const value = { [SECRET_REF]: name };
  collector.replacements.push({ path, value });
  return value;
}

function extractFromConfig(written: JsonObject, base: string, collector: SecretCollector): JsonObject {
  const names: JsonObject = {};
  for (const [key, value] of Object.entries(written)) {
    const clear = isObject(value) ? value['value'] : undefined;
    if (typeof clear !== 'string') {
      setOwn(names, key, value);
      continue;
    }
    const name = `${base}/secrets/${key}`;
    collector.add(name, clear, ['config', 'secrets', key, 'value']);
    collector.replacements.push({ path: ['config', 'secrets', key], value: name });
    setOwn(names, key, name);
  }
  return names;
}
