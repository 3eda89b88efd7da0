/** Who holds a key: SIGNALBOX_ADMIN_KEY, or a key of the keyring. */
import { createHash } from 'node:crypto';
import { OPERATOR } from '../../client/organization/api-keys.ts';
import type { KeyHolder, Keyring } from '../../client/organization/keyring.ts';
import { sameText } from '../../client/payloads/keys.ts';
import type { Config } from '../../config/config.ts';
import { rolesUpTo } from '../../contract/organization.ts';
import { DEFAULT_ORGANIZATION } from '../../engine/state/start.ts';
import type { Principal } from './principal.ts';

type Settings = Pick<Config, 'adminKey'>;

export interface Holder {
  readonly principal: Principal;
  /** Changes when the key or its rights change. It reveals nothing of the key. */
  readonly mark: string;
}

/** The holder of SIGNALBOX_ADMIN_KEY. */
const ENVIRONMENT: Principal = {
  organizationId: DEFAULT_ORGANIZATION,
  id: OPERATOR.user,
  role: OPERATOR.role,
  roles: rolesUpTo(OPERATOR.role),
  groups: [],
  names: [],
};

/** Undefined for a text that is not a valid key. @throws ClientError `temporal_unreachable`. */
export async function holderOfKey({ adminKey }: Settings, keyring: Keyring, key: string): Promise<Holder | undefined> {
  if (adminKey !== undefined && sameText(key, adminKey)) return ofEnvironment(adminKey);
  const holder = await keyring.holderOf(key);
  return holder === undefined ? undefined : ofRecord(holder);
}

/**
 * The present holder of the key that a session began with; without a key's id, of SIGNALBOX_ADMIN_KEY. Undefined for a
 * revoked key. @throws ClientError `temporal_unreachable`.
 */
export async function holderOfId(
  { adminKey }: Settings,
  keyring: Keyring,
  organizationId: string,
  keyId: string | undefined,
): Promise<Holder | undefined> {
  if (keyId === undefined) return adminKey === undefined ? undefined : ofEnvironment(adminKey);
  const holder = await keyring.holderById(organizationId, keyId);
  return holder === undefined ? undefined : ofRecord(holder);
}

const ofEnvironment = (adminKey: string): Holder => ({
  principal: ENVIRONMENT,
  mark: markOf(['environment', adminKey]),
});

function ofRecord({ organizationId, keyId, record, addresses }: KeyHolder): Holder {
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
    mark: markOf([mac, name, role, user, roles, groups]),
  };
}

const markOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
