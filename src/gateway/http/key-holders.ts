/** Who holds a key: SIGNALBOX_ADMIN_KEY, or a key of the keyring. */
import { createHash } from 'node:crypto';
import type { ApiKeyCache, KeyHolder } from '../../client/organization/api-key-cache.ts';
import { OPERATOR } from '../../client/organization/api-keys.ts';
import { constantTimeEqual } from '../../client/payloads/keys.ts';
import type { Config } from '../../config/config.ts';
import { DEFAULT_ORGANIZATION, rolesUpTo } from '../../contract/organization/organization.ts';
import type { Principal } from './principal.ts';

type Settings = Pick<Config, 'adminKey'>;

export interface Holder {
  readonly principal: Principal;
  /** Changes when the key or its rights change. It reveals nothing of the key. */
  readonly rightsHash: string;
}

/** The holder of SIGNALBOX_ADMIN_KEY. */
const ADMIN_KEY_PRINCIPAL: Principal = {
  organizationId: DEFAULT_ORGANIZATION,
  id: OPERATOR.user,
  role: OPERATOR.role,
  roles: rolesUpTo(OPERATOR.role),
  groups: [],
  names: [],
};

/** Undefined for a text that is not a valid key. @throws ClientError `temporal_unreachable`. */
export async function holderOfKey(
  { adminKey }: Settings,
  keyring: ApiKeyCache,
  key: string,
): Promise<Holder | undefined> {
  if (adminKey !== undefined && constantTimeEqual(key, adminKey)) return adminKeyHolder(adminKey);
  const holder = await keyring.holderOf(key);
  return holder === undefined ? undefined : recordHolder(holder);
}

/**
 * The present holder of the key that a session began with; without a key's id, of SIGNALBOX_ADMIN_KEY. Undefined for a
 * revoked key. @throws ClientError `temporal_unreachable`.
 */
export async function holderOfId(
  { adminKey }: Settings,
  keyring: ApiKeyCache,
  organizationId: string,
  keyId: string | undefined,
): Promise<Holder | undefined> {
  if (keyId === undefined) return adminKey === undefined ? undefined : adminKeyHolder(adminKey);
  const holder = await keyring.holderById(organizationId, keyId);
  return holder === undefined ? undefined : recordHolder(holder);
}

const adminKeyHolder = (adminKey: string): Holder => ({
  principal: ADMIN_KEY_PRINCIPAL,
  rightsHash: hashOf(['environment', adminKey]),
});

function recordHolder({ organizationId, keyId, record, addresses }: KeyHolder): Holder {
  const { mac, name, user, role, roles, groups } = record;
  return {
    principal: {
      organizationId,
      id: user,
      role,
      roles: [...rolesUpTo(role), ...roles],
      groups,
      names: addresses,
      keyId,
    },
    rightsHash: hashOf([mac, name, role, user, roles, groups]),
  };
}

const hashOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
