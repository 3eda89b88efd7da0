/**
 * The actor `trigger.{org}.{id}` (ARCHITECTURE.md §4): the contract between src/client, which writes to it, and
 * workflows/actors/trigger.ts, which implements it. JSON only; it follows the rules of actors.ts.
 */

import type { TriggerDefinition } from '../../definition/document/types.ts';
import type { ActorStart, Keyed, RememberedAnswers } from '../actors.ts';

export const TRIGGER_WORKFLOW = 'trigger';
/** The signal that reports the outcome of a firing to its trigger. */
export const FIRED_SIGNAL = 'fired';

/** The content of a trigger, without its origin. Secrets in its config are references. */
export type TriggerSpec = Omit<TriggerDefinition, 'enabled'> & { readonly enabled: boolean };

/** The member `trigger` of the memo. */
export interface Trigger extends TriggerSpec {
  /** `{workflow}.{name}` at the time when it was made. */
  readonly id: string;
  /** The slug of the workflow that it starts. */
  readonly workflow: string;
  readonly source: TriggerSource;
  /** Increases with every write: schedules and webhook paths must be made from the latest revision. */
  readonly revision: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Who wrote it last, and who made it: its runs count to this person. */
  readonly by?: string;
  readonly owner?: string;
}

/** The person to whom the trigger's runs count. Empty while there are no persons. */
export const ownerOfTrigger = ({ owner, by = '' }: Pick<Trigger, 'owner' | 'by'>): string => owner ?? by;

/**
 * The origin of a trigger: a definition, whose revision says what the trigger is and whether it is enabled, or the API.
 */
export type TriggerSource =
  | { readonly of: 'definition'; readonly revision: number; readonly enabled: boolean }
  | { readonly of: 'api' };

/** Times of a schedule that a person asked to backfill: their runs count to this person. */
export interface BackfillNote {
  /** ISO 8601, both included. */
  readonly start: string;
  readonly end: string;
  /** ISO 8601: the time of the request. */
  readonly at: string;
  readonly by: string;
}

/** Update `backfilled`, before the schedule is asked. Refused with `not_found`. */
export interface NoteBackfill extends Keyed {
  readonly note: BackfillNote;
}

/** The most requests that are remembered. The oldest are dropped. */
export const MAX_BACKFILL_NOTES = 50;

/** The outcome of one firing, or of several with the same outcome. */
export interface Firing {
  /** ISO 8601. */
  readonly at: string;
  readonly outcome: 'started' | 'repeated' | 'debounced' | 'refused';
  /** The number of firings. Default: 1. */
  readonly count?: number;
  readonly executionId?: string;
  /** The code of a refusal. */
  readonly code?: string;
  readonly message?: string;
}

/** The most firings that are listed. */
export const MAX_RECENT_FIRINGS = 20;

/** The member `fired` of the memo. */
export interface TriggerRecord {
  /** Runs that were started. */
  readonly started: number;
  /** Firings for which the run existed already. */
  readonly repeated: number;
  /** Firings that were delayed, since more may arrive. */
  readonly debounced: number;
  readonly refused: number;
  readonly lastRunAt?: string;
  readonly lastExecutionId?: string;
  readonly last?: Omit<Firing, 'count'>;
}

export const NEVER_FIRED: TriggerRecord = { started: 0, repeated: 0, debounced: 0, refused: 0 };

type TriggerClaims = readonly { readonly claim: string; readonly until: number }[];

export interface TriggerState {
  readonly trigger: Trigger | null;
  /** The revision of the last write. It never decreases, even across a deletion. */
  readonly revision: number;
  /** The definition's revision that deleted the trigger: older writes of the definition do not restore it. */
  readonly droppedAt: number;
  /** Definitions that are being written, and until when their claims hold (epoch milliseconds). */
  readonly claims?: TriggerClaims;
  readonly fired: TriggerRecord;
  /** Newest first, at most MAX_RECENT_FIRINGS. */
  readonly recent?: readonly Firing[];
  readonly backfills?: readonly BackfillNote[];
  readonly answers: RememberedAnswers;
}

export interface TriggerStart extends ActorStart {
  readonly id: string;
  readonly workflow: string;
  readonly carried?: TriggerState;
}

/**
 * Update `claim`: reserves the name for a definition that is about to be written, until the definition is written or
 * `release` says that it was refused. The API cannot make a trigger of that name meanwhile. Refused with
 * `trigger_exists` where the API has made one.
 */
export interface ClaimTrigger extends Keyed {
  /** The owner of the claim: any unique text. */
  readonly claim: string;
}
export interface ReleaseTrigger extends ClaimTrigger {}

/** The answer of both updates. */
export interface TriggerClaimed {
  readonly claimed: boolean;
}

/**
 * Update `put`, by a write of the definition. A revision older than the last changes nothing, and the answer is null
 * where the trigger was dropped since. Refused with `trigger_exists` where the API has made one.
 */
export interface PutTrigger extends Keyed {
  readonly revision: number;
  /** The author of the definition's write. */
  readonly by?: string;
  readonly spec: TriggerSpec;
}

/** Update `create`, through the API. Refused with `trigger_exists`. */
export interface CreateTrigger extends Keyed {
  readonly spec: TriggerSpec;
  readonly by?: string;
}

/**
 * Update `change`, through the API: the given members. Refused with `not_found`, and with `trigger_of_definition` for
 * any member but `enabled` of a definition's trigger.
 */
export interface ChangeTrigger extends Keyed {
  /** Null removes a member. */
  readonly change: { readonly [Member in keyof TriggerSpec]?: TriggerSpec[Member] | null };
  readonly by?: string;
}

/**
 * Update `remove`. `definition`: by the definition's write of that revision, which must not be older than the last one;
 * without it, through the API. Answers the removed trigger, or null if none was removed.
 * Refused with `not_found` and `trigger_of_definition` where the API asks.
 */
export interface RemoveTrigger extends Keyed {
  readonly definition?: number;
  /** ISO 8601: triggers that the API made after this time stay. */
  readonly until?: string;
}

/**
 * How long a removed trigger is remembered, for late writes, and how long an unreleased claim lasts, for writers that
 * died.
 */
export const TRIGGER_RETENTION_MS = 10 * 60 * 1000;

/** The tag by which events of that name find their triggers. */
export const eventTag = (name: string): string => `event:${name}`;
