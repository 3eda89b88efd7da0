/**
 * The actor `org.{org}`: the organization's named entries (ARCHITECTURE.md §4). It never sees a secret: values are
 * sealed before they come here, and the memo, which everybody with access to Temporal can read, holds ciphertext.
 */
import {
  type AmendEntry,
  type DeleteEntry,
  ORGANIZATION_COLLECTIONS,
  type OrganizationCollection,
  type OrganizationStart,
  type PutEntry,
} from '../../src/contract/actors.ts';
import {
  capacityProblemOf,
  type DeleteKey,
  HAD_KEYS_MEMO,
  type KeyRecord,
  type OrganizationEntries,
  type PutKey,
} from '../../src/contract/organization/organization.ts';
import { addressesOf } from '../../src/contract/organization/people.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { type Actor, type AnsweredChange, isRefusal, type Operation, type Refusal, refuse } from './actor.ts';

/** By `{collection}/{name}`, which is also the field of the memo. */
type Entries = OrganizationEntries;

const put: Operation<Entries, PutEntry, { created: boolean }> = (entries, request) =>
  wrongCollection(request.collection) ?? withEntry(entries, fieldOf(request), request.value);

const remove: Operation<Entries, DeleteEntry, { deleted: boolean }> = (entries, request) => {
  const wrong = wrongCollection(request.collection);
  if (wrong !== undefined) return wrong;
  return entries.has(fieldOf(request)) ? withoutEntry(entries, fieldOf(request)) : noEntry(request);
};

const amend: Operation<Entries, AmendEntry, { amended: boolean }> = (entries, request) => {
  const entry = entries.get(fieldOf(request));
  if (entry === undefined) return noEntry(request);
  for (const [member, value] of Object.entries(request.expect ?? {}))
    if (!isSame(entry[member], value))
      return refuse('entry_changed', `The entry ${request.name} was written meanwhile. Read it again.`);
  const change = withEntry(entries, fieldOf(request), { ...entry, ...request.members });
  return isRefusal(change) ? change : { ...change, answer: { amended: true } };
};

const putKey: Operation<Entries, PutKey, { created: boolean }> = (entries, request) => {
  const { name, value, adminElsewhere, knowsPeople } = request;
  if (!adminElsewhere && value.role !== 'admin' && adminKeys(entries).length === 0)
    return refuse('admin_key_first', "The first key must be an admin's: without one nobody could make another key.");
  if (knowsPeople === undefined) return withEntry(entries, keyField(name), value);
  const taken = takenAddress(entries, value);
  if (taken !== undefined)
    return refuse(
      'address_taken',
      `The address ${taken.address} belongs to ${taken.user}. Make the key for that person, or leave the address out.`,
    );
  return markHadKeys(withEntry(entries, keyField(name), value));
};

/** An address of the key that belongs to another person. */
function takenAddress(entries: Entries, key: KeyRecord): { address: string; user: string } | undefined {
  const wanted = addressesOf(key);
  for (const field of keys(entries)) {
    const other = entries.get(field) as KeyRecord;
    const address = other.user === key.user ? undefined : addressesOf(other).find((one) => wanted.includes(one));
    if (address !== undefined) return { address, user: other.user };
  }
  return undefined;
}

/** Links of an organization that has had a key never decide without one (LANGUAGE.md §6). */
function markHadKeys<Answer>(
  change: AnsweredChange<Entries, Answer> | Refusal,
): AnsweredChange<Entries, Answer> | Refusal {
  if (isRefusal(change)) return change;
  const note = { ever: true };
  const { state, effects = [] } = change;
  return {
    ...change,
    state: new Map(state).set(HAD_KEYS_MEMO, note),
    effects: effects.map((effect) =>
      effect.type === 'memo' ? { ...effect, fields: { ...effect.fields, [HAD_KEYS_MEMO]: note } } : effect,
    ),
  };
}

const deleteKey: Operation<Entries, DeleteKey, { deleted: boolean }> = (entries, request) => {
  const { name, adminElsewhere, knowsPeople } = request;
  const field = keyField(name);
  if (!entries.has(field)) return refuse('not_found', 'There is no key with that id.');
  const admins = adminKeys(entries);
  if (!adminElsewhere && admins.length === 1 && admins[0] === field && keys(entries).length > 1)
    return refuse(
      'last_admin_key',
      "This is the only admin's key, and without it nobody could make another. Make one first, or revoke all others.",
    );
  const change = withoutEntry(entries, field);
  return knowsPeople === undefined ? change : markHadKeys(change);
};

function withEntry(
  entries: Entries,
  field: string,
  value: JsonObject,
): AnsweredChange<Entries, { created: boolean }> | Refusal {
  const created = !entries.has(field);
  const full = capacityProblemOf(entries, field, value);
  if (full !== undefined) return refuse(full.code, full.message);
  return {
    state: new Map(entries).set(field, value),
    answer: { created },
    effects: [{ type: 'memo', fields: { [field]: value } }],
  };
}

function withoutEntry(entries: Entries, field: string): AnsweredChange<Entries, { deleted: boolean }> {
  const state = new Map(entries);
  const deleted = state.delete(field);
  return { state, answer: { deleted }, effects: [{ type: 'memo', fields: { [field]: undefined } }] };
}

const noEntry = ({ name, collection }: Pick<PutEntry, 'name' | 'collection'>): Refusal =>
  refuse('not_found', `There is no entry ${name} in ${collection}.`);

/** Keys have updates of their own, with their own rules. */
function wrongCollection(collection: OrganizationCollection): Refusal | undefined {
  return ORGANIZATION_COLLECTIONS.includes(collection) && collection !== 'keys'
    ? undefined
    : refuse('invalid_request', 'There is no such collection.');
}

const fieldOf = ({ collection, name }: Pick<PutEntry, 'name' | 'collection'>): string => `${collection}/${name}`;
const keyField = (id: string): string => fieldOf({ collection: 'keys', name: id });

const keys = (entries: Entries): string[] => [...entries.keys()].filter((field) => field.startsWith(keyField('')));
const adminKeys = (entries: Entries): string[] =>
  keys(entries).filter((field) => (entries.get(field) as KeyRecord).role === 'admin');

const isSame = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

export const organizationActor: Actor<OrganizationStart, Entries> = {
  begin: ({ carried }) => new Map(Object.entries(carried?.entries ?? {})),
  carry: (entries) => ({ entries: Object.fromEntries(entries) }),
  updates: { put, delete: remove, amend, putKey, deleteKey },
};
