/**
 * Organizations. `default` always exists. An admin of `default` creates every other organization with its first key,
 * and `org.default` lists them. The actor `org.{org}` holds the data of an organization (organization-entries.ts).
 */

import type { Client } from '@temporalio/client';
import type { OrganizationRecord } from '../../contract/organization.ts';
import { DEFAULT_ORGANIZATION } from '../../engine/state/start.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { listEntries, putEntry, readEntry } from './organization-entries.ts';

const COLLECTION = 'organizations';

/** All organizations, `default` first. */
export async function listOrganizations(access: Access): Promise<readonly string[]> {
  const made = await listEntries<OrganizationRecord>(access, DEFAULT_ORGANIZATION, COLLECTION);
  return [DEFAULT_ORGANIZATION, ...made.map(([name]) => name)];
}

/** How long a list is fresh: another gateway may just have created an organization. */
const FRESH_MS = 250;
const known = new WeakMap<Client, { names: Promise<ReadonlySet<string>>; readAt: number }>();

/**
 * A time in the future is not fresh. After the clock was set back, it would otherwise stay fresh until the clock caught
 * up.
 */
export function isFresh(readAt: number, freshMs: number): boolean {
  const age = Date.now() - readAt;
  return age >= 0 && age < freshMs;
}

/**
 * Whether the organization exists. Unknown names cost at most one request to Temporal every quarter of a second,
 * however many callers ask.
 */
export async function isOrganization(access: Access, name: string): Promise<boolean> {
  if (name === DEFAULT_ORGANIZATION) return true;
  const last = known.get(access.client);
  if (last !== undefined && (await last.names).has(name)) return true;
  if (last !== undefined && isFresh(last.readAt, FRESH_MS)) return false;
  // After a failed request, the next caller asks again.
  const names = listOrganizations(access).then((list) => new Set(list));
  const entry = { names, readAt: Date.now() };
  known.set(access.client, entry);
  names.catch(() => known.get(access.client) === entry && known.delete(access.client));
  return (await names).has(name);
}

/** Adds the organization to the list, unless the list has it. */
export async function ensureOrganization(access: WriteAccess, org: string): Promise<void> {
  if (org === DEFAULT_ORGANIZATION) return;
  if ((await readEntry(access, DEFAULT_ORGANIZATION, COLLECTION, org)) !== undefined) return;
  const record: OrganizationRecord = { createdAt: new Date().toISOString() };
  await putEntry(access, DEFAULT_ORGANIZATION, COLLECTION, org, record);
}
