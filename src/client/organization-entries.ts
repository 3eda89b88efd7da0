/** The named entries that an organization's actor holds: written by updates, read from its memo without a worker. */
import {
  type DeleteEntry,
  ORGANIZATION_WORKFLOW,
  type OrganizationCollection,
  type OrganizationStart,
  type PutEntry,
} from '../definition/actors.ts';
import type { JsonObject } from '../definition/types.ts';
import type { Access } from './access.ts';
import { describe, readMemo, writeOrStart, writeTo } from './actor-calls.ts';
import { organizationId as organizationActorId } from './ids.ts';

/** Stores an entry in place of one of that name. @throws ClientError `too_large`, `too_many`. */
export function putEntry(
  access: Access,
  org: string,
  collection: OrganizationCollection,
  name: string,
  value: object,
): Promise<{ created: boolean }> {
  const actor = {
    workflowId: organizationActorId(org),
    workflowType: ORGANIZATION_WORKFLOW,
    start: { organizationId: org, historyLimit: access.historyLimit },
  };
  return writeOrStart<OrganizationStart, PutEntry, { created: boolean }>(access, actor, 'put', {
    collection,
    name,
    value: value as JsonObject,
  });
}

/** @throws ClientError `not_found`. */
export async function deleteEntry(
  access: Access,
  org: string,
  collection: OrganizationCollection,
  name: string,
): Promise<void> {
  await writeTo<DeleteEntry, { deleted: boolean }>(access, organizationActorId(org), 'delete', { collection, name });
}

/** All entries of a collection, by name. */
export async function listEntries<T>(
  access: Access,
  org: string,
  collection: OrganizationCollection,
): Promise<(readonly [name: string, entry: T])[]> {
  const description = await describe(access, organizationActorId(org));
  const place = `${collection}/`;
  return Object.entries(description?.memo ?? {})
    .filter(([field]) => field.startsWith(place))
    .map(([field, entry]) => [field.slice(place.length), entry as T] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

export function readEntry<T>(
  access: Access,
  org: string,
  collection: OrganizationCollection,
  name: string,
): Promise<T | undefined> {
  return readMemo<T>(access, organizationActorId(org), `${collection}/${name}`);
}
