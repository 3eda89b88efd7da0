/** The actor `sync.{org}.{hash}`: the slugs of one set of synced definitions (src/contract/definitions/sync.ts). */
import {
  type ChangeSynced,
  MAX_SYNCED,
  type SyncedAnswer,
  type SyncStart,
} from '../../src/contract/definitions/sync.ts';
import { type Actor, type Operation, refuse } from './actor.ts';

type Slugs = ReadonlySet<string>;

const change: Operation<Slugs, ChangeSynced, SyncedAnswer> = (slugs, { add, remove }) => {
  const next = new Set([...slugs, ...add]);
  if (next.size > MAX_SYNCED)
    return refuse('too_many', `A set holds ${MAX_SYNCED} definitions at most. Divide it, and give each part a source.`);
  for (const slug of remove) next.delete(slug);
  return { state: next, answer: { slugs: [...next] } };
};

export const syncActor: Actor<SyncStart, Slugs> = {
  begin: ({ carried }) => new Set(carried?.slugs),
  carry: (slugs) => ({ slugs: [...slugs] }),
  updates: { change },
  queries: { slugs: (slugs): SyncedAnswer => ({ slugs: [...slugs] }) },
};
