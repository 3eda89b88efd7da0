/**
 * API keys: creates, lists, revokes and verifies them. A key is `sbk_{organization}_{id}_{256 random bits}`. It is
 * shown once. Its record holds an HMAC over the key and its permissions, under its own secret, which is sealed under
 * the master key. So a write into Temporal can neither make a key nor raise its permissions, and a new master key needs
 * no new API keys.
 */
import { randomBytes } from 'node:crypto';
import {
  DEFAULT_ORGANIZATION,
  type DeleteKey,
  HAD_KEYS_MEMO,
  type KeyRecord,
  type PutKey,
  ROLES,
  type Role,
} from '../../contract/organization/organization.ts';
import { type KnownPeople, peopleOf } from '../../contract/organization/people.ts';
import { ClientError, rethrowAs } from '../errors.ts';
import { constantTimeEqual, hmacHex } from '../payloads/keys.ts';
import { seal, unsealWithAny } from '../payloads/seal.ts';
import { type Access, keysFor, type WriteAccess } from '../temporal/access.ts';
import { describe, updateActor, updateWithStart } from '../temporal/actor-calls.ts';
import { organizationId as organizationActorId } from '../temporal/ids.ts';
import { entriesIn, openEntries, organizationActor } from './organization-entries.ts';
import { ensureOrganization } from './organizations.ts';

const COLLECTION = 'keys';
const KEY_PREFIX = 'sbk';
const ID_BYTES = 6;
const SECRET_BYTES = 32;
const KEY_PATTERN = /^sbk_([a-z0-9][a-z0-9-]{0,62})_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

/** The person of the environment's admin key. */
export const OPERATOR = { user: 'admin', role: 'admin' as Role, roles: [], groups: [] };

interface KeyRequest {
  readonly name: string;
  readonly role: Role;
  /** Default: the name. */
  readonly user?: string;
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
  /** The person's e-mail addresses, beside a `user` that is one. */
  readonly emails?: readonly string[];
}

/** An API key as lists show it, without the key text. */
interface KeySummary {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly role: Role;
  readonly user: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  readonly emails: readonly string[];
  readonly prefix: string;
  readonly createdAt: string;
  readonly createdBy?: string;
  readonly lastUsedAt?: string;
}

interface KeyRules {
  /**
   * An operator administers the organization's keys without an API key, so the first and the last key may have any
   * role.
   */
  readonly adminElsewhere: boolean;
}

/**
 * Makes a key, and its organization where that is new. Only this answer contains the key text. With a `requestId` the
 * key is derived from it and the master key, so that a repeated request makes the same key.
 * @throws ClientError `admin_key_first`, `address_taken`, `too_many`, `too_large`.
 */
export async function createKey(
  access: WriteAccess,
  org: string,
  request: KeyRequest,
  { adminElsewhere, createdBy, requestId }: KeyRules & { readonly createdBy?: string; readonly requestId?: string },
): Promise<KeySummary & { readonly key: string }> {
  const derivedBytes = (part: string, count: number): Buffer =>
    requestId === undefined
      ? randomBytes(count)
      : Buffer.from(hmacHex(access.keys.madeKeys, JSON.stringify([part, org, requestId])), 'hex').subarray(0, count);
  const id = derivedBytes('id', ID_BYTES).toString('hex');
  const prefix = `${KEY_PREFIX}_${org}_${id}`;
  const key = `${prefix}_${derivedBytes('secret', SECRET_BYTES).toString('base64url')}`;
  const keySecret = randomBytes(SECRET_BYTES).toString('base64');
  const { name, role, user = name, roles = [], groups = [], emails = [] } = request;
  const permissions = { name, role, user, roles: [...roles], groups: [...groups], emails: [...emails] };
  const record: KeyRecord = {
    ...permissions,
    prefix,
    mac: macOf(keySecret, key, permissions),
    sealed: seal(access.keys.apiKeys, keySealContext(org, id), keySecret),
    createdAt: new Date().toISOString(),
    createdBy: createdBy ?? null,
    lastUsedAt: null,
  };
  await ensureOrganization(access, org);
  await updateWithStart<PutKey, { created: boolean }>(access, organizationActor(access, org), 'putKey', {
    name: id,
    value: record,
    adminElsewhere,
    knowsPeople: true,
  });
  return { ...summaryOf(org, id, record), key };
}

