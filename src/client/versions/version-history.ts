/**
 * Which versions runs may name: those that their workflow's history has (workflows/actors/definition.ts). A definition
 * that is stored and was never current, such as a proposal, is none of them.
 */

import { versionDigest } from '../../contract/definitions/version-digest.ts';
import type { Definition } from '../../definition/document/types.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { ClientError } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { versionId } from '../temporal/ids.ts';
import { perClient } from '../temporal/per-client.ts';
import { recentHead } from './definition-head.ts';
import { type DefinitionHistory, olderVersions, readDefinitionHistory } from './definition-history.ts';
import { readProposed, readVersion } from './versions.ts';

const MAX_CACHED_VERSIONS = 10_000;
/** Ids of versions that were found in the history, where they stay. The oldest first. */
const cacheOf = perClient(() => new BoundedMap<string, true>(MAX_CACHED_VERSIONS));

/** Whether the version is current or was current, also of a workflow that is deleted by now. */
export async function isVersionOf(access: Access, org: string, slug: string, hash: string): Promise<boolean> {
  if (isCached(access, org, slug, hash)) return true;
  if ((await recentHead(access, org, slug))?.hash === hash) {
    cacheVersion(access, org, slug, hash);
    return true;
  }
  const history = await readDefinitionHistory(access, org, slug);
  return history !== undefined && holdsVersion(access, org, slug, history, hash);
}

/** As isVersionOf, by a history that was read. */
export async function holdsVersion(
  access: Access,
  org: string,
  slug: string,
  history: DefinitionHistory,
  hash: string,
): Promise<boolean> {
  if (isCached(access, org, slug, hash)) return true;
  const digest = versionDigest(hash);
  const isHeld =
    history.versions.has(digest) ||
    (history.lacksOlder && (await olderVersions(access, org, slug, history)).has(digest));
  if (isHeld) cacheVersion(access, org, slug, hash);
  return isHeld;
}

/**
 * Checks that what a run walks may run again: an inline run's own definition, or a version of its workflow.
 * @throws ClientError `version_not_found`.
 */
export async function demandRunnableAgain(
  access: Access,
  org: string,
  run: { readonly definition: Pick<Definition, 'slug'>; readonly hash?: string; readonly inline?: boolean },
): Promise<void> {
  const { slug } = run.definition;
  if (run.inline === true || run.hash === undefined || (await isVersionOf(access, org, slug, run.hash))) return;
  throw new ClientError(
    'version_not_found',
    `The run walks ${run.hash}, which the history of workflow ${slug} does not have. Start a version of it instead.`,
  );
}

/**
 * Reads definitions by their hashes, to be shown and not to be run: versions of the workflow, and what its proposals
 * propose. The function throws ClientError `version_not_found`.
 */
export async function versionReader(
  access: Access,
  org: string,
  slug: string,
): Promise<(hash: string) => Promise<Definition>> {
  const history = await readDefinitionHistory(access, org, slug);
  const find = async (hash: string): Promise<Definition | undefined> => {
    if (history === undefined) return undefined;
    if (await holdsVersion(access, org, slug, history, hash)) return readVersion(access, org, slug, hash);
    const isProposed = history.proposals.some((one) => one.hash === hash);
    return isProposed ? readProposed(access, org, slug, hash) : undefined;
  };
  return async (hash) => {
    const found = await find(hash);
    if (found !== undefined) return found;
    throw new ClientError(
      'version_not_found',
      `Workflow ${slug} has no version ${hash}. Its history and its proposals name those that it has.`,
    );
  };
}

const isCached = (access: Access, org: string, slug: string, hash: string): boolean =>
  cacheOf(access).has(versionId(org, slug, hash));

function cacheVersion(access: Access, org: string, slug: string, hash: string): void {
  cacheOf(access).set(versionId(org, slug, hash), true);
}
