/**
 * A large limit is divided among limiters, its shards, so that no single workflow handles every run. Each run asks one
 * shard, chosen by the run's id. A shard leases slots to runs, and borrows them in batches from the pool, the actor
 * `lender`, whose id is that of the limit. The contract between src/client, workflows/actors/limiter-pool.ts and
 * workflows/actors/limiter.ts. JSON only.
 *
 * The shards together never use more than the limit: the pool counts a slot as lent from before the shard may use it
 * until after the shard has given it back.
 */

import type { ActorStart, Keyed, RememberedAnswers } from '../actors.ts';
import { shortHash } from '../workflow-ids.ts';

export const LIMITER_POOL_WORKFLOW = 'lender';

/** The shards of a limit. The number never changes: a run keeps its shard. */
export const SHARD_COUNT = 16;

/** The workflow id of a run's shard of that limit. */
export const shardId = (pool: string, run: string): string =>
  `${pool}.s${Number.parseInt(shortHash(run).slice(0, 8), 16) % SHARD_COUNT}`;

/**
 * Update `borrow`: what the shard keeps of the slots lent to it, and what it needs. Until it is answered the shard
 * uses at most `keeps` slots. The same `seq` again gets the same answer, and an earlier one changes nothing.
 */
export interface BorrowSlots extends Keyed {
  readonly shard: string;
  /** Grows with each request of a shard, also of a shard that was terminated and began anew: epoch milliseconds. */
  readonly seq: number;
  /** The whole limit, in its value that the shard knows. */
  readonly limit: number;
  readonly keeps: number;
  /** Runs that wait at the shard. */
  readonly waits: number;
  /** Slots that it would take besides, for runs to come. */
  readonly spare: number;
}

/**
 * `lent`: the slots that the shard has from now on. It gives leases up to `cap`, which is less where it has to give
 * some back.
 */
export interface BorrowAnswer {
  readonly lent: number;
  readonly cap: number;
}

/** Signals of the pool to a shard: it has free slots again; another shard needs what this one does not use. */
export const LENDABLE_SIGNAL = 'lendable';
export const RECALLED_SIGNAL = 'recalled';

export interface ShardLoan {
  readonly shard: string;
  readonly seq: number;
  readonly lent: number;
  readonly cap: number;
  /** Runs that wait there for slots that the pool did not have. */
  readonly lacks: number;
  /** It got the signal that there are free slots, and has not asked since. */
  readonly isTold?: true;
}

export interface LimiterPoolStart extends ActorStart {
  readonly carried?: {
    readonly limit: number;
    readonly loans: readonly ShardLoan[];
    readonly answers: RememberedAnswers;
  };
}

/** The activity `borrowSlots`. */
export interface BorrowRequest extends Omit<BorrowSlots, 'key'> {
  readonly organizationId: string;
  readonly lender: string;
}

/** What a shard knows of its loan. */
export interface ShardQuota extends BorrowAnswer {
  /** The whole limit. */
  readonly limit: number;
  readonly seq: number;
  /** When it asked last, and the pause until it asks again, if it got too little. */
  readonly askedAt: number;
  readonly pauseMs: number;
  /** The pool has slots again, or the limit has changed. */
  readonly isTold: boolean;
  /** Another shard needs what this one does not use. */
  readonly isRecalled: boolean;
}
