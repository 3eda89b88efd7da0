/**
 * The actor `gate.{org}.{hash}`: how many runs go at the same time (ARCHITECTURE.md §4). limiter-state.ts has the
 * leases and the queue.
 *
 * A run sends the signal `release` before it ends. Its lease is free once Temporal says that the run has closed. A run
 * that was terminated sends nothing, so the limiter asks Temporal about its holders: often while a run waits, rarely
 * while none does. It ends when it has held nothing for a minute.
 */
import { LENDABLE_SIGNAL, type Lent, RECALLED_SIGNAL } from '../../src/contract/lender.ts';
import {
  ACTIVE_WANTED,
  type GateStart,
  type HolderAnswer,
  type HolderQuestion,
  limitReached,
  MOST_HELD,
  type QueueOrder,
  type ReleaseSlot,
  type TakeAnswer,
  type TakeSlot,
} from '../../src/contract/limiter.ts';
import {
  type Actor,
  type Call,
  type Change,
  type Effect,
  type Next,
  type Operation,
  type Refusal,
  refuse,
  type SignalOperation,
} from './actor.ts';
import { ask, asksAt, type Borrowing, beginShare, borrowed, carriedShare, usableOf } from './limiter-share.ts';
import { type LimiterNotice, LimiterState } from './limiter-state.ts';

/** An empty limiter ends after this. */
const IDLE_MS = 60_000;
/** The pause before the first question after a change, while a run waits or is ending. Each further pause is longer. */
const FIRST_PAUSE_MS = 1_000;
const PAUSE_FACTOR = 1.5;
const MAX_PAUSE_MS = 60_000;
/** The pause while no run waits or is ending. */
const QUIET_PAUSE_MS = 300_000;
/** Runs in one question. */
const MAX_ASKED = 200;
/** How long one question waits for runs that are about to end. */
const PATIENCE_MS = 2_000;

interface Limiter {
  readonly start: Pick<GateStart, 'scope'> & { readonly workflowId: string };
  /** Never modified: operations work on a copy. */
  readonly runs: LimiterState;
  /** Runs that have said that they are ending, and were not asked about since. */
  readonly leaving: ReadonlySet<string>;
  /** When the last change was. */
  readonly changedAt: number;
  /** When the holders were asked about last, how many were, and the pause until the next question. */
  readonly askedAt: number;
  readonly asked: number;
  readonly pauseMs: number;
  /** Of a shard of a large limit. */
  readonly share?: Borrowing;
}

const take: Operation<Limiter, TakeSlot, TakeAnswer> = (whole, asked, now) => {
  const { state, request } = withinShare(whole, asked);
  const refused = takeRefused(state.runs, request, now);
  if (refused !== undefined) return refused;
  const runs = state.runs.copy();
  runs.count(request);
  // The active runs are written down now, which a refusal of the update would not do.
  if (isFull(runs, request, now))
    return { ...changed(state, runs, now), answer: { as: 'full', reached: reached(runs, request) } };
  const notices: LimiterNotice[] = [];
  const verdict = runs.take(request, now, notices);
  const answer: TakeAnswer =
    verdict.as === 'waiting' ? { as: 'waiting', since: new Date(verdict.since).toISOString() } : { as: 'granted' };
  return { ...changed(state, runs, now, notices), answer };
};

/** A shard gives leases of its share only. */
function withinShare(state: Limiter, request: TakeSlot): { readonly state: Limiter; readonly request: TakeSlot } {
  const { share } = state;
  if (share === undefined) return { state, request };
  const { limit } = request;
  const heard = limit === share.limit ? share : { ...share, limit, isTold: share.limit !== 0 };
  return { state: { ...state, share: heard }, request: { ...request, limit: usableOf(share) } };
}

function takeRefused(runs: LimiterState, request: TakeSlot, now: number): Refusal | undefined {
  if (runs.knows(request.run)) return undefined;
  if (runs.wantsActive(request)) return refuse(ACTIVE_WANTED, 'Say which runs are active already.');
  if (isFull(runs, request, now) && request.active === undefined)
    return refuse('limit_reached', limitReached(request.limit), reached(runs, request));
  if (!runs.hasRoom)
    return refuse('queue_full', `${MOST_HELD} runs go or wait already, and no more can wait. Try again later.`);
  return undefined;
}

/** Whether there is no lease for a request that takes no place in the queue. */
const isFull = (runs: LimiterState, request: TakeSlot, now: number): boolean =>
  (request.overflow === 'reject' || request.overflow === 'cancel-newest') &&
  !runs.knows(request.run) &&
  runs.verdictOn(request, now).as === 'full';

const reached = (runs: LimiterState, { limit, shownFrom }: TakeSlot) => ({ ...runs.reached(shownFrom), limit });

const release: SignalOperation<Limiter> = (state, payload, now) => {
  const request = payload as ReleaseSlot | undefined;
  if (typeof request?.run !== 'string') return { state };
  if (request.unstarted === true) return forgotten(state, [request.run], now);
  const runs = state.runs.copy();
  const leaving = runs.leaving(request.run) ? new Set([...state.leaving, request.run]) : state.leaving;
  return changed({ ...state, leaving }, runs, now);
};

/** These runs have ended, or never were. Their leases go to the next in the queue. */
function forgotten(state: Limiter, ended: readonly string[], now: number): Change<Limiter> {
  const runs = state.runs.copy();
  const notices: LimiterNotice[] = [];
  runs.forget(ended);
  runs.grant(now, notices);
  return changed(state, runs, now, notices);
}

