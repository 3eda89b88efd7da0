/**
 * The actor `org.{org}`: the organization's named entries (ARCHITECTURE.md §4). It never sees a secret: values are sealed
 * before they come here, and the memo, which anybody who reads Temporal can see, holds ciphertext.
 */

import { upsertMemo } from '@temporalio/workflow';
import {
  type AmendEntry,
  type DeleteEntry,
  ORGANIZATION_BYTES,
  ORGANIZATION_COLLECTIONS,
  ORGANIZATION_ENTRIES,
  type OrganizationCollection,
  type OrganizationStart,
  type PutEntry,
} from '../../src/contract/actors.ts';
import type { DeleteKey, KeyRecord, PutKey } from '../../src/contract/organization.ts';
import { exactJsonBytes } from '../../src/json/bytes.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { becomeNew, refuse, stored, untilFull, writes } from './actor.ts';

export function organization(start: OrganizationStart): Promise<never> {
  return stored(() => keepOrganization(start));
}

async function keepOrganization(start: OrganizationStart): Promise<never> {
  const entries = new Map<string, JsonObject>(Object.entries(start.carried?.entries ?? {}));
  const taken = writes(start.carried?.answers ?? []);

  const demandRoom = (place: string, value: JsonObject): void => {
    if (!entries.has(place) && entries.size >= ORGANIZATION_ENTRIES) {
      refuse(
        'too_many',
        `The organization holds ${ORGANIZATION_ENTRIES} entries, and no more fit. Delete some that are not used.`,
      );
    }
    const bytes = sizeOf(entries, place) + size(place, value);
    if (bytes > ORGANIZATION_BYTES) {
      refuse(
        'too_large',
        `With this entry the organization's settings take ${bytes} bytes; the limit is ${ORGANIZATION_BYTES}. Delete some, or shorten it.`,
      );
    }
  };
  const put = (place: string, value: JsonObject): { created: boolean } => {
    const created = !entries.has(place);
    entries.set(place, value);
    upsertMemo({ [place]: value });
    return { created };
  };
  const remove = (place: string): { deleted: boolean } => {
    upsertMemo({ [place]: undefined });
    return { deleted: entries.delete(place) };
  };

  taken.on<PutEntry, { created: boolean }>(
    'put',
    (request) => {
      demandCollection(request.collection);
      demandRoom(placeOf(request), request.value);
    },
    (request) => put(placeOf(request), request.value),
  );

  taken.on<DeleteEntry, { deleted: boolean }>(
    'delete',
    (request) => {
      demandCollection(request.collection);
      if (!entries.has(placeOf(request)))
        refuse('not_found', `There is no entry ${request.name} in ${request.collection}.`);
    },
    (request) => remove(placeOf(request)),
  );

  taken.on<AmendEntry, { amended: boolean }>(
    'amend',
    (request) => {
      const entry = entries.get(placeOf(request));
      if (entry === undefined) refuse('not_found', `There is no entry ${request.name} in ${request.collection}.`);
      for (const [member, value] of Object.entries(request.expect ?? {}))
        if (!same(entry[member], value))
          refuse('entry_changed', `The entry ${request.name} was written meanwhile. Read it again.`);
      demandRoom(placeOf(request), { ...entry, ...request.members });
    },
    (request) => {
      const place = placeOf(request);
      put(place, { ...entries.get(place), ...request.members });
      return { amended: true };
    },
  );

  taken.on<PutKey, { created: boolean }>(
    'putKey',
    ({ name, value, adminElsewhere }) => {
      if (!adminElsewhere && value.role !== 'admin' && adminsAmong(entries).length === 0)
        refuse('admin_key_first', "The first key must be an admin's: without one nobody could make another key.");
      demandRoom(keyPlace(name), value);
    },
    ({ name, value }) => put(keyPlace(name), value),
  );

  taken.on<DeleteKey, { deleted: boolean }>(
    'deleteKey',
    ({ name, adminElsewhere }) => {
      const place = keyPlace(name);
      if (!entries.has(place)) refuse('not_found', 'There is no key with that id.');
      const admins = adminsAmong(entries);
      if (!adminElsewhere && admins.length === 1 && admins[0] === place && keysAmong(entries).length > 1)
        refuse(
          'last_admin_key',
          "This is the only admin's key, and without it nobody could make another. Make one first, or revoke all others.",
        );
    },
    ({ name }) => remove(keyPlace(name)),
  );

  await untilFull(start.historyLimit);
  return becomeNew<typeof organization>({
    ...start,
    carried: { entries: Object.fromEntries(entries), answers: taken.answers() },
  });
}

/** Keys have updates of their own, with rules of their own. */
function demandCollection(collection: OrganizationCollection): void {
  if (!ORGANIZATION_COLLECTIONS.includes(collection) || collection === 'keys')
    refuse('invalid_request', 'There is no such collection.');
}

const placeOf = (request: { collection: string; name: string }): string => `${request.collection}/${request.name}`;
const keyPlace = (id: string): string => placeOf({ collection: 'keys', name: id });

type Entries = ReadonlyMap<string, JsonObject>;

const keysAmong = (entries: Entries): string[] => [...entries.keys()].filter((place) => place.startsWith(keyPlace('')));
const adminsAmong = (entries: Entries): string[] =>
  keysAmong(entries).filter((place) => (entries.get(place) as KeyRecord).role === 'admin');

const same = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What an entry takes in the memo, about: base64 is not used for JSON, so characters count up to three bytes each. */
const size = (place: string, value: JsonObject): number => 3 * place.length + exactJsonBytes(value);

function sizeOf(entries: Entries, except: string): number {
  let bytes = 0;
  for (const [place, value] of entries) if (place !== except) bytes += size(place, value);
  return bytes;
}
