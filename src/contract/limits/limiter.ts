/**
 * The actor `gate.{org}.{hash}` limits concurrent runs (ARCHITECTURE.md §4; LANGUAGE.md §1, concurrency). It holds a
 * lease for each running run and a queue of waiting runs. The contract between src/client, the runs and
 * workflows/actors/limiter.ts. JSON only.
 *
 * A run asks its limiters itself when it begins, so only runs that exist wait in a queue. A limiter that refuses is
 * asked before the run starts, because the caller gets the refusal. The lease of a run that never started, because its
 * starter died in between, is taken back: the limiter checks on all its holders.
 */

import type { ConcurrencyConfig } from '../../definition/document/types.ts';
import type { ActorStart, Keyed, RememberedAnswers } from '../actors.ts';
import type { BorrowAnswer, BorrowRequest, ShardQuota } from './limiter-pool.ts';

export const LIMITER_WORKFLOW = 'gate';

/** Whose runs are limited: those of a definition (with one key), a user, an organization, or the whole host. */
type LimiterScope = 'workflow' | 'user' | 'organization' | 'global';

/** What happens to a run over the limit. */
export type Overflow = NonNullable<ConcurrencyConfig['overflow']>;

/** One limit that a run is under. */
export interface AppliedLimit {
  /** Workflow id of the limiter. */
  readonly gate: string;
  readonly scope: LimiterScope;
  readonly limit: number;
  readonly overflow: Overflow;
  /** How cancel-oldest ends a run. `abort` also runs the rollback (mode restart). Default: cancel. */
  readonly evict?: 'cancel' | 'abort';
  /** Slots rotate among the groups in the queue. */
  readonly group: string;
  /**
   * Names the limit as it was switched on: a limiter that does not know the name asks which runs are active already.
   */
  readonly basis?: string;
  /** The limiter is a shard of a large limit: the workflow id of its pool (limiter-pool.ts). */
  readonly lender?: string;
  /** The starter took the lease before the run started. */
  readonly taken?: true;
  /** When the lease was taken, in epoch milliseconds. A run that starts over PRESTART_LEASE_MS later asks again. */
  readonly takenAt?: number;
}

/** Refuses a take whose basis the limiter does not know. The caller sends it again with `active`. */
export const ACTIVE_RUNS_REQUIRED = 'active_wanted';

