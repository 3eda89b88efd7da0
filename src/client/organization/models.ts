/**
 * An organization's models: how its runs reach the providers. A model names the secret with its API key, and does not
 * contain the key.
 */

import type { ModelEntry } from '../../contract/organization/models.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { deleteEntry, listEntries, putEntry } from './organization-entries.ts';

const COLLECTION = 'models';
const MAX_SUGGESTED_NAMES = 10;

export type ModelSettings = Omit<ModelEntry, 'defaultSince' | 'updatedAt'> & { readonly default?: boolean };

interface ModelView extends Omit<ModelEntry, 'defaultSince'> {
  readonly name: string;
  /** Whether steps without a model use this one. */
  readonly default: boolean;
}

/** Stores a model, and replaces one with the same name. @throws ClientError `too_large`, `too_many`. */
export async function putModel(
  access: WriteAccess,
  org: string,
  name: string,
  settings: ModelSettings,
): Promise<{ created: boolean; model: ModelView }> {
  const { default: isDefault, ...entry } = settings;
  const now = new Date().toISOString();
  const before = (await entriesOf(access, org)).find(([known]) => known === name)?.[1].defaultSince;
  // An absent member keeps its value.
  const defaultSince = isDefault === true ? now : isDefault === false ? undefined : before;
  const stored: ModelEntry = { ...entry, updatedAt: now, ...omitUndefined({ defaultSince }) };
  const { created } = await putEntry(access, org, COLLECTION, name, stored);
  return { created, model: await getModel(access, org, name) };
}

/** @throws ClientError `not_found`. */
export async function getModel(access: Access, org: string, name: string): Promise<ModelView> {
  const found = (await listModels(access, org)).find((model) => model.name === name);
  if (found === undefined) throw modelNotFound(name);
  return found;
}

/** All models, by name. */
export async function listModels(access: Access, org: string): Promise<ModelView[]> {
  const entries = await entriesOf(access, org);
  const chosen = defaultOf(entries);
  return entries.map(([name, { defaultSince: _since, ...entry }]) => ({ name, ...entry, default: name === chosen }));
}

/** @throws ClientError `not_found`. */
export function deleteModel(access: WriteAccess, org: string, name: string): Promise<void> {
  return deleteEntry(access, org, COLLECTION, name, () => modelNotFound(name));
}

/**
 * The model of a step: the model with that name, or else the model that its provider calls by that name. Without a
 * name, the default model.
 * @throws ClientError `model_not_found`.
 */
export async function resolveModel(
  access: Access,
  org: string,
  wanted: string | undefined,
): Promise<ModelEntry & { readonly name: string }> {
  const entries = await entriesOf(access, org);
  const name = wanted ?? defaultOf(entries);
  const found = entries.find(([known]) => known === name) ?? entries.find(([, entry]) => entry.model === name);
  if (found !== undefined) return { ...found[1], name: found[0] };
  if (entries.length === 0)
    throw new ClientError('model_not_found', 'The organization has no model. Store one with PUT /api/models/NAME.');
  const names = entries.slice(0, MAX_SUGGESTED_NAMES).map(([known]) => `'${known}'`);
  throw new ClientError(
    'model_not_found',
    wanted === undefined
      ? `The step names no model, and none is the default. Name one of ${names.join(', ')}, or store one of them ` +
          'with default: true.'
      : `There is no model '${wanted}'. Name one of ${names.join(', ')}, or store it with PUT /api/models/NAME.`,
  );
}

type Entries = readonly (readonly [name: string, entry: ModelEntry])[];

const entriesOf = (access: Access, org: string): Promise<Entries> => listEntries<ModelEntry>(access, org, COLLECTION);

/** The model that was most recently made the default. A single model is always the default. */
function defaultOf(entries: Entries): string | undefined {
  const [only, ...others] = entries;
  if (only !== undefined && others.length === 0) return only[0];
  let chosen: (typeof entries)[number] | undefined;
  for (const one of entries) {
    const { defaultSince } = one[1];
    if (defaultSince !== undefined && defaultSince >= (chosen?.[1].defaultSince ?? '')) chosen = one;
  }
  return chosen?.[0];
}

const modelNotFound = (name: string): ClientError => new ClientError('not_found', `There is no model called ${name}.`);
