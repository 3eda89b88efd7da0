/**
 * Verifies API keys for the gateway at every request. Reads the keys from Temporal at most every few seconds. While
 * Temporal is unreachable, the last known keys count. The keyring also records when a key was last used, in the
 * background.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { KeyRecord } from '../../contract/organization.ts';
import { addressesOf } from '../../contract/people.ts';
import { DEFAULT_ORGANIZATION } from '../../engine/state/start.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { type Access, callingFor, unaudited } from '../temporal/access.ts';
import { SteadyUse } from '../temporal/steady-use.ts';
import { claimOf, isKey, readKeys } from './api-keys.ts';
import { amendEntry } from './organization-entries.ts';
import { CHECKS, isFresh, isOrganization } from './organizations.ts';

/** How long a key that another gateway revoked may still be accepted. */
const FRESH_MS = 1_500;
/** The maximum age of the list for a key that it does not contain: another gateway may just have made the key. */
const FRESH_FOR_UNKNOWN_MS = 250;
/** How long a request waits for a newer list where an older one exists. */
const PATIENCE_MS = 1_000;
/** The minimum time between two writes of a key's `lastUsedAt`. */
const USED_EVERY_MS = 10 * 60 * 1000;
/** The limit of remembered organizations: requests may name organizations that do not exist. */
const MOST_ORGANIZATIONS = 1_000;

export interface KeyHolder {
  readonly organizationId: string;
  readonly keyId: string;
  readonly record: KeyRecord;
  /** The e-mail addresses of the key's person, of all of their keys, in lower case. */
  readonly addresses: readonly string[];
}

export interface Keyring {
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
  settled(): Promise<void>;
}

interface Known {
  readonly records: ReadonlyMap<string, KeyRecord>;
  readonly readAt: number;
}

const ageOf = (known: Known | undefined): number | undefined =>
  known === undefined ? undefined : Date.now() - known.readAt;

/** The addresses of a person, by the keys of their organization. */
const addressesIn = (records: ReadonlyMap<string, KeyRecord>, person: string): readonly string[] => [
  ...new Set([...records.values()].filter(({ user }) => user === person).flatMap(addressesOf)),
];

export function keyringOver(access: Access): Keyring {
  const known = new BoundedMap<string, Known>(MOST_ORGANIZATIONS);
  const reading = new Map<string, Promise<Known['records']>>();
  const usedAt = new Map<string, number>();
  const writing = new Set<Promise<void>>();
  const steady = new SteadyUse(FRESH_MS);

  const refresh = (org: string): Promise<Known['records']> => {
    const underWay = reading.get(org);
    if (underWay !== undefined) return underWay;
    const begun: Promise<Known['records']> = readOf(org);
    reading.set(org, begun);
    const isWanted = () => reading.get(org) === begun && reading.delete(org);
    // If the list was discarded in the meantime, it is read once more.
    return begun.then(
      (records) => {
        if (isWanted()) keep(org, records);
        return records;
      },
      (error: unknown) => {
        isWanted();
        throw error;
      },
    );
  };
  /** An organization that does not exist has no keys to read. */
  const readOf = async (org: string): Promise<Known['records']> =>
    org === DEFAULT_ORGANIZATION || (await isOrganization(access, org))
      ? readKeys(callingFor(access, CHECKS), org)
      : new Map();
  const keep = (org: string, records: Known['records']): void => {
    known.set(org, { records, readAt: Date.now() });
  };
  const recordsOf = async (org: string, freshMs = FRESH_MS): Promise<Known['records']> => {
    const last = known.get(org);
    if (last !== undefined) steady.note(org, { age: () => ageOf(known.get(org)), readAgain: () => refresh(org) });
    if (last !== undefined && isFresh(last.readAt, freshMs)) return last.records;
    const next = refresh(org);
    if (last === undefined) return next;
    const older = () => {
      if (known.get(org) === last) keep(org, last.records);
      return last.records;
    };
    return Promise.race([next.catch(older), delay(PATIENCE_MS, undefined, { ref: false }).then(older)]);
  };

  const noteUse = (org: string, id: string, record: KeyRecord): void => {
    const now = Date.now();
    const noted = Math.max(usedAt.get(id) ?? 0, record.lastUsedAt === null ? 0 : Date.parse(record.lastUsedAt));
    if (now - noted < USED_EVERY_MS) return;
    usedAt.set(id, now);
    const written = amendEntry(unaudited(access), org, 'keys', id, { lastUsedAt: new Date(now).toISOString() }).then(
      () => undefined,
      // The key was just revoked, or Temporal is unreachable. The next use is recorded.
      () => void usedAt.delete(id),
    );
    writing.add(written);
    void written.finally(() => writing.delete(written));
  };

  const holderAt = async (organizationId: string, keyId: string): Promise<KeyHolder | undefined> => {
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
      const claim = claimOf(text);
      if (claim === undefined) return undefined;
      const { organizationId, id } = claim;
      const holder = await holderAt(organizationId, id);
      if (holder === undefined || !isKey(access, organizationId, id, holder.record, text)) return undefined;
      noteUse(organizationId, id, holder.record);
      return holder;
    },
    holderById: async (organizationId, keyId) => {
      const holder = await holderAt(organizationId, keyId);
      if (holder !== undefined) noteUse(organizationId, keyId, holder.record);
      return holder;
    },
    forget: (organizationId) => {
      known.delete(organizationId);
      reading.delete(organizationId);
    },
    settled: async () => {
      while (writing.size > 0) await Promise.all(writing);
    },
  };
}