/** @throws ClientError `not_found`, `last_admin_key`. */
export async function revokeKey(access: WriteAccess, org: string, id: string, rules: KeyRules): Promise<void> {
  const { adminElsewhere } = rules;
  await updateActor<DeleteKey, { deleted: boolean }>(access, organizationActorId(org), 'deleteKey', {
    name: id,
    adminElsewhere,
    knowsPeople: true,
  }).catch(rethrowAs('not_found', () => new ClientError('not_found', 'There is no key with that id.')));
}

/** The keys of an organization, oldest first. */
export async function listKeys(access: Access, org: string): Promise<KeySummary[]> {
  const records = await readKeys(access, org);
  return [...records]
    .map(([id, record]) => summaryOf(org, id, record))
    .sort((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? -1 : 1));
}

export const readKeys = (access: Access, org: string): Promise<ReadonlyMap<string, KeyRecord>> =>
  openEntries<KeyRecord>(access, org, COLLECTION);

/**
 * Whom an organization knows by its keys. Only `default` is there before its first key. `hasOperator`: an admin key of
 * the environment administers `default`.
 */
export async function readPeople(access: Access, org: string, hasOperator: boolean): Promise<KnownPeople> {
  const description = await describe(access, organizationActorId(org));
  const operators = hasOperator && org === DEFAULT_ORGANIZATION ? [OPERATOR] : [];
  const keys = [...entriesIn<KeyRecord>(description, COLLECTION).values(), ...operators];
  const hadKeys = org !== DEFAULT_ORGANIZATION || description?.memo?.[HAD_KEYS_MEMO] !== undefined;
  return { people: peopleOf(keys), held: keys.length > 0 ? 'some' : hadKeys ? 'revoked' : 'never' };
}

/** Parses the organization and id of a key's text. Undefined for a text that does not have the form of a key. */
export function parseKey(text: string): { readonly organizationId: string; readonly id: string } | undefined {
  const [, organizationId, id] = KEY_PATTERN.exec(text) ?? [];
  return organizationId === undefined || id === undefined ? undefined : { organizationId, id };
}

/** Whether the text is the key of that record. False where the record has changed since the key was made. */
export function matchesKey(
  access: Pick<Access, 'keys' | 'formerKeys'>,
  org: string,
  id: string,
  record: KeyRecord,
  text: string,
): boolean {
  const keySecret = unsealWithAny(keysFor(access, 'apiKeys'), keySealContext(org, id), record.sealed);
  return (
    keySecret !== undefined &&
    ROLES.includes(record.role) &&
    constantTimeEqual(macOf(keySecret, text, record), record.mac)
  );
}

/** The place that a key's own secret is sealed for. */
export const keySealContext = (org: string, id: string): string => JSON.stringify(['key', org, id]);

type KeyPermissions = Pick<KeyRecord, 'name' | 'role' | 'user' | 'roles' | 'groups' | 'emails'>;

/** Keys of earlier versions have no addresses. */
const macOf = (keySecret: string, key: string, { name, role, user, roles, groups, emails }: KeyPermissions): string =>
  hmacHex(keySecret, JSON.stringify([key, name, role, user, roles, groups, ...(emails === undefined ? [] : [emails])]));

function summaryOf(org: string, id: string, record: KeyRecord): KeySummary {
  const { name, role, user, roles, groups, emails = [], prefix, createdAt, createdBy, lastUsedAt } = record;
  return {
    id,
    organizationId: org,
    name,
    role,
    user,
    roles,
    groups,
    emails,
    prefix,
    createdAt,
    ...(createdBy === null ? {} : { createdBy }),
    ...(lastUsedAt === null ? {} : { lastUsedAt }),
  };
}
