/**
 * Roles of API keys, the record of a key in its organization's actor, and what the actor has room for. The contract
 * between src/client, workflows/actors/organization.ts and the gateway. JSON only.
 */

import { exactJsonBytes } from '../../json/bytes.ts';
import type { JsonObject } from '../../json/json.ts';
import { type DeleteEntry, MAX_ORGANIZATION_BYTES, MAX_ORGANIZATION_ENTRIES, type PutEntry } from '../actors.ts';

/** The organization of the operators of this host, and of runs that were started by hand. */
export const DEFAULT_ORGANIZATION = 'default';

/** Each role includes the roles before it. */
export const ROLES = ['viewer', 'runner', 'approver', 'editor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Whether the role `held` includes the role `wanted`. */
export const includesRole = (held: Role, wanted: Role): boolean => ROLES.indexOf(held) >= ROLES.indexOf(wanted);

/** A role and all roles that it includes. */
export const rolesUpTo = (role: Role): readonly Role[] => ROLES.slice(0, ROLES.indexOf(role) + 1);

/** The record of an API key under `keys/{id}`. The key cannot be derived from it. */
export interface KeyRecord extends JsonObject {
  readonly name: string;
  readonly role: Role;
  /** The person who uses the key. */
  readonly user: string;
  /** Names of the organization's own, for approvers. */
  readonly roles: string[];
  readonly groups: string[];
  /** E-mail addresses of the person, to whom links are sent. Absent in keys that earlier versions made. */
  readonly emails?: string[];
  /** The first characters of the key, by which people distinguish keys. */
  readonly prefix: string;
  /** HMAC-SHA256 of the key, hexadecimal, under a secret of its own. */
  readonly mac: string;
  /** That secret, sealed under the master key. */
  readonly sealed: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** The person who made it, where that is known. */
  readonly createdBy: string | null;
  /** Up to ten minutes late; null for a key that was never used. */
  readonly lastUsedAt: string | null;
}

/** The field of the memo of `org.{org}` that says that the organization has had a key. */
export const HAD_KEYS_MEMO = 'had/keys';

/**
 * Updates `putKey` and `deleteKey` of `org.{org}`: as `put` and `delete`, of the collection `keys`. The first key must
 * be an admin's, or it is refused with `admin_key_first`. `last_admin_key` refuses the deletion of the last key that
 * could make keys. `address_taken` refuses a key with an address of another person.
 */
export interface PutKey extends Omit<PutEntry, 'collection' | 'value'> {
  readonly value: KeyRecord;
  /** An operator administers the keys without an API key: the first and the last key may have any role. */
  readonly adminElsewhere: boolean;
  /** Absent from gateways before 0.4: their keys have no addresses, and the actor does not note HAD_KEYS_MEMO. */
  readonly knowsPeople?: true;
}
export interface DeleteKey extends Omit<DeleteEntry, 'collection'> {
  readonly adminElsewhere: boolean;
  readonly knowsPeople?: true;
}

/** The record of another organization in `org.default`, under `organizations/{name}`. */
export interface OrganizationRecord extends JsonObject {
  /** ISO 8601. */
  readonly createdAt: string;
}

/** By `{collection}/{name}`. */
export type OrganizationEntries = ReadonlyMap<string, JsonObject>;

const bytesOf = (field: string, value: JsonObject): number => 3 * field.length + exactJsonBytes(value);

/** Why the organization has no room for the entry, in place of one with its name. */
export function capacityProblemOf(
  entries: OrganizationEntries,
  field: string,
  value: JsonObject,
): { readonly code: 'too_many' | 'too_large'; readonly message: string } | undefined {
  const most = MAX_ORGANIZATION_ENTRIES;
  if (!entries.has(field) && entries.size >= most)
    return {
      code: 'too_many',
      message: `The organization holds ${most} entries, and no more fit. Delete some that are not used.`,
    };
  let bytes = bytesOf(field, value);
  for (const [other, held] of entries) if (other !== field) bytes += bytesOf(other, held);
  if (bytes <= MAX_ORGANIZATION_BYTES) return undefined;
  return {
    code: 'too_large',
    message:
      `With this entry the organization's settings take ${bytes} bytes; the limit is ${MAX_ORGANIZATION_BYTES}. ` +
      'Delete some, or shorten it.',
  };
}