function changed(
  state: Limiter,
  runs: LimiterState,
  now: number,
  notices: readonly LimiterNotice[] = [],
): Change<Limiter> {
  return {
    state: { ...state, runs, changedAt: now, pauseMs: FIRST_PAUSE_MS },
    effects: effectsOf(notices, state),
  };
}

function effectsOf(notices: readonly LimiterNotice[], { start }: Limiter): Effect[] {
  return notices.map((notice) => {
    const workflowId = notice.run;
    if (notice.say === 'granted')
      return { type: 'signal', workflowId, name: 'granted', payload: { gate: start.workflowId } };
    return notice.how === 'abort'
      ? { type: 'signal', workflowId, name: 'abort', payload: { reason: 'A newer run took its place.' } }
      : { type: 'cancel', workflowId };
  });
}

/** Asks Temporal about runs, and frees the leases of those that have ended. */
function question(asked: readonly string[], patienceMs: number): Call<Limiter> {
  const argument: HolderQuestion = { runs: asked, patienceMs };
  return {
    activity: 'describeHolders',
    argument,
    done: (state, answer, calledAt, now) => {
      const gone = state.runs.gone(answer as HolderAnswer, calledAt);
      if (gone.length === 0) return { state };
      const change = forgotten(state, gone, now);
      if (patienceMs === 0) return change;
      // The others were about to end as well, and may have ended by now.
      const ending = asked.filter((run) => change.state.runs.isEnding(run));
      return { ...change, state: { ...change.state, leaving: new Set([...change.state.leaving, ...ending]) } };
    },
  };
}

function next(state: Limiter, now: number): Next {
  const { leaving } = state;
  const borrowAt = borrowsAt(state);
  if (leaving.size > 0 || (borrowAt !== undefined && borrowAt <= now)) return 'act';
  const at = holdersAt(state, now);
  if (borrowAt === undefined) return at;
  return typeof at === 'object' && at.at < borrowAt ? at : { at: borrowAt };
}

const borrowsAt = ({ share, runs, changedAt }: Limiter): number | undefined =>
  share === undefined ? undefined : asksAt(share, runs, changedAt);

/** When the holders are asked about, or the end. */
function holdersAt({ runs, changedAt, askedAt, pauseMs }: Limiter, now: number): Next {
  if (runs.isEmpty) return now < changedAt + IDLE_MS ? { at: changedAt + IDLE_MS } : 'end';
  const isAwaited = runs.waiting > 0 || runs.ending.length > 0;
  return { at: askedAt + (isAwaited ? pauseMs : QUIET_PAUSE_MS) };
}

/** Asks the lender for slots, or gives some back. */
function borrowing(state: Limiter, share: Borrowing, now: number): Change<Limiter> & { readonly call: Call<Limiter> } {
  const asked = ask(share, state.runs, state.start.workflowId, now);
  const runs = state.runs.copy();
  runs.limit = usableOf(asked.share);
  return {
    state: { ...state, runs, share: asked.share },
    call: {
      activity: 'borrowSlots',
      argument: asked.question,
      done: (later, answer, _calledAt, doneAt) => {
        if (later.share === undefined) return { state: later };
        const got = later.runs.copy();
        const ours = borrowed(later.share, answer as Lent, got);
        got.limit = usableOf(ours);
        const notices: LimiterNotice[] = [];
        got.grant(doneAt, notices);
        return { state: { ...later, runs: got, share: ours }, effects: effectsOf(notices, later) };
      },
    },
  };
}

/** A message of the lender. */
const toldBy =
  (told: Pick<Borrowing, 'isTold'> | Pick<Borrowing, 'isRecalled'>): SignalOperation<Limiter> =>
  (state) => ({
    state: state.share === undefined ? state : { ...state, share: { ...state.share, ...told } },
  });

function act(state: Limiter, now: number): Change<Limiter> & { readonly call?: Call<Limiter> } {
  const borrowAt = borrowsAt(state);
  if (state.share !== undefined && borrowAt !== undefined && borrowAt <= now) return borrowing(state, state.share, now);
  if (state.leaving.size > 0)
    return {
      state: { ...state, leaving: new Set() },
      call: question([...state.leaving], PATIENCE_MS),
    };
  if (state.runs.isEmpty) return { state };
  const asked = state.runs.holders(MAX_ASKED, state.asked);
  const pauseMs = Math.min(state.pauseMs * PAUSE_FACTOR, MAX_PAUSE_MS);
  return {
    state: { ...state, pauseMs, askedAt: now, asked: state.asked + asked.length },
    call: question(asked, 0),
  };
}

export const limiterActor: Actor<GateStart, Limiter> = {
  begin: ({ scope, organizationId, lender, carried }, { now, workflowId }) => {
    const runs = new LimiterState(carried?.runs);
    return {
      ...(lender === undefined ? {} : { share: beginShare({ lender, organizationId }, carried?.share) }),
      start: { scope, workflowId },
      runs,
      leaving: new Set(runs.ending),
      changedAt: now,
      askedAt: now,
      asked: 0,
      pauseMs: FIRST_PAUSE_MS,
    };
  },
  carry: ({ runs, share }) => ({
    runs: runs.carried(),
    ...(share === undefined ? {} : { share: carriedShare(share) }),
  }),
  updates: { take },
  signals: {
    release,
    [LENDABLE_SIGNAL]: toldBy({ isTold: true }),
    [RECALLED_SIGNAL]: toldBy({ isRecalled: true }),
  },
  queries: { order: ({ runs }): QueueOrder => runs.order() },
  next,
  act,
  targetGone: (state, run, now) => forgotten(state, [run], now),
  details: ({ start, runs }) => `${start.scope}: ${runs.active} of ${runs.limit} run, ${runs.waiting} wait.`,
};
