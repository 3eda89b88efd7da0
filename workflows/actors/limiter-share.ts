/**
 * The share that a shard has of a large limit (src/contract/lender.ts): when it asks the lender, and for what. All
 * functions are pure.
 */
import type { BorrowQuestion, Lent, Share } from '../../src/contract/lender.ts';

/** What a shard of a limit knows beside its runs. */
export interface Borrowing extends Share {
  readonly lender: string;
  readonly organizationId: string;
}

/** The runs of a shard, as far as its share depends on them. */
export interface Demand {
  readonly active: number;
  readonly waiting: number;
}

/** The shortest time between two requests: runs that come meanwhile are asked for together. */
const LEAST_PAUSE_MS = 50;
const MOST_PAUSE_MS = 2_000;
const PAUSE_FACTOR = 2;
/** The time between two requests that only give back what is not used. */
const GIVE_BACK_MS = 1_000;
const IDLE_MS = 30_000;
/** The part of the limit that a shard takes for runs to come. */
const SPARE_PART = 64;

const spareOf = ({ limit }: Share): number => Math.ceil(limit / SPARE_PART);

/** The slots that the shard may give leases for. */
export const usableOf = ({ lent, cap }: Share): number => Math.min(lent, cap);

/** When the shard asks the lender next. Undefined: not until something changes. */
export function asksAt(share: Borrowing, { active, waiting }: Demand, changedAt: number): number | undefined {
  const soonest = share.askedAt + LEAST_PAUSE_MS;
  if (share.isTold) return soonest;
  if (waiting > 0 && active >= usableOf(share)) return share.askedAt + share.pauseMs;
  const unused = share.lent - active;
  if (unused > 0 && (share.isRecalled || share.lent > share.cap)) return soonest;
  if (unused > 2 * spareOf(share)) return share.askedAt + GIVE_BACK_MS;
  if (active + waiting === 0 && share.lent > 0) return changedAt + IDLE_MS;
  return undefined;
}

/** The request to the lender. Until its answer the shard uses no more than it says to keep. */
export function ask(
  share: Borrowing,
  { active, waiting }: Demand,
  shard: string,
  now: number,
): { readonly share: Borrowing; readonly question: BorrowQuestion } {
  const { lender, organizationId, limit } = share;
  const isIdle = active + waiting === 0;
  const spare = isIdle || share.isRecalled ? 0 : spareOf(share);
  const keeps = Math.min(share.lent, Math.max(active, Math.min(share.cap, active + waiting + spare)));
  const seq = Math.max(share.seq + 1, now);
  return {
    share: { ...share, lent: keeps, seq, askedAt: now, isTold: false, isRecalled: false },
    question: {
      organizationId,
      lender,
      shard,
      seq,
      limit,
      keeps,
      waits: Math.max(0, active + waiting - keeps),
      spare: Math.max(0, Math.min(spare, active + waiting + spare - keeps)),
    },
  };
}

/** The answer of the lender. Who got too little waits longer before it asks again, unless it is told. */
export function borrowed(share: Borrowing, { lent, cap }: Lent, { active, waiting }: Demand): Borrowing {
  const isEnough = active + waiting <= Math.min(lent, cap);
  const pauseMs = isEnough ? LEAST_PAUSE_MS : Math.min(share.pauseMs * PAUSE_FACTOR, MOST_PAUSE_MS);
  return { ...share, lent, cap, pauseMs };
}

/** The share of a shard that begins, perhaps with what an execution before has carried. */
export const beginShare = (
  { lender, organizationId }: Pick<Borrowing, 'lender' | 'organizationId'>,
  carried: Share | undefined,
): Borrowing => ({
  limit: 0,
  lent: 0,
  cap: Number.MAX_SAFE_INTEGER,
  seq: 0,
  askedAt: 0,
  pauseMs: LEAST_PAUSE_MS,
  isTold: false,
  isRecalled: false,
  ...carried,
  lender,
  organizationId,
});

export function carriedShare({ lender: _lender, organizationId: _organization, ...share }: Borrowing): Share {
  return share;
}
