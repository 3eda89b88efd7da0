/**
 * The limiter pool (workflow type `lender`): lends the slots of one large limit to its shards, in batches
 * (src/contract/limits/limiter-pool.ts). It knows the shards, not the runs. It asks Temporal now and then which shards
 * are still open, and ends when it has lent nothing for a minute.
 */

import type { HolderAnswer, HolderRequest } from '../../src/contract/limits/limiter.ts';
import {
  type BorrowAnswer,
  type BorrowSlots,
  LENDABLE_SIGNAL,
  type LimiterPoolStart,
  RECALLED_SIGNAL,
  type ShardLoan,
} from '../../src/contract/limits/limiter-pool.ts';
import type { Actor, Effect, NextStep, Operation, StateChange } from './actor.ts';

const IDLE_MS = 60_000;
/** The time between two checks whether the shards still exist. */
const SHARD_CHECK_MS = 300_000;
/** The least time between two recalls of spare slots. */
const RECALL_MS = 100;

interface LimiterPool {
  readonly limit: number;
  /** By shard. */
  readonly loans: ReadonlyMap<string, ShardLoan>;
  readonly changedAt: number;
  readonly checkedAt: number;
  readonly recalledAt: number;
}

const sum = (numbers: Iterable<number>): number => {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
};

const borrow: Operation<LimiterPool, BorrowSlots, BorrowAnswer> = (state, request, now) => {
  const { shard, seq, limit, keeps, waits, spare } = request;
  const before = state.loans.get(shard);
  if (before?.seq === seq) return { state, answer: { lent: before.lent, cap: before.cap } };
  // A late attempt of a request whose shard has asked again since: nobody waits for the answer.
  if (before !== undefined && seq < before.seq) {
    const minimum = Math.min(keeps, before.lent);
    return { state, answer: { lent: minimum, cap: minimum } };
  }
  const others = [...state.loans.values()].filter((loan) => loan.shard !== shard);
  const lentElsewhere = sum(others.map(({ lent }) => lent));
  const free = Math.max(0, limit - lentElsewhere - keeps);
  const lackingShards = others.filter(({ lacks }) => lacks > 0);
  // The shards that lack slots get equal parts of what is free.
  const equalPart = Math.ceil(free / (lackingShards.length + 1));
  const maxLent = maxLentTo(limit, others);
  const forWaiting = Math.min(waits, equalPart, Math.max(0, maxLent - keeps));
  const forSpare = lackingShards.length > 0 ? 0 : Math.min(spare, free - forWaiting);
  const lent = keeps + forWaiting + forSpare;
  const totalLent = lentElsewhere + lent;
  // A shard over its cap gives back what becomes free. After the limit sank, all give up their part.
  const cap = Math.min(lent, maxLent, totalLent <= limit ? lent : Math.floor((lent * limit) / totalLent));
  const lacks = waits - forWaiting;
  const loans = new Map(state.loans);
  loans.set(shard, { shard, seq, lent, cap, lacks });
  const remaining = free - forWaiting - forSpare;
  const effects: Effect[] = [];
  // A shard that got the signal sends a new request. Until then it gets no second signal.
  for (const loan of lackingShards.filter(({ isTold }) => isTold !== true).slice(0, remaining)) {
    loans.set(loan.shard, { ...loan, isTold: true });
    effects.push({ type: 'signal', workflowId: loan.shard, name: LENDABLE_SIGNAL, payload: {} });
  }
  const recalls = lacks > 0 && state.recalledAt + RECALL_MS <= now;
  if (recalls)
    for (const loan of others)
      if (loan.lent > 0 && loan.lacks === 0)
        effects.push({ type: 'signal', workflowId: loan.shard, name: RECALLED_SIGNAL, payload: {} });
  return {
    state: { ...state, limit, loans, changedAt: now, recalledAt: recalls ? now : state.recalledAt },
    answer: { lent, cap },
    effects,
  };
};

/** Its share of the limit while a shard with less lacks slots. So all come to the same, where runs wait everywhere. */
function maxLentTo(limit: number, others: readonly ShardLoan[]): number {
  const fair = limit / (others.filter((loan) => loan.lent > 0 || loan.lacks > 0).length + 1);
  const isPoor = others.some((loan) => loan.lacks > 0 && loan.lent < Math.floor(fair));
  return isPoor ? Math.ceil(fair) : limit;
}

/** These shards have ended: nobody uses the slots that were lent to them. */
function removeShards(state: LimiterPool, shards: readonly string[], now: number): StateChange<LimiterPool> {
  const loans = new Map(state.loans);
  for (const shard of shards) loans.delete(shard);
  return { state: { ...state, loans, changedAt: now } };
}

const isIdle = ({ loans }: LimiterPool): boolean =>
  [...loans.values()].every(({ lent, lacks }) => lent === 0 && lacks === 0);

export const limiterPoolActor: Actor<LimiterPoolStart, LimiterPool> = {
  begin: ({ carried }, { now }) => ({
    limit: carried?.limit ?? 0,
    loans: new Map((carried?.loans ?? []).map((loan) => [loan.shard, loan])),
    changedAt: now,
    checkedAt: now,
    recalledAt: 0,
  }),
  carry: ({ limit, loans }) => ({ limit, loans: [...loans.values()] }),
  updates: { borrow },
  next: (state, now): NextStep => {
    if (!isIdle(state)) return { at: state.checkedAt + SHARD_CHECK_MS };
    return now < state.changedAt + IDLE_MS ? { at: state.changedAt + IDLE_MS } : 'end';
  },
  act: (state, now) => {
    if (isIdle(state)) return { state };
    const argument: HolderRequest = { runs: [...state.loans.keys()], patienceMs: 0 };
    return {
      state: { ...state, checkedAt: now },
      call: {
        activity: 'describeHolders',
        argument,
        done: (later, answer, calledAt, doneAt) => {
          const { closed, missing } = answer as HolderAnswer;
          // A shard that has asked since has begun anew.
          const gone = [...closed, ...missing].filter((shard) => (later.loans.get(shard)?.seq ?? 0) < calledAt);
          return removeShards(later, gone, doneAt);
        },
      },
    };
  },
  targetGone: (state, shard, now) => removeShards(state, [shard], now),
  details: ({ limit, loans }) =>
    `${sum([...loans.values()].map(({ lent }) => lent))} of ${limit} slots are lent to ${loans.size} shards.`,
};
