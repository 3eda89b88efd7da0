/**
 * The share that a shard has of a large limit (src/contract/limits/limiter-pool.ts): when it asks the limiter pool, and
 * for what. All functions are pure.
 */
import type { BorrowAnswer, BorrowRequest, ShardQuota } from '../../src/contract/limits/limiter-pool.ts';

/** What a shard of a limit knows in addition to its runs. */
export interface BorrowedShare extends ShardQuota {
  readonly lender: string;
  readonly organizationId: string;
}

/** The runs of a shard, as far as its share depends on them. */
interface Demand {
  readonly active: number;
  readonly waiting: number;
}

/** The shortest time between two requests: runs that come meanwhile are asked for together. */
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2_000;
const PAUSE_FACTOR = 2;
/** The time between two requests that only return unused slots. */
const RETURN_UNUSED_MS = 1_000;
const IDLE_MS = 30_000;
/** The part of the limit that a shard takes for runs to come. */
const SPARE_DIVISOR = 64;

const spareSlots = ({ limit }: ShardQuota): number => Math.ceil(limit / SPARE_DIVISOR);

/** The slots that the shard may give leases for. */
export const usableSlots = ({ lent, cap }: ShardQuota): number => Math.min(lent, cap);

/** When the shard sends its next request to the pool. Undefined: not until something changes. */
export function nextRequestAt(
  share: BorrowedShare,
  { active, waiting }: Demand,
  changedAt: number,
): number | undefined {
  const soonest = share.askedAt + MIN_PAUSE_MS;
  if (share.isTold) return soonest;
  if (waiting > 0 && active >= usableSlots(share)) return share.askedAt + share.pauseMs;
  const unused = share.lent - active;
  if (unused > 0 && (share.isRecalled || share.lent > share.cap)) return soonest;
  if (unused > 2 * spareSlots(share)) return share.askedAt + RETURN_UNUSED_MS;
  if (active + waiting === 0 && share.lent > 0) return changedAt + IDLE_MS;
  return undefined;
}

/** The request to the pool. Until it is answered the shard uses at most `keeps` slots. */
export function prepareBorrow(
  share: BorrowedShare,
  { active, waiting }: Demand,
  shard: string,
  now: number,
): { readonly share: BorrowedShare; readonly request: BorrowRequest } {
  const { lender, organizationId, limit } = share;
  const isIdle = active + waiting === 0;
  const spare = isIdle || share.isRecalled ? 0 : spareSlots(share);
  const keeps = Math.min(share.lent, Math.max(active, Math.min(share.cap, active + waiting + spare)));
  const seq = Math.max(share.seq + 1, now);
  return {
    share: { ...share, lent: keeps, seq, askedAt: now, isTold: false, isRecalled: false },
    request: {
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

/** The answer of the pool. A shard that got too few slots backs off, until the pool signals that it has free ones. */
export function applyLoan(
  share: BorrowedShare,
  { lent, cap }: BorrowAnswer,
  { active, waiting }: Demand,
): BorrowedShare {
  const isEnough = active + waiting <= Math.min(lent, cap);
  const pauseMs = isEnough ? MIN_PAUSE_MS : Math.min(share.pauseMs * PAUSE_FACTOR, MAX_PAUSE_MS);
  return { ...share, lent, cap, pauseMs };
}

/** The share of a shard that begins, perhaps with what an execution before has carried. */
export const initialShare = (
  { lender, organizationId }: Pick<BorrowedShare, 'lender' | 'organizationId'>,
  carried: ShardQuota | undefined,
): BorrowedShare => ({
  limit: 0,
  lent: 0,
  cap: Number.MAX_SAFE_INTEGER,
  seq: 0,
  askedAt: 0,
  pauseMs: MIN_PAUSE_MS,
  isTold: false,
  isRecalled: false,
  ...carried,
  lender,
  organizationId,
});

export function carriedShare({ lender: _lender, organizationId: _organization, ...share }: BorrowedShare): ShardQuota {
  return share;
}
