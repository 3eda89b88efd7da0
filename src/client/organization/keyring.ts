/**
 * The API keys as the gateway checks them at every request. They are read from Temporal at most every few seconds.
 * While Temporal is away, the last known keys count. The keyring also records when a key was last used, in the
 * background.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { KeyRecord } from '../../contract/organization.ts';
import { DEFAULT_ORGANIZATION } from '../../engine/state/start.ts';
import { type Access, unaudited } from '../temporal/access.ts';
import { claimOf, isKey, readKeys } from './api-keys.ts';
import { amendEntry } from './organization-entries.ts';
import { isFresh, isOrganization } from './organizations.ts';

/** A key that another gateway revokes is known to be revoked after this. */
const FRESH_MS = 2_000;
/** How old the list may be for a key that is not in it: another gateway may just have made the key. */
const FRESH_FOR_UNKNOWN_MS = 250;
/** How long a request waits for a newer list where there is an older one. */
const PATIENCE_MS = 1_000;
/** `lastUsedAt` is written at most so often for each key. */
const USED_EVERY_MS = 10 * 60 * 1000;
/** Claims of made-up organizations must not fill the memory. */
const MOST_ORGANIZATIONS = 1_000;

export interface KeyHolder {
  readonly organizationId: string;
  readonly keyId: string;
  readonly record: KeyRecord;
}

export interface Keyring {
  /** Whether `default` has a key. With a key, every request needs one. @throws ClientError `temporal_unreachable`. */
  hasKeys(): Promise<boolean>;
  /** The holder of the key; undefined for a text that is no valid key. @throws ClientError `temporal_unreachable`. */
  holderOf(text: string): Promise<KeyHolder | undefined>;
  /** To be called where keys of the organization were just made or revoked. */
  forget(organizationId: string): void;
  /** Resolves when nothing is being written any more. */
  settled(): Promise<void>;
}

interface Known {
  readonly records: ReadonlyMap<string, KeyRecord>;
  readonly readAt: number;
}

export function keyringOver(access: Access): Keyring {
  const known = new Map<string, Known>();
  const reading = new Map<string, Promise<Known['records']>>();
  const usedAt = new Map<string, number>();
  const writing = new Set<Promise<void>>();

  const refresh = (org: string): Promise<Known['records']> => {
    const underWay = reading.get(org);
    if (underWay !== undefined) return underWay;
    const begun: Promise<Known['records']> = readOf(org);
    reading.set(org, begun);
    const isWanted = () => reading.get(org) === begun && reading.delete(org);
    // Where it was forgotten meanwhile, it is read once more.
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
  /** Of an organization that is made up there is nothing to be read. */
  const readOf = async (org: string): Promise<Known['records']> =>
    org === DEFAULT_ORGANIZATION || (await isOrganization(access, org)) ? readKeys(access, org) : new Map();
  const keep = (org: string, records: Known['records']): void => {
    known.delete(org);
    known.set(org, { records, readAt: Date.now() });
    if (known.size > MOST_ORGANIZATIONS) known.delete(known.keys().next().value ?? '');
  };
  const recordsOf = async (org: string, freshMs = FRESH_MS): Promise<Known['records']> => {
    const last = known.get(org);
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
      // A key that was just revoked; or Temporal is away, and the next use is noted.
      () => void usedAt.delete(id),
    );
    writing.add(written);
    void written.finally(() => writing.delete(written));
  };

  return {
    hasKeys: async () => (await recordsOf(DEFAULT_ORGANIZATION)).size > 0,
    holderOf: async (text) => {
      const claim = claimOf(text);
      if (claim === undefined) return undefined;
      const { organizationId, id } = claim;
      const find = async (freshMs?: number) => (await recordsOf(organizationId, freshMs)).get(id);
      const record = (await find()) ?? (await find(FRESH_FOR_UNKNOWN_MS));
      if (record === undefined || !isKey(access, organizationId, id, record, text)) return undefined;
      noteUse(organizationId, id, record);
      return { organizationId, keyId: id, record };
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
