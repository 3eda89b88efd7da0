/** Stored versions of definitions. A version never changes, so it can be cached for ever. */

import type { Client } from '@temporalio/client';
import type { VersionStart } from '../../contract/actors.ts';
import type { Definition } from '../../definition/document/types.ts';
import { hasCode } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { readArgument } from '../temporal/first-event.ts';
import { versionId } from '../temporal/ids.ts';
import { startVersion } from './start-version.ts';

const KEPT = 200;
const kept = new WeakMap<Client, Map<string, Definition>>();

/** Stores a definition under its hash. Identical content is stored once. */
export async function storeVersion(
  access: WriteAccess,
  org: string,
  hash: string,
  definition: Definition,
): Promise<void> {
  const workflowId = versionId(org, definition.slug, hash);
  const cache = cacheOf(access);
  if (cache.has(workflowId)) return;
  const start: VersionStart = { organizationId: org, slug: definition.slug, hash, definition };
  await startVersion(access, workflowId, start);
}

/** The definition with that hash. Undefined where the workflow never had it. Callers must not change it. */
export async function readVersion(
  access: Access,
  org: string,
  slug: string,
  hash: string,
): Promise<Definition | undefined> {
  const workflowId = versionId(org, slug, hash);
  const cache = cacheOf(access);
  const known = cache.get(workflowId);
  if (known) {
    cache.delete(workflowId);
    cache.set(workflowId, known);
    return known;
  }
  let definition: Definition | undefined;
  try {
    definition = (await readArgument<VersionStart>(access, workflowId))?.definition;
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error;
  }
  if (definition !== undefined) {
    cache.set(workflowId, definition);
    const oldest = cache.keys().next();
    if (cache.size > KEPT && !oldest.done) cache.delete(oldest.value);
  }
  return definition;
}

function cacheOf(access: Access): Map<string, Definition> {
  const cache = kept.get(access.client) ?? new Map<string, Definition>();
  kept.set(access.client, cache);
  return cache;
}
