/**
 * Normalizes a document of the canonical dialect: expands short forms, adds `slug` and `start`, spells the zones of
 * schedules as tzdata does, removes the timestamps of the store. It does not use zod, so that the workflow can call it
 * too.
 */
import { isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { resolveStart } from './canonical.ts';
import { slugify } from './names.ts';
import { withCanonicalTimezone } from './time-zones.ts';
import type { Definition } from './types.ts';

/** Members that the store writes. */
const STORE_MEMBERS: ReadonlySet<string> = new Set(['createdAt', 'updatedAt', '$schema']);

/**
 * The normalized document. Never throws: unknown parts stay as they are, and the schema reports them. With `inline`, a
 * definition needs no name.
 */
export function normalizeDocument(document: JsonObject, options: { readonly inline?: boolean } = {}): JsonObject {
  const normal: JsonObject = {};
  for (const [key, value] of Object.entries(document)) {
    if (!STORE_MEMBERS.has(key)) setOwn(normal, key, value);
  }
  fillNameAndSlug(normal, options.inline === true);
  if (isObject(normal['state'])) normal['state'] = mapValues(normal['state'], expandStateField);
  if (isObject(normal['config'])) normal['config'] = normalConfig(normal['config']);
  if (Array.isArray(normal['triggers'])) normal['triggers'] = normal['triggers'].map(withCanonicalTimezone);
  const start = startOf(normal);
  if (start !== undefined) normal['start'] = start;
  return normal;
}

function fillNameAndSlug(document: JsonObject, inline: boolean): void {
  const { name, slug } = document;
  if (name === undefined && slug === undefined) {
    if (inline) Object.assign(document, { name: 'Inline run', slug: 'inline' });
  } else if (slug === undefined && typeof name === 'string') {
    document['slug'] = slugify(name);
  } else if (name === undefined && typeof slug === 'string') {
    document['name'] = slug;
  }
}

function expandStateField(field: Json): Json {
  return typeof field === 'string' ? { type: field } : field;
}

/** `timeoutMs` is an alias of `timeout` (LANGUAGE.md §1). */
function normalConfig(config: JsonObject): JsonObject {
  if (typeof config['timeoutMs'] !== 'number' || config['timeout'] !== undefined) return config;
  const { timeoutMs, ...rest } = config;
  return { ...rest, timeout: timeoutMs };
}

function startOf(document: JsonObject): string | undefined {
  const { steps, start, flow } = document;
  if (start !== undefined || flow === 'dag' || !isObject(steps)) return undefined;
  if (!Object.values(steps).every(isObject)) return undefined;
  return resolveStart({ steps: steps as unknown as Definition['steps'] });
}

function mapValues(object: JsonObject, change: (value: Json) => Json): JsonObject {
  const changed: JsonObject = {};
  for (const [key, value] of Object.entries(object)) setOwn(changed, key, change(value));
  return changed;
}
