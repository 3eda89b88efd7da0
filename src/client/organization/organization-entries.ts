/** The named entries in an organization's actor. Updates write them. Reads use its memo, without a worker. */

import {
  type AmendEntry,
  type DeleteEntry,
  ORGANIZATION_WORKFLOW,
  type OrganizationCollection,
  type OrganizationStart,
  type PutEntry,
} from '../../contract/actors.ts';
import type { JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { type ClientError, rethrowAs } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { type Actor, describe, readMemo, updateActor, updateWithStart } from '../temporal/actor-calls.ts';
import { organizationId as organizationActorId } from '../temporal/ids.ts';

export const organizationActor = (access: Access, org: string): Actor<OrganizationStart> => ({
  workflowId: organizationActorId(org),
  workflowType: ORGANIZATION_WORKFLOW,
  start: { organizationId: org, historyLimit: access.historyLimit },
});

/** Stores an entry, and replaces one with the same name. @throws ClientError `too_large`, `too_many`. */
export function putEntry(
  access: WriteAccess,
  org: string,
  collection: OrganizationCollection,
  name: string,
  value: object,
): Promise<{ created: boolean }> {
  const entry = { collection, name, value: value as JsonObject };
  return updateWithStart<PutEntry, { created: boolean }>(access, organizationActor(access, org), 'put', entry);
}

/**
 * Changes members of an existing entry.
 * @throws ClientError `not_found`, `entry_changed` (the entry differs from what the caller expects).
 */
export async function amendEntry(
  access: WriteAccess,
  org: string,
  collection: OrganizationCollection,
  name: string,
  members: JsonObject,
  expect?: JsonObject,
): Promise<void> {
  await updateActor<AmendEntry, { amended: boolean }>(access, organizationActorId(org), 'amend', {
    collection,
    name,
    members,
    ...omitUndefined({ expect }),
  });
}

/** @throws ClientError the error of `missing` (default: `not_found`) where the entry does not exist. */
export async function deleteEntry(
  access: WriteAccess,
  org: string,
  collection: OrganizationCollection,
  name: string,
  missing: (refusal: ClientError) => ClientError = (refusal) => refusal,
): Promise<void> {
  const request = { collection, name };
  await updateActor<DeleteEntry, { deleted: boolean }>(access, organizationActorId(org), 'delete', request).catch(
    rethrowAs('not_found', missing),
  );
}

/** All entries of a collection, by name. Includes the entries of an actor that was terminated. */
export async function listEntries<T>(
  access: Access,
  org: string,
  collection: OrganizationCollection,
): Promise<(readonly [name: string, entry: T])[]> {
  const description = await describe(access, organizationActorId(org));
  const prefix = `${collection}/`;
  return Object.entries(description?.memo ?? {})
    .filter(([field]) => field.startsWith(prefix))
    .map(([field, entry]) => [field.slice(prefix.length), entry as T] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The present entries of a collection. Empty where the actor is not open. */
export async function openEntries<T>(
  access: Access,
  org: string,
  collection: OrganizationCollection,
): Promise<ReadonlyMap<string, T>> {
  return entriesIn<T>(await describe(access, organizationActorId(org)), collection);
}

/** The present entries of a collection in the description of an organization's actor. */
export function entriesIn<T>(
  description: Awaited<ReturnType<typeof describe>>,
  collection: OrganizationCollection,
): ReadonlyMap<string, T> {
  if (description?.status.name !== 'RUNNING') return new Map();
  const prefix = `${collection}/`;
  const fields = Object.entries(description.memo ?? {}).filter(([field]) => field.startsWith(prefix));
  return new Map(fields.map(([field, entry]) => [field.slice(prefix.length), entry as T]));
}

/** All present entries, by `{collection}/{name}`. */
export async function allEntries(access: Access, org: string): Promise<ReadonlyMap<string, JsonObject>> {
  const description = await describe(access, organizationActorId(org));
  if (description?.status.name !== 'RUNNING') return new Map();
  return new Map(Object.entries(description.memo ?? {}) as [string, JsonObject][]);
}

/** One entry. Undefined where it does not exist, or the actor is not open. */
export function readEntry<T>(
  access: Access,
  org: string,
  collection: OrganizationCollection,
  name: string,
): Promise<T | undefined> {
  return readMemo<T>(access, organizationActorId(org), `${collection}/${name}`);
}
