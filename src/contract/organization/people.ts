/**
 * The persons of an organization, as its keys name them (LANGUAGE.md §6). A person has one name, the `user` of their
 * keys, and the e-mail addresses of all of those keys. A `user` that is an address is one of them.
 */

import type { RoleClaims } from '../run/run.ts';
import { includesRole, type KeyRecord, ROLES, type Role } from './organization.ts';

/** What a key says about its person. */
type PersonalRights = Pick<KeyRecord, 'user' | 'role' | 'roles' | 'groups'> & {
  readonly emails?: readonly string[];
};

export interface Person {
  readonly user: string;
  /** In lower case, without repetitions. */
  readonly addresses: readonly string[];
  /** The highest role of their keys. */
  readonly role: Role;
  /** Of the keys whose role may decide. */
  readonly roles: readonly string[];
  readonly groups: readonly string[];
}

/** Whether an organization has keys, has had some, or never had one. */
export type KeyPresence = 'some' | 'revoked' | 'never';

/** Whom an organization knows. */
export interface KnownPeople {
  readonly held: KeyPresence;
  readonly people: readonly Person[];
}

/** The least role that may decide. */
const MIN_DECIDING_ROLE: Role = 'approver';

export const isAddress = (name: string): boolean => /^[^\s@]+@[^\s@]+$/.test(name);

/** Addresses are compared without case, in the part before the @ too. */
export const addressKey = (address: string): string => address.toLowerCase();

/** The addresses that a key gives its person, as they are compared. */
export function addressesOf({ user, emails = [] }: Pick<PersonalRights, 'user' | 'emails'>): string[] {
  return [...new Set([...(isAddress(user) ? [user] : []), ...emails].map(addressKey))];
}

export function peopleOf(keys: Iterable<PersonalRights>): Person[] {
  const byUser = new Map<string, PersonalRights[]>();
  for (const key of keys) byUser.set(key.user, [...(byUser.get(key.user) ?? []), key]);
  return [...byUser].map(([user, own]) => {
    const deciding = own.filter(({ role }) => includesRole(role, MIN_DECIDING_ROLE));
    return {
      user,
      addresses: [...new Set(own.flatMap(addressesOf))],
      role: ROLES[Math.max(...own.map(({ role }) => ROLES.indexOf(role)))] ?? 'viewer',
      roles: [...new Set(deciding.flatMap(({ roles }) => roles))],
      groups: [...new Set(deciding.flatMap(({ groups }) => groups))],
    };
  });
}

/** The person of that name, or with that address. A name that is written the same way wins. */
export function personNamed(people: readonly Person[], name: string): Person | undefined {
  return (
    people.find(({ user }) => user === name) ??
    (isAddress(name) ? people.find(({ addresses }) => addresses.includes(addressKey(name))) : undefined)
  );
}

export const mayDecide = ({ role }: Person): boolean => includesRole(role, MIN_DECIDING_ROLE);

export const roleClaimsOf = ({ roles, groups, addresses }: Person): RoleClaims => ({ roles, groups, names: addresses });

/** Whether a name in a rule, a vote or a record means this person. `names` are their addresses, in lower case. */
export const isNamed = (person: string, names: readonly string[] | undefined, name: string): boolean =>
  name === person || names?.includes(addressKey(name)) === true;
