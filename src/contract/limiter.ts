/**
 * The actor `gate.{org}.{hash}`: how many runs go at once (ARCHITECTURE.md §4; LANGUAGE.md §1, concurrency). It holds a lease for
 * each run that goes, and a queue of those that wait. The contract between the runs and src/client, which ask it, and
 * workflows/actors/limiter.ts, where it lives. JSON only.
 *
 * A run asks its gates by itself, at its start, so nothing waits in a queue that does not exist. Only gates that refuse are
 * asked before the run is started: their answer is the caller's. Such a lease may be of a run that never came to be, when its
 * starter died in between; the gate looks after all its holders, and takes back what is held by nobody.
 */

import type { ConcurrencyConfig } from '../definition/document/types.ts';
import type { ActorStart, RememberedAnswers } from './actors.ts';

export const GATE_WORKFLOW = 'gate';

/** What is limited: the runs of a definition (of one key), of a user, of an organization, of the whole host. */
export type GateScope = 'workflow' | 'user' | 'organization' | 'global';

/** What becomes of one run too many. */
export type Overflow = NonNullable<ConcurrencyConfig['overflow']>;

/** One limit that a run is under. */
export interface GateWanted {
  /** Workflow id of the gate. */
  readonly gate: string;
  readonly scope: GateScope;
  readonly limit: number;
  readonly overflow: Overflow;
  /** How cancel-oldest ends a run. `abort` also rolls back what is to be rolled back: mode restart. Default: cancel. */
  readonly evict?: 'cancel' | 'abort';
  /** Groups take turns in the queue. */
  readonly group: string;
  /** Names the limit as it was switched on: a gate that hears of it first asks which runs are active already. */
  readonly basis?: string;
  /** The run held its lease before it was started. */
  readonly taken?: true;
  /** Then: when it was asked for, in epoch milliseconds. A run that starts later than TAKEN_FOR_MS after that asks again. */
  readonly takenAt?: number;
}

/** Refuses a take whose basis the gate does not know: it is to be sent again with `active`. */
export const ACTIVE_WANTED = 'active_wanted';

/** A run that began before it was under the limit. */
export interface ActiveRun {
  readonly run: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/**
 * Update `take`, asked as often as one likes: the lease or the place of a run is one. Refused with `limit_reached`, `queue_full`,
 * ACTIVE_WANTED.
 */
export interface TakeSlot {
  readonly key: string;
  readonly run: string;
  readonly limit: number;
  readonly overflow: Overflow;
  readonly evict?: 'cancel' | 'abort';
  readonly group: string;
  /** As in GateWanted. */
  readonly basis?: string;
  /** Runs that were active before the limit counted: they hold leases from now on. */
  readonly active?: readonly ActiveRun[];
  /** When the run was started, in epoch milliseconds: the newest is the one that was started last, not that asks last. */
  readonly startedAt?: number;
  /** From which of its holders on a refusal shows them, going round: whoever asks again sees others. */
  readonly shownFrom?: number;
  /** What the asker has seen of the holders: leases of those that are closed are free, and of those that never came to be. */
  readonly seen?: HolderAnswer;
}

/** `full` is as good as the refusal `limit_reached`, from a gate that has just counted the runs which were active. */
export type TakeAnswer =
  | { readonly as: 'granted' }
  | { readonly as: 'waiting'; readonly since: string }
  | { readonly as: 'full'; readonly reached: LimitReached };

/** The details of `limit_reached`. `holders`: some of those that hold a lease, those that are ending first. */
export type LimitReached = { limit: number; active: number; waiting: number; holders: string[] };

/** The message of `limit_reached`. */
export const limitReached = (limit: number): string =>
  `${limit} ${limit === 1 ? 'run goes' : 'runs go'} already, and no more may at once. Try again when one has ended.`;

/** What one gate said to one run: the answer to its take, or its refusal. */
export type SlotAnswer =
  | { readonly gate: string; readonly as: 'granted' }
  | { readonly gate: string; readonly as: 'waiting'; readonly since: string }
  | { readonly gate: string; readonly as: 'refused'; readonly code: string; readonly message: string }
  | { readonly gate: string; readonly as: 'dropped' };

export interface Lease {
  readonly run: string;
  /** When it was asked for last, in epoch milliseconds. */
  since: number;
  /** Order of arrival. */
  readonly seq: number;
  readonly startedAt?: number;
  /** It has said that it is ending, or was asked to end; until it has, the slot is taken. */
  ending?: true;
}

export interface Waiting {
  readonly run: string;
  readonly since: number;
  readonly seq: number;
  readonly startedAt?: number;
  readonly group: string;
}

export interface GateState {
  /** As the latest asker had it. */
  readonly limit: number;
  /** Of the latest take that had one. */
  readonly basis?: string;
  readonly leases: readonly Lease[];
  readonly queue: readonly Waiting[];
  /** Group → when it was served last, as a count of grants. */
  readonly turns: { readonly [group: string]: number };
  readonly seq: number;
}

export interface GateStart extends ActorStart {
  readonly scope: GateScope;
  readonly carried?: { readonly book: GateState; readonly answers: RememberedAnswers };
}

/** Signal `release`: the run is about to end. */
export interface ReleaseSlot {
  readonly run: string;
  /** It was never started: nothing has to be waited for. */
  readonly unstarted?: true;
}

/** Signal `granted` to a run that waited. */
export interface SlotGranted {
  readonly gate: string;
}

/** Query `order`: the runs that wait, in the order in which they would go on; at most MOST_ORDERED. */
export type QueueOrder = readonly string[];

/** The activity `takeSlots`: asks the gates one after the other, until one does not let the run pass. */
export interface SlotQuestion {
  readonly organizationId: string;
  readonly run: string;
  /** Absent in older histories. */
  readonly startedAt?: number;
  readonly gates: readonly GateWanted[];
}
export interface SlotAnswers {
  readonly answers: readonly SlotAnswer[];
}

/** The activity `describeHolders`: which of the runs are closed, and which Temporal does not know. */
export interface HolderQuestion {
  readonly runs: readonly string[];
  /** How long to wait for the first of those that are about to end. */
  readonly patienceMs: number;
}
export interface HolderAnswer {
  readonly closed: readonly string[];
  /** When each of `closed` was, in their order, in epoch milliseconds. Answers that older histories hold lack it. */
  readonly closedAt?: readonly number[];
  readonly missing: readonly string[];
}

/** What gates and runs do outside, by the names under which they call it. */
export interface GateActivities {
  takeSlots(question: SlotQuestion): Promise<SlotAnswers>;
  describeHolders(question: HolderQuestion): Promise<HolderAnswer>;
}

/** Leases and places of one gate together: they are carried in one payload of at most 2 MB. */
export const MOST_HELD = 5_000;
export const MOST_ORDERED = 1_000;
/** Each of them is asked after, before a run is refused. */
export const MOST_HOLDERS_SHOWN = 100;
/** A lease of a run that does not exist is taken back after this: a start takes 10 seconds at most. */
export const ABANDONED_MS = 30_000;
/** A lease that was taken before the start is relied on for so long: whoever starts the run may have been stopped in between. */
export const TAKEN_FOR_MS = 20_000;
