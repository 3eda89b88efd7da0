/**
 * The actor `lender`: lends the slots of one large limit to its shards, in batches (src/contract/lender.ts). It hears
 * of shards, not of runs. It asks Temporal now and then which shards are still there, and ends when it has lent nothing
 * for a minute.
 */
import {
  type Borrow,
  LENDABLE_SIGNAL,
  type LenderStart,
  type Lent,
  RECALLED_SIGNAL,
  type ShardLoan,
} from '../../src/contract/lender.ts';
import type { HolderAnswer, HolderQuestion } from '../../src/contract/limiter.ts';
import type { Actor, Change, Effect, Next, Operation } from './actor.ts';

const IDLE_MS = 60_000;
/** The time between two questions whether the shards are still there. */
const LOOK_MS = 300_000;
/** Shards are reminded of their spare slots once in this time. */
const RECALL_MS = 100;

interface Lender {
  readonly limit: number;
  /** By shard. */
  readonly loans: ReadonlyMap<string, ShardLoan>;
  readonly changedAt: number;
  readonly lookedAt: number;
  readonly recalledAt: number;
}

const sum = (numbers: Iterable<number>): number => {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
};

const borrow: Operation<Lender, Borrow, Lent> = (state, request, now) => {
  const { shard, seq, limit, keeps, waits, spare } = request;
  const before = state.loans.get(shard);
  if (before?.seq === seq) return { state, answer: { lent: before.lent, cap: before.cap } };
  // A late attempt of a request whose shard has asked again since: nobody waits for the answer.
  if (before !== undefined && seq < before.seq) {
    const least = Math.min(keeps, before.lent);
    return { state, answer: { lent: least, cap: least } };
  }
  const others = [...state.loans.values()].filter((loan) => loan.shard !== shard);
  const elsewhere = sum(others.map(({ lent }) => lent));
  const free = Math.max(0, limit - elsewhere - keeps);
  const lacking = others.filter(({ lacks }) => lacks > 0);
  // The shards that lack slots get equal parts of what is free.
  const part = Math.ceil(free / (lacking.length + 1));
  const most = mostOf(limit, others);
  const forWaiting = Math.min(waits, part, Math.max(0, most - keeps));
  const forSpare = lacking.length > 0 ? 0 : Math.min(spare, free - forWaiting);
  const lent = keeps + forWaiting + forSpare;
  const all = elsewhere + lent;
  // A shard over its cap gives back what becomes free. After the limit sank, all give up their part.
  const cap = Math.min(lent, most, all <= limit ? lent : Math.floor((lent * limit) / all));
  const lacks = waits - forWaiting;
  const loans = new Map(state.loans);
  loans.set(shard, { shard, seq, lent, cap, lacks });
  const left = free - forWaiting - forSpare;
  const effects: Effect[] = [];
  // Those told ask again. Until then they are not told twice.
  for (const loan of lacking.filter(({ isTold }) => isTold !== true).slice(0, left)) {
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
function mostOf(limit: number, others: readonly ShardLoan[]): number {
  const fair = limit / (others.filter((loan) => loan.lent > 0 || loan.lacks > 0).length + 1);
  const isPoor = others.some((loan) => loan.lacks > 0 && loan.lent < Math.floor(fair));
  return isPoor ? Math.ceil(fair) : limit;
}

/** These shards are gone: nobody uses what was lent to them. */
function without(state: Lender, shards: readonly string[], now: number): Change<Lender> {
  const loans = new Map(state.loans);
  for (const shard of shards) loans.delete(shard);
  return { state: { ...state, loans, changedAt: now } };
}

const isIdle = ({ loans }: Lender): boolean =>
  [...loans.values()].every(({ lent, lacks }) => lent === 0 && lacks === 0);

export const lenderActor: Actor<LenderStart, Lender> = {
  begin: ({ carried }, { now }) => ({
    limit: carried?.limit ?? 0,
    loans: new Map((carried?.loans ?? []).map((loan) => [loan.shard, loan])),
    changedAt: now,
    lookedAt: now,
    recalledAt: 0,
  }),
  carry: ({ limit, loans }) => ({ limit, loans: [...loans.values()] }),
  updates: { borrow },
  next: (state, now): Next => {
    if (!isIdle(state)) return { at: state.lookedAt + LOOK_MS };
    return now < state.changedAt + IDLE_MS ? { at: state.changedAt + IDLE_MS } : 'end';
  },
  act: (state, now) => {
    if (isIdle(state)) return { state };
    const argument: HolderQuestion = { runs: [...state.loans.keys()], patienceMs: 0 };
    return {
      state: { ...state, lookedAt: now },
      call: {
        activity: 'describeHolders',
        argument,
        done: (later, answer, calledAt, doneAt) => {
          const { closed, missing } = answer as HolderAnswer;
          // A shard that has asked since has begun anew.
          const gone = [...closed, ...missing].filter((shard) => (later.loans.get(shard)?.seq ?? 0) < calledAt);
          return without(later, gone, doneAt);
        },
      },
    };
  },
  targetGone: (state, shard, now) => without(state, [shard], now),
  details: ({ limit, loans }) =>
    `${sum([...loans.values()].map(({ lent }) => lent))} of ${limit} slots are lent to ${loans.size} shards.`,
};
