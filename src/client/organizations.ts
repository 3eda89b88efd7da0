/**
 * Organizations. There is `default`, and every other is made by an admin of `default` with its first key; `org.default`
 * lists them. What an organization holds stands in the actor `org.{org}` (organization-entries.ts).
 */
import type { OrganizationRecord } from '../definition/access-contract.ts';
import { DEFAULT_ORGANIZATION } from '../engine/start.ts';
import type { Access } from './access.ts';
import { listEntries, putEntry, readEntry } from './organization-entries.ts';

const COLLECTION = 'organizations';

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
