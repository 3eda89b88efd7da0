/**
 * Verifies API keys for the gateway at every request. Reads the keys from Temporal at most every few seconds. While
 * Temporal is unreachable, the last known keys count. The keyring also records when a key was last used, in the
 * background.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_ORGANIZATION, type KeyRecord } from '../../contract/organization/organization.ts';
import { addressesOf } from '../../contract/organization/people.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { RefreshAhead } from '../concurrency/refresh-ahead.ts';
import { type Access, unaudited, withCaller } from '../temporal/access.ts';
import { matchesKey, parseKey, readKeys } from './api-keys.ts';
import { amendEntry } from './organization-entries.ts';
import { AUTHENTICATION_CALLER, isFresh, isOrganization } from './organizations.ts';

/** How long a key that another gateway revoked may still be accepted. */
const FRESH_MS = 1_500;
/** The maximum age of the list for a key that it does not contain: another gateway may just have made the key. */
const FRESH_FOR_UNKNOWN_MS = 250;
/** How long a request waits for a newer list where an older one exists. */
const REFRESH_TIMEOUT_MS = 1_000;
/** The minimum time between two writes of a key's `lastUsedAt`. */
const LAST_USED_WRITE_INTERVAL_MS = 10 * 60 * 1000;
/** The limit of remembered organizations: requests may name organizations that do not exist. */
const MAX_CACHED_ORGANIZATIONS = 1_000;

export interface KeyHolder {
  readonly organizationId: string;
  readonly keyId: string;
  readonly record: KeyRecord;
  /** The e-mail addresses of the key's person, of all of their keys, in lower case. */
  readonly addresses: readonly string[];
}

export interface ApiKeyCache {
  /** Whether `default` has a key. With a key, every request needs one. @throws ClientError `temporal_unreachable`. */
  hasKeys(): Promise<boolean>;
  /**
   * The holder of the key. Undefined for a text that is not a valid key. @throws ClientError `temporal_unreachable`.
   */
  holderOf(text: string): Promise<KeyHolder | undefined>;
  /**
   * The holder of the key of that id, for sessions that began with the key itself. Undefined for a revoked key. Whoever
   * asks must compare the record with the one of the session's beginning, since no MAC is checked here.
   * @throws ClientError `temporal_unreachable`.
   */
  holderById(organizationId: string, keyId: string): Promise<KeyHolder | undefined>;
  /** Call this after keys of the organization were made or revoked. */
  forget(organizationId: string): void;
  /** Resolves when all pending writes are done. */
  drain(): Promise<void>;
}

interface CachedKeys {
  readonly records: ReadonlyMap<string, KeyRecord>;
  readonly readAt: number;
}

const cacheAgeOf = (known: CachedKeys | undefined): number | undefined =>
  known === undefined ? undefined : Date.now() - known.readAt;

/** The addresses of a person, by the keys of their organization. */
const addressesIn = (records: ReadonlyMap<string, KeyRecord>, person: string): readonly string[] => [
  ...new Set([...records.values()].filter(({ user }) => user === person).flatMap(addressesOf)),
];

export function createApiKeyCache(access: Access): ApiKeyCache {
  const cache = new BoundedMap<string, CachedKeys>(MAX_CACHED_ORGANIZATIONS);
  const reading = new Map<string, Promise<CachedKeys['records']>>();
  const usedAt = new Map<string, number>();
  const writing = new Set<Promise<void>>();
  const refresher = new RefreshAhead(FRESH_MS);

  const refresh = (org: string): Promise<CachedKeys['records']> => {
    const pending = reading.get(org);
    if (pending !== undefined) return pending;
    const begun: Promise<CachedKeys['records']> = loadRecords(org);
    reading.set(org, begun);
    const endRead = () => reading.get(org) === begun && reading.delete(org);
    // If the list was discarded in the meantime, it is read once more.
    return begun.then(
      (records) => {
        if (endRead()) cacheRecords(org, records);
        return records;
      },
      (error: unknown) => {
        endRead();
        throw error;
      },
    );
  };
  /** An organization that does not exist has no keys to read. */
  const loadRecords = async (org: string): Promise<CachedKeys['records']> =>
    org === DEFAULT_ORGANIZATION || (await isOrganization(access, org))
      ? readKeys(withCaller(access, AUTHENTICATION_CALLER), org)
      : new Map();
  const cacheRecords = (org: string, records: CachedKeys['records']): void => {
    cache.set(org, { records, readAt: Date.now() });
  };
  const recordsOf = async (org: string, freshMs = FRESH_MS): Promise<CachedKeys['records']> => {
    const last = cache.get(org);
    if (last !== undefined)
      refresher.recordUse(org, { age: () => cacheAgeOf(cache.get(org)), readAgain: () => refresh(org) });
    if (last !== undefined && isFresh(last.readAt, freshMs)) return last.records;
    const next = refresh(org);
    if (last === undefined) return next;
    const staleRecords = () => {
      if (cache.get(org) === last) cacheRecords(org, last.records);
      return last.records;
    };
    return Promise.race([
      next.catch(staleRecords),
      delay(REFRESH_TIMEOUT_MS, undefined, { ref: false }).then(staleRecords),
    ]);
  };

  const recordUse = (org: string, id: string, record: KeyRecord): void => {
    const now = Date.now();
    const lastUsed = Math.max(usedAt.get(id) ?? 0, record.lastUsedAt === null ? 0 : Date.parse(record.lastUsedAt));
    if (now - lastUsed < LAST_USED_WRITE_INTERVAL_MS) return;
    usedAt.set(id, now);
    const written = amendEntry(unaudited(access), org, 'keys', id, { lastUsedAt: new Date(now).toISOString() }).then(
      () => undefined,
      // The key was just revoked, or Temporal is unreachable. The next use is recorded.
      () => void usedAt.delete(id),
    );
    writing.add(written);
    void written.finally(() => writing.delete(written));
  };

  const findHolder = async (organizationId: string, keyId: string): Promise<KeyHolder | undefined> => {
    const find = async (freshMs?: number): Promise<KeyHolder | undefined> => {
      const records = await recordsOf(organizationId, freshMs);
      const record = records.get(keyId);
      return record && { organizationId, keyId, record, addresses: addressesIn(records, record.user) };
    };
    return (await find()) ?? (await find(FRESH_FOR_UNKNOWN_MS));
  };

  return {
    hasKeys: async () => (await recordsOf(DEFAULT_ORGANIZATION)).size > 0,
    holderOf: async (text) => {
      const claim = parseKey(text);
      if (claim === undefined) return undefined;
      const { organizationId, id } = claim;
      const holder = await findHolder(organizationId, id);
      if (holder === undefined || !matchesKey(access, organizationId, id, holder.record, text)) return undefined;
      recordUse(organizationId, id, holder.record);
      return holder;
    },
    holderById: async (organizationId, keyId) => {
      const holder = await findHolder(organizationId, keyId);
      if (holder !== undefined) recordUse(organizationId, keyId, holder.record);
      return holder;
    },
    forget: (organizationId) => {
      cache.delete(organizationId);
      reading.delete(organizationId);
    },
    drain: async () => {
      while (writing.size > 0) await Promise.all(writing);
    },
  };
}
