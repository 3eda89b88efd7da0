/**
 * Organizations. There is `default`, and every other is made by an admin of `default` with its first key; `org.default`
 * lists them. What an organization holds stands in the actor `org.{org}` (organization-entries.ts).
 */
import type { OrganizationRecord } from '../definition/access-contract.ts';
import {
  type AmendEntry,
  ORGANIZATION_WORKFLOW,
  type OrganizationCollection,
  type OrganizationStart,
} from '../definition/actors.ts';
import type { JsonObject } from '../definition/types.ts';
import { DEFAULT_ORGANIZATION } from '../engine/start.ts';
import type { Access } from './access.ts';
import { type Actor, describe, writeTo } from './actor-calls.ts';
import { organizationId as organizationActorId } from './ids.ts';
import { listEntries, putEntry, readEntry } from './organization-entries.ts';

const COLLECTION = 'organizations';

export const organizationActor = (access: Access, org: string): Actor<OrganizationStart> => ({
  workflowId: organizationActorId(org),
  workflowType: ORGANIZATION_WORKFLOW,
  start: { organizationId: org, historyLimit: access.historyLimit },
});

/** All of them, `default` first. */
export async function listOrganizations(access: Access): Promise<readonly string[]> {
  const made = await listEntries<OrganizationRecord>(access, DEFAULT_ORGANIZATION, COLLECTION);
  return [DEFAULT_ORGANIZATION, ...made.map(([name]) => name)];
}

/** Lists the organization where it is not listed yet. */
export async function ensureOrganization(access: Access, org: string): Promise<void> {
  if (org === DEFAULT_ORGANIZATION) return;
  if ((await readEntry(access, DEFAULT_ORGANIZATION, COLLECTION, org)) !== undefined) return;
  const record: OrganizationRecord = { createdAt: new Date().toISOString() };
  await putEntry(access, DEFAULT_ORGANIZATION, COLLECTION, org, record);
}

/** The entries of a collection as they are at this moment; none where the actor is not open. */
export async function openEntries<T>(
  access: Access,
  org: string,
  collection: OrganizationCollection,
): Promise<ReadonlyMap<string, T>> {
  const description = await describe(access, organizationActorId(org));
  if (description?.status.name !== 'RUNNING') return new Map();
  const place = `${collection}/`;
  const fields = Object.entries(description.memo ?? {}).filter(([field]) => field.startsWith(place));
  return new Map(fields.map(([field, entry]) => [field.slice(place.length), entry as T]));
}

/**
 * Changes members of an entry that is there.
 * @throws ClientError `not_found`, `entry_changed` (it no longer says what is expected).
 */
export async function amendEntry(
  access: Access,
  org: string,
  collection: OrganizationCollection,
  name: string,
  members: JsonObject,
  expect?: JsonObject,
): Promise<void> {
  await writeTo<AmendEntry, { amended: boolean }>(access, organizationActorId(org), 'amend', {
    collection,
    name,
    members,
    ...(expect === undefined ? {} : { expect }),
  });
}
