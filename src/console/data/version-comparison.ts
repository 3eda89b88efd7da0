/** Loads two versions of a workflow to compare them. */
import { canonicalText } from '../../json/canonical-text.ts';
import { isObject, type JsonObject } from '../../json/json.ts';
import { apiPath, get } from './api.ts';
import type { WorkflowText } from './types.ts';

export interface TextComparison {
  readonly before: string;
  readonly after: string;
  /** The texts are the canonical forms: only one has a text of its author, or one is YAML and the other JSON. */
  readonly isCanonical: boolean;
}

/** A version and one of its texts: the same version may have been written twice. */
export interface VersionRef {
  readonly hash: string;
  readonly text?: string | undefined;
}

/** @throws ApiProblem. */
export async function loadTextComparison(
  slug: string,
  versions: readonly [before: VersionRef, after: VersionRef],
  signal: AbortSignal,
): Promise<TextComparison> {
  const read = ({ hash, text }: VersionRef) =>
    get<WorkflowText>(apiPath`/api/workflows/${slug}/text`, { query: { hash, text }, signal });
  const [before, after] = await Promise.all([read(versions[0]), read(versions[1])]);
  if (before.media === after.media && (before.textHash === undefined) === (after.textHash === undefined))
    return { before: before.text, after: after.text, isCanonical: false };
  const [first, second] = await loadDefinitions(slug, [versions[0].hash, versions[1].hash], signal);
  return { before: canonicalJson(first), after: canonicalJson(second), isCanonical: true };
}

function canonicalJson(stored: JsonObject): string {
  // These are no part of a version.
  const { enabled: _enabled, version: _version, createdAt: _created, updatedAt: _updated, ...definition } = stored;
  return JSON.stringify(JSON.parse(canonicalText(definition)), null, 2);
}

/** The definitions of two versions, by their hashes. @throws ApiProblem. */
export function loadDefinitions(
  slug: string,
  [before, after]: readonly [before: string, after: string],
  signal: AbortSignal,
): Promise<[before: JsonObject, after: JsonObject]> {
  const read = async (hash: string): Promise<JsonObject> =>
    (await get<{ readonly definition: JsonObject }>(apiPath`/api/workflows/${slug}/history/${hash}`, { signal }))
      .definition;
  return Promise.all([read(before), read(after)]);
}

/** The triggers that only one of two definitions has, as `name (type)`. */
export function changedTriggers(
  before: JsonObject,
  after: JsonObject,
): { readonly removed: readonly string[]; readonly added: readonly string[] } {
  const [old, now] = [triggersOf(before), triggersOf(after)];
  return { removed: old.filter((one) => !now.includes(one)), added: now.filter((one) => !old.includes(one)) };
}

function triggersOf({ triggers }: JsonObject): string[] {
  if (!Array.isArray(triggers)) return [];
  return triggers.filter(isObject).map(({ name, type }) => `${String(name)} (${String(type)})`);
}
