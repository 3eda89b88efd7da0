/**
 * Stored versions of definitions, and proposed definitions, which are stored apart from them. Neither ever changes, so
 * they can be cached for ever. A stored version is not yet one that runs may name: its workflow's history decides
 * (version-history.ts).
 */

import type { VersionStart } from '../../contract/actors.ts';
import type { Definition } from '../../definition/document/types.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { onCode } from '../errors.ts';
import { readArgument } from '../history/start-and-close-events.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { proposedId, versionId } from '../temporal/ids.ts';
import { perClient } from '../temporal/per-client.ts';
import { startVersion } from './start-version.ts';

const MAX_CACHED_DEFINITIONS = 200;
const cacheOf = perClient(() => new BoundedMap<string, Definition>(MAX_CACHED_DEFINITIONS));

/** Stores a definition under its hash. Identical content is stored once. */
export const storeVersion = (access: WriteAccess, org: string, hash: string, definition: Definition): Promise<void> =>
  store(access, versionId(org, definition.slug, hash), org, hash, definition);

/** Stores a proposed definition. It becomes a version when the proposal is applied. */
export const storeProposed = (access: WriteAccess, org: string, hash: string, definition: Definition): Promise<void> =>
  store(access, proposedId(org, definition.slug, hash), org, hash, definition);

/** The definition with that hash. Undefined where it was never stored. Callers must not change it. */
export const readVersion = (access: Access, org: string, slug: string, hash: string): Promise<Definition | undefined> =>
  readStored(access, versionId(org, slug, hash));

/** The proposed definition with that hash. Before 0.4 they were stored as versions. */
export const readProposed = async (
  access: Access,
  org: string,
  slug: string,
  hash: string,
): Promise<Definition | undefined> =>
  (await readStored(access, proposedId(org, slug, hash))) ?? readVersion(access, org, slug, hash);

async function store(
  access: WriteAccess,
  workflowId: string,
  org: string,
  hash: string,
  definition: Definition,
): Promise<void> {
  if (cacheOf(access).has(workflowId)) return;
  const start: VersionStart = { organizationId: org, slug: definition.slug, hash, definition };
  await startVersion(access, workflowId, start);
}

async function readStored(access: Access, workflowId: string): Promise<Definition | undefined> {
  const cache = cacheOf(access);
  const known = cache.get(workflowId);
  if (known) {
    cache.set(workflowId, known);
    return known;
  }
  const start = await readArgument<VersionStart>(access, workflowId).catch(onCode('not_found', () => undefined));
  const definition = start?.definition;
  if (definition !== undefined) cache.set(workflowId, definition);
  return definition;
}
