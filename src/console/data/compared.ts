/** The texts of two versions of a workflow, to be compared. */
import { canonicalText } from '../../json/canonical-text.ts';
import { isObject, type JsonObject } from '../../json/json.ts';
import { at, get } from './api.ts';
import type { WorkflowText } from './types.ts';

export interface Compared {
  readonly before: string;
  readonly after: string;
  /** Only one has a text of its author, or they are in two languages: these are the canonical forms. */
  readonly isCanonical: boolean;
}

/** A version, and which of its texts: the same version may have been written twice. */
export interface Version {
  readonly hash: string;
  readonly text?: string | undefined;
}

/** @throws ApiProblem. */
export async function comparedTexts(
  slug: string,
  versions: readonly [before: Version, after: Version],
  signal: AbortSignal,
): Promise<Compared> {
  const read = ({ hash, text }: Version) =>
    get<WorkflowText>(at`/api/workflows/${slug}/text`, { query: { hash, text }, signal });
  const [before, after] = await Promise.all([read(versions[0]), read(versions[1])]);
  if (before.media === after.media && (before.textHash === undefined) === (after.textHash === undefined))
    return { before: before.text, after: after.text, isCanonical: false };
  const [first, second] = await definitionsOf(slug, [versions[0].hash, versions[1].hash], signal);
  return { before: canonicalOf(first), after: canonicalOf(second), isCanonical: true };
}

function canonicalOf(stored: JsonObject): string {
  // These are no part of a version.
  const { enabled: _enabled, version: _version, createdAt: _created, updatedAt: _updated, ...definition } = stored;
  return JSON.stringify(JSON.parse(canonicalText(definition)), null, 2);
}

/** The definitions of two versions, by their hashes. @throws ApiProblem. */
export function definitionsOf(
  slug: string,
  [before, after]: readonly [before: string, after: string],
  signal: AbortSignal,
): Promise<[before: JsonObject, after: JsonObject]> {
  const read = async (hash: string): Promise<JsonObject> =>
    (await get<{ readonly definition: JsonObject }>(at`/api/workflows/${slug}/history/${hash}`, { signal })).definition;
  return Promise.all([read(before), read(after)]);
}

/** The triggers that only one of two definitions has, as `name (type)`. */
export function triggersChanged(
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
