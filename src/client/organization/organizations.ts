/**
 * Organizations. `default` always exists. An admin of `default` creates every other organization with its first key,
 * and `org.default` lists them. The actor `org.{org}` holds the data of an organization (organization-entries.ts).
 */

import { DEFAULT_ORGANIZATION, type OrganizationRecord } from '../../contract/organization/organization.ts';
import { type Access, type WriteAccess, withCaller } from '../temporal/access.ts';
import { perClient } from '../temporal/per-client.ts';
import { listEntries, putEntry, readEntry } from './organization-entries.ts';

const COLLECTION = 'organizations';

/** All organizations, `default` first. */
export async function listOrganizations(access: Access): Promise<readonly string[]> {
  const created = await listEntries<OrganizationRecord>(access, DEFAULT_ORGANIZATION, COLLECTION);
  return [DEFAULT_ORGANIZATION, ...created.map(([name]) => name)];
}

/** How often the list is asked: another gateway may have created an organization. */
const FRESH_MS = 5_000;
/** The calls of gateways that check who asks. They wait for no caller's. */
export const AUTHENTICATION_CALLER = 'checks';

interface OrganizationCache {
  /** Organizations are never deleted. */
  readonly names: Set<string>;
  reading?: Promise<void>;
  readAt?: number;
}

const organizationCacheOf = perClient((): OrganizationCache => ({ names: new Set([DEFAULT_ORGANIZATION]) }));

/**
 * A time in the future is not fresh. After the clock was set back, it would otherwise stay fresh until the clock caught
 * up.
 */
export function isFresh(readAt: number, freshMs: number): boolean {
  const age = Date.now() - readAt;
  return age >= 0 && age < freshMs;
}

/**
 * Whether the organization exists. Unknown names cost at most one request to Temporal every five seconds, however many
 * callers ask. The gateway that creates an organization knows it; others learn of it within that time.
 * @throws ClientError `temporal_unreachable`.
 */
export async function isOrganization(access: Access, name: string): Promise<boolean> {
  const cache = organizationCacheOf(access);
  if (!cache.names.has(name)) await refreshIfStale(access, cache);
  return cache.names.has(name);
}

/** Whether several organizations are known. Asks for the list again in the background. */
export function hasSeveralOrganizations(access: Access): boolean {
  const cache = organizationCacheOf(access);
  refreshIfStale(access, cache).catch(() => undefined);
  return cache.names.size > 1;
}

/** Reads the list unless it is fresh. After a failed request, the next caller asks again. */
function refreshIfStale(access: Access, cache: OrganizationCache): Promise<void> {
  if (cache.reading !== undefined) return cache.reading;
  if (cache.readAt !== undefined && isFresh(cache.readAt, FRESH_MS)) return Promise.resolve();
  const readAt = Date.now();
  cache.reading = listOrganizations(withCaller(access, AUTHENTICATION_CALLER))
    .then((names) => {
      for (const name of names) cache.names.add(name);
      cache.readAt = readAt;
    })
    .finally(() => {
      delete cache.reading;
    });
  return cache.reading;
}

/** Adds the organization to the list, unless the list has it. */
export async function ensureOrganization(access: WriteAccess, org: string): Promise<void> {
  if (org === DEFAULT_ORGANIZATION) return;
  if ((await readEntry(access, DEFAULT_ORGANIZATION, COLLECTION, org)) === undefined) {
    const record: OrganizationRecord = { createdAt: new Date().toISOString() };
    await putEntry(access, DEFAULT_ORGANIZATION, COLLECTION, org, record);
  }
  organizationCacheOf(access).names.add(org);
}
