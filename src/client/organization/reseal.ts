/**
 * Rotates the master key: secrets, and the secrets of API keys, that are sealed under a former master key are sealed
 * under the present one. The former key can then be removed. The rotation can run at any time, and can be repeated. It
 * does not reseal callback addresses, cursors, or histories that the payload codec has encrypted. They become invalid
 * without the former key.
 */

import type { OrganizationCollection, SealedSecret } from '../../contract/actors.ts';
import type { KeyRecord } from '../../contract/organization/organization.ts';
import { onCode } from '../errors.ts';
import type { Keys } from '../payloads/keys.ts';
import { seal, unseal, unsealWithAny } from '../payloads/seal.ts';
import { type Access, keysFor, type WriteAccess } from '../temporal/access.ts';
import { keySealContext } from './api-keys.ts';
import { amendEntry, openEntries } from './organization-entries.ts';
import { listOrganizations } from './organizations.ts';
import { secretSealContext } from './secrets.ts';

interface Resealed {
  /** Entries that are now sealed under the present key. */
  readonly resealed: number;
  /** Entries that were already under the present key. */
  readonly unchanged: number;
  /** Entries under an unknown key. */
  readonly unreadable: readonly {
    readonly organizationId: string;
    readonly collection: string;
    readonly name: string;
  }[];
}

type Outcome = 'resealed' | 'unchanged' | 'unreadable';

/** Seals everything under the present master key, in all organizations. */
export async function resealAll(access: WriteAccess): Promise<Resealed> {
  const counted = { resealed: 0, unchanged: 0 };
  const unreadable: Resealed['unreadable'][number][] = [];
  for (const organizationId of await listOrganizations(access)) {
    for (const one of await sealedOf(access, organizationId)) {
      const outcome = await reseal(access, organizationId, one);
      if (outcome !== 'unreadable') counted[outcome] += 1;
      else unreadable.push({ organizationId, collection: one.collection, name: one.name });
    }
  }
  return { ...counted, unreadable };
}

interface Sealed {
  readonly collection: OrganizationCollection;
  readonly name: string;
  readonly sealed: string;
  readonly purpose: keyof Keys;
  readonly place: string;
}

async function sealedOf(access: Access, org: string): Promise<Sealed[]> {
  const secrets = await openEntries<SealedSecret>(access, org, 'secrets');
  const keys = await openEntries<KeyRecord>(access, org, 'keys');
  return [
    ...[...secrets].map(([name, secret]): Sealed => {
      const { sealed } = secret;
      return { collection: 'secrets', name, sealed, purpose: 'secrets', place: secretSealContext(org, name, secret) };
    }),
    ...[...keys].map(([name, { sealed }]): Sealed => {
      return { collection: 'keys', name, sealed, purpose: 'apiKeys', place: keySealContext(org, name) };
    }),
  ];
}

async function reseal(access: WriteAccess, org: string, entry: Sealed): Promise<Outcome> {
  const { collection, name, sealed, purpose, place } = entry;
  const present = access.keys[purpose];
  if (unseal(present, place, sealed) !== undefined) return 'unchanged';
  const clear = unsealWithAny(keysFor(access, purpose), place, sealed);
  if (clear === undefined) return 'unreadable';
  const amended = amendEntry(access, org, collection, name, { sealed: seal(present, place, clear) }, { sealed });
  // A concurrent write uses the present key, and a concurrent deletion leaves nothing to reseal.
  return amended.then(
    () => 'resealed',
    onCode(['entry_changed', 'not_found'], () => 'unchanged'),
  );
}
