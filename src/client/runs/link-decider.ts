/**
 * The decider of an approval link (LANGUAGE.md §6). A link that reaches a mailbox is no right of its own: where
 * an organization has keys, the person behind it must have one that may decide.
 */
import type { KeyPresence, KnownPeople, Person } from '../../contract/organization/people.ts';
import { addressKey, isAddress, mayDecide, personNamed, roleClaimsOf } from '../../contract/organization/people.ts';
import type { LinkHolder, RoleClaims } from '../../contract/run/run.ts';
import { ClientError } from '../errors.ts';

export interface Decider {
  /** The person, or the address of an outsider. */
  readonly id: string;
  /** Undefined where the organization has never had a key, and so has no persons. */
  readonly as?: RoleClaims;
  /** Who has the address of the link, where that is somebody else. */
  readonly holder?: LinkHolder;
  /** `link`, or `link to ADDRESS` where the address is not one of the person's. */
  readonly via: string;
}

/** `to`: the address or channel to which the link was sent; absent where it is `person`. */
interface LinkRecipient {
  readonly person: string;
  readonly to?: string;
}

/** How decisions by links are recorded. */
export const VIA_LINK = 'link';

/**
 * `outsiders`: the approval lets addresses decide that no key has.
 * @throws ClientError `not_an_approver`, with what can be done.
 */
export function deciderOf(
  { person: name, to }: LinkRecipient,
  { held, people }: KnownPeople,
  outsiders: boolean,
): Decider {
  if (held === 'never') return { id: name, via: VIA_LINK };
  const person = personNamed(people, name);
  if (person === undefined && !outsiders) throw unknownPerson(name, held);
  if (person !== undefined && !mayDecide(person)) throw roleTooLow(person);
  const address = to ?? name;
  const isOwn = person !== undefined && (to === undefined || personNamed(people, to) === person);
  const id = person?.user ?? (isAddress(name) ? addressKey(name) : name);
  return {
    id,
    as: person === undefined ? { roles: [], groups: [], names: isAddress(name) ? [id] : [] } : roleClaimsOf(person),
    ...(isOwn || to === undefined || !isAddress(to) ? {} : { holder: holderOf(to, personNamed(people, to)) }),
    via: isOwn ? VIA_LINK : `${VIA_LINK} to ${address}`,
  };
}

function holderOf(address: string, person: Person | undefined): LinkHolder {
  const key = addressKey(address);
  return person === undefined ? { id: key, names: [key] } : { id: person.user, names: person.addresses };
}

function unknownPerson(name: string, held: KeyPresence): ClientError {
  if (held === 'revoked')
    return new ClientError(
      'not_an_approver',
      'All API keys of this organization were revoked, and its links decide nothing without one. Ask an admin for a ' +
        `key for ${name}.`,
    );
  const missing = isAddress(name) ? `No API key has the address ${name}` : `${name} has no API key`;
  const remedy = isAddress(name)
    ? 'Ask an admin for a key with this address (signalbox keys create NAME --role approver --emails ADDRESS)'
    : 'Ask an admin for a key';
  return new ClientError('not_an_approver', `${missing}, so this link decides nothing. ${remedy}.`);
}

const roleTooLow = ({ user, role }: Person): ClientError =>
  new ClientError(
    'not_an_approver',
    `${user} has the role ${role}, and a decision needs approver. Ask an admin for a key that may decide.`,
  );
