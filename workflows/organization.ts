/**
 * The actor `org.{org}`: the organization's named entries (design.md §4). It never sees a secret: values are sealed
 * before they come here, and the memo, which anybody who reads Temporal can see, holds ciphertext.
 */
import { continueAsNew, upsertMemo } from '@temporalio/workflow';
import {
  type DeleteEntry,
  ORGANIZATION_BYTES,
  ORGANIZATION_COLLECTIONS,
  ORGANIZATION_ENTRIES,
  type OrganizationStart,
  type PutEntry,
} from '../src/definition/actors.ts';
import type { JsonObject } from '../src/definition/types.ts';
import { refuse, untilFull, writes } from './actor.ts';

export async function organization(start: OrganizationStart): Promise<never> {
  const entries = new Map<string, JsonObject>(Object.entries(start.carried?.entries ?? {}));
  const taken = writes(start.carried?.answers ?? []);

  taken.on<PutEntry, { created: boolean }>(
    'put',
    (request) => {
      if (!ORGANIZATION_COLLECTIONS.includes(request.collection))
        refuse('invalid_request', 'There is no such collection.');
      const place = placeOf(request);
      if (!entries.has(place) && entries.size >= ORGANIZATION_ENTRIES) {
        refuse(
          'too_many',
          `The organization holds ${ORGANIZATION_ENTRIES} entries, and no more fit. Delete some that are not used.`,
        );
      }
      const bytes = sizeOf(entries, place) + size(place, request.value);
      if (bytes > ORGANIZATION_BYTES) {
        refuse(
          'too_large',
          `With this entry the organization's settings take ${bytes} bytes; the limit is ${ORGANIZATION_BYTES}. Delete some, or shorten it.`,
        );
      }
    },
    (request) => {
      const place = placeOf(request);
      const created = !entries.has(place);
      entries.set(place, request.value);
      upsertMemo({ [place]: request.value });
      return { created };
    },
  );

  taken.on<DeleteEntry, { deleted: boolean }>(
    'delete',
    (request) => {
      if (!entries.has(placeOf(request)))
        refuse('not_found', `There is no entry ${request.name} in ${request.collection}.`);
    },
    (request) => {
      const place = placeOf(request);
      upsertMemo({ [place]: undefined });
      return { deleted: entries.delete(place) };
    },
  );

  await untilFull(start.historyLimit);
  return continueAsNew<typeof organization>({
    ...start,
    carried: { entries: Object.fromEntries(entries), answers: taken.answers() },
  });
}

const placeOf = (request: { collection: string; name: string }): string => `${request.collection}/${request.name}`;

/** What an entry takes in the memo, about: base64 is not used for JSON, so characters count up to three bytes each. */
const size = (place: string, value: JsonObject): number =>
  3 * place.length + new TextEncoder().encode(JSON.stringify(value)).length;

function sizeOf(entries: ReadonlyMap<string, JsonObject>, except: string): number {
  let bytes = 0;
  for (const [place, value] of entries) if (place !== except) bytes += size(place, value);
  return bytes;
}
