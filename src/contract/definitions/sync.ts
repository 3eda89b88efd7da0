/**
 * The actor `sync.{org}.{hash}`: the definitions that syncs of one set have written. A sync
 * deletes definitions that are no longer in its set. Lists may lag; this actor does not. JSON only.
 */
import type { ActorStart, Keyed, RememberedAnswers } from '../actors.ts';

export const SYNC_WORKFLOW = 'sync';

/** The set of syncs without a name. */
export const DEFAULT_SET = 'default';
/** The most definitions of one set. */
export const MAX_SYNCED = 20_000;

export interface SyncStart extends ActorStart {
  /** The name of the set. */
  readonly origin: string;
  readonly carried?: { readonly slugs: readonly string[]; readonly answers: RememberedAnswers };
}

/** Update `change`. Refused with `too_many`. */
export interface ChangeSynced extends Keyed {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** The set after the change. The query `slugs` answers the same. */
export interface SyncedAnswer {
  readonly slugs: readonly string[];
}
