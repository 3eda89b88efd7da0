/**
 * Removes clear secrets from a definition (LANGUAGE.md §3, "Secrets"): a definition that is stored, hashed, shown or
 * walked has references only. The names of secrets come from the workflow's slug and the pointer, so that storing a
 * definition again replaces its secrets.
 */
import { isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { pointer } from '../../json/pointer.ts';
import { SHORTEST_SECRET_CHARACTERS } from './limits.ts';
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
  readonly at: readonly (string | number)[];
  readonly by: Json;
}

/** The result of removing secrets from a document. */
interface ExtractedSecrets {
  readonly document: JsonObject;
  readonly secrets: readonly ClearSecret[];
  /** What replaces each secret, by its place in the given document. */
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
  const taking = new Taking();
  const taken: JsonObject = { ...document };
  const { triggers, config } = document;
  if (Array.isArray(triggers))
    taken['triggers'] = triggers.map((trigger, index) => fromTrigger(trigger, index, base, taking));
  if (isObject(config) && isObject(config['secrets'])) {
    taken['config'] = { ...config, secrets: fromConfig(config['secrets'], base, taking) };
  }
  const { secrets, replacements, problems } = taking;
  return { document: taken, secrets, replacements, problems };
}

class Taking {
  readonly secrets: ClearSecret[] = [];
  readonly replacements: Replacement[] = [];
  readonly problems: Problem[] = [];

  /** `at`: its pointer in the document. */
  take(name: string, value: string, at: readonly (string | number)[]): void {
    this.secrets.push({ name, value });
    if (value.length < SHORTEST_SECRET_CHARACTERS)
      this.problems.push({
        pointer: pointer(at),
        code: 'secret_too_short',
        message: `A secret needs at least ${SHORTEST_SECRET_CHARACTERS} characters. Use a longer one.`,
      });
  }
}

function fromTrigger(trigger: Json, index: number, base: string, taking: Taking): Json {
  if (!isObject(trigger) || !isObject(trigger['config'])) return trigger;
  const name = typeof trigger['name'] === 'string' ? slugify(trigger['name']) : String(index);
  const place = `${base}/triggers/${name}`;
  const at = ['triggers', index, 'config'];
  const config: JsonObject = { ...trigger['config'] };
  const { secret, secrets: several } = config;
  if (secret !== undefined) config['secret'] = reference(secret, `${place}/secret`, [...at, 'secret'], taking);
  if (Array.isArray(several)) {
    config['secrets'] = several.map((one, n) => reference(one, `${place}/secrets/${n}`, [...at, 'secrets', n], taking));
  }
  return { ...trigger, config };
}

function reference(written: Json, name: string, at: readonly (string | number)[], taking: Taking): Json {
  if (typeof written !== 'string') return written;
  taking.take(name, written, at);
  const by = { [SECRET_REF]: name };
  taking.replacements.push({ at, by });
  return by;
}

function fromConfig(written: JsonObject, base: string, taking: Taking): JsonObject {
  const names: JsonObject = {};
  for (const [key, value] of Object.entries(written)) {
    const clear = isObject(value) ? value['value'] : undefined;
    if (typeof clear !== 'string') {
      setOwn(names, key, value);
      continue;
    }
    const name = `${base}/secrets/${key}`;
    taking.take(name, clear, ['config', 'secrets', key, 'value']);
    taking.replacements.push({ at: ['config', 'secrets', key], by: name });
    setOwn(names, key, name);
  }
  return names;
}