/** A run that began before the limit applied to it. */
export interface ActiveRun {
  readonly run: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/**
 * Update `take`. Repeating it is harmless: a run has one lease or one place in the queue. Refused with `limit_reached`,
 * `queue_full`, ACTIVE_RUNS_REQUIRED.
 */
export interface TakeSlot extends Keyed {
  readonly run: string;
  readonly limit: number;
  readonly overflow: Overflow;
  readonly evict?: 'cancel' | 'abort';
  readonly group: string;
  /** As in AppliedLimit. */
  readonly basis?: string;
  /** Runs that were active before the limit applied. They hold leases from this take on. */
  readonly active?: readonly ActiveRun[];
  /** When the run started, in epoch milliseconds. The newest run is the run with the latest start, whenever it asks. */
  readonly startedAt?: number;
  /** The index of the first holder that a refusal shows, going round. A repeated request shows other holders. */
  readonly shownFrom?: number;
  /** The asker's findings about the holders. Leases of closed and missing runs become free. */
  readonly seen?: HolderAnswer;
}

/** `full` equals the refusal `limit_reached`, from a limiter that has just counted the active runs. */
export type TakeAnswer =
  | { readonly as: 'granted' }
  | { readonly as: 'waiting'; readonly since: string }
  | { readonly as: 'full'; readonly reached: LimitReachedDetails };

/** The details of `limit_reached`. `holders`: some of the runs that hold a lease, runs that are ending first. */
export type LimitReachedDetails = { limit: number; active: number; waiting: number; holders: string[] };

/** The message of `limit_reached`. */
export const limitReachedMessage = (limit: number): string =>
  `${limit} ${limit === 1 ? 'run goes' : 'runs go'} already, and no more may at once. Try again when one has ended.`;

/** The answer of one limiter to one run: the result of its take, or its refusal. */
export type SlotAnswer =
  | { readonly gate: string; readonly as: 'granted' }
  | { readonly gate: string; readonly as: 'waiting'; readonly since: string }
  | { readonly gate: string; readonly as: 'refused'; readonly code: string; readonly message: string }
  | { readonly gate: string; readonly as: 'dropped' };

export interface Lease {
  readonly run: string;
  /** The time of the last take, in epoch milliseconds. */
  since: number;
  /** Order of arrival. */
  readonly seq: number;
  readonly startedAt?: number;
  /** The run is ending, or was asked to end. It holds the slot until it has ended. */
  ending?: true;
}

export interface QueuedRun {
  readonly run: string;
  readonly since: number;
  readonly seq: number;
  readonly startedAt?: number;
  readonly group: string;
}

export interface LimiterSnapshot {
  /** The value of the latest take. */
  readonly limit: number;
  /** The value of the latest take that had one. */
  readonly basis?: string;
  readonly leases: readonly Lease[];
  readonly queue: readonly QueuedRun[];
  /** Group → its last grant, as a count of grants. */
  readonly turns: { readonly [group: string]: number };
  readonly seq: number;
}

export interface LimiterStart extends ActorStart {
  readonly scope: LimiterScope;
  /** As in AppliedLimit. */
  readonly lender?: string;
  readonly carried?: {
    readonly runs: LimiterSnapshot;
    readonly share?: ShardQuota;
    readonly answers: RememberedAnswers;
  };
}

/** Signal `release`: the run is about to end. */
export interface ReleaseSlot {
  readonly run: string;
  /** The run never started, so the limiter does not wait for its end. */
  readonly unstarted?: true;
}

/** Query `order`: the waiting runs in the order in which they would get a lease, at most MAX_LISTED_QUEUE. */
export type QueueOrder = readonly string[];

/** The activity `takeSlots` asks the limiters in order, until one does not grant a lease. */
interface SlotRequest {
  readonly organizationId: string;
  readonly run: string;
  /** When the run was started, in epoch milliseconds. */
  readonly startedAt: number;
  readonly gates: readonly AppliedLimit[];
}
export interface SlotAnswers {
  readonly answers: readonly SlotAnswer[];
}

/** The activity `describeHolders`: which of the runs are closed, and which do not exist in Temporal. */
export interface HolderRequest {
  readonly runs: readonly string[];
  /** How long to wait for the first run that is about to end. */
  readonly patienceMs: number;
}
export interface HolderAnswer {
  readonly closed: readonly string[];
  /** When each run of `closed` closed, in their order, in epoch milliseconds. Absent where the times are unknown. */
  readonly closedAt?: readonly number[];
  readonly missing: readonly string[];
}

/** The activities of limiters and runs, by name. */
export interface LimiterActivities {
  takeSlots(question: SlotRequest): Promise<SlotAnswers>;
  describeHolders(question: HolderRequest): Promise<HolderAnswer>;
  borrowSlots(question: BorrowRequest): Promise<BorrowAnswer>;
}

/** Leases and queued runs of one limiter together. Continue-as-new carries them in one payload of at most 2 MB. */
export const MAX_LIMITER_ENTRIES = 5_000;
export const MAX_LISTED_QUEUE = 1_000;
/** The most holders that a refusal shows. All of them are checked before a run is refused. */
export const MAX_HOLDERS_SHOWN = 100;
/** How long a lease of a run that does not exist stays: a start takes 10 seconds at most. */
export const ABANDONED_LEASE_MS = 30_000;
/** How long a lease lasts that was taken before its run started. The starter may have died in between. */
export const PRESTART_LEASE_MS = 20_000;
