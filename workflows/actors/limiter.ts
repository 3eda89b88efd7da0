/**
 * The actor `gate.{org}.{hash}`: it limits how many runs are active concurrently (ARCHITECTURE.md §4). lease-queue.ts
 * has the leases and the queue.
 *
 * A run sends the signal `release` before it ends. Its lease is free once Temporal says that the run has closed. A run
 * that was terminated sends nothing, so the limiter asks Temporal about its holders: often while a run waits, rarely
 * while none does. It ends when it has held nothing for a minute.
 */

import {
  ACTIVE_RUNS_REQUIRED,
  type HolderAnswer,
  type HolderRequest,
  type LimiterStart,
  limitReachedMessage,
  MAX_LIMITER_ENTRIES,
  type QueueOrder,
  type ReleaseSlot,
  type TakeAnswer,
  type TakeSlot,
} from '../../src/contract/limits/limiter.ts';
import { type BorrowAnswer, LENDABLE_SIGNAL, RECALLED_SIGNAL } from '../../src/contract/limits/limiter-pool.ts';
import {
  type Actor,
  type ActorCall,
  type Effect,
  type NextStep,
  type Operation,
  type Refusal,
  refuse,
  type SignalOperation,
  type StateChange,
} from './actor.ts';
import { LeaseQueue, type LimiterNotice } from './lease-queue.ts';
import {
  applyLoan,
  type BorrowedShare,
  carriedShare,
  initialShare,
  nextRequestAt,
  prepareBorrow,
  usableSlots,
} from './limiter-share.ts';

/** An empty limiter ends after this. */
const IDLE_MS = 60_000;
/** The pause before the first holder check after a change, while a run waits or is ending. Later pauses are longer. */
const FIRST_PAUSE_MS = 1_000;
const PAUSE_FACTOR = 1.5;
const MAX_PAUSE_MS = 60_000;
/** The pause while no run waits or is ending. */
const UNCONTENDED_PAUSE_MS = 300_000;
/** The most runs in one holder check. */
const MAX_HOLDERS_PER_CHECK = 200;
/** How long a holder check waits for runs that are about to end. */
const ENDING_WAIT_MS = 2_000;

interface LimiterActorState {
  readonly start: Pick<LimiterStart, 'scope'> & { readonly workflowId: string };
  /** Never modified: operations work on a copy. */
  readonly runs: LeaseQueue;
  /** Runs that have signalled that they are ending, and were not checked since. */
  readonly uncheckedEnding: ReadonlySet<string>;
  /** When the last change was. */
  readonly changedAt: number;
  /** When the holders were checked last, how many were checked so far, and the pause until the next check. */
  readonly checkedAt: number;
  readonly checkedCount: number;
  readonly pauseMs: number;
  /** Of a shard of a large limit. */
  readonly share?: BorrowedShare;
}

const take: Operation<LimiterActorState, TakeSlot, TakeAnswer> = (before, originalRequest, now) => {
  const { state, request } = limitToShare(before, originalRequest);
  const refused = takeRefused(state.runs, request, now);
  if (refused !== undefined) return refused;
  const runs = state.runs.copy();
  runs.countActiveRuns(request);
  // The active runs are written down now, which a refusal of the update would not do.
  if (isFull(runs, request, now))
    return { ...withRuns(state, runs, now), answer: { as: 'full', reached: limitReachedDetails(runs, request) } };
  const notices: LimiterNotice[] = [];
  const verdict = runs.take(request, now, notices);
  const answer: TakeAnswer =
    verdict.as === 'waiting' ? { as: 'waiting', since: new Date(verdict.since).toISOString() } : { as: 'granted' };
  return { ...withRuns(state, runs, now, notices), answer };
};

/** A shard gives leases of its share only. */
function limitToShare(
  state: LimiterActorState,
  request: TakeSlot,
): { readonly state: LimiterActorState; readonly request: TakeSlot } {
  const { share } = state;
  if (share === undefined) return { state, request };
  const { limit } = request;
  const updatedShare = limit === share.limit ? share : { ...share, limit, isTold: share.limit !== 0 };
  return { state: { ...state, share: updatedShare }, request: { ...request, limit: usableSlots(share) } };
}

function takeRefused(runs: LeaseQueue, request: TakeSlot, now: number): Refusal | undefined {
  if (runs.knows(request.run)) return undefined;
  if (runs.needsActiveRuns(request)) return refuse(ACTIVE_RUNS_REQUIRED, 'Say which runs are active already.');
  if (isFull(runs, request, now) && request.active === undefined)
    return refuse('limit_reached', limitReachedMessage(request.limit), limitReachedDetails(runs, request));
  if (!runs.hasRoom)
    return refuse(
      'queue_full',
      `${MAX_LIMITER_ENTRIES} runs go or wait already, and no more can wait. Try again later.`,
    );
  return undefined;
}

/** Whether there is no lease for a request that must not wait in the queue. */
const isFull = (runs: LeaseQueue, request: TakeSlot, now: number): boolean =>
  (request.overflow === 'reject' || request.overflow === 'cancel-newest') &&
  !runs.knows(request.run) &&
  runs.outcomeOfTake(request, now).as === 'full';

const limitReachedDetails = (runs: LeaseQueue, { limit, shownFrom }: TakeSlot) => ({
  ...runs.limitDetails(shownFrom),
  limit,
});

const release: SignalOperation<LimiterActorState> = (state, payload, now) => {
  const request = payload as ReleaseSlot | undefined;
  if (typeof request?.run !== 'string') return { state };
  if (request.unstarted === true) return releaseLeases(state, [request.run], now);
  const runs = state.runs.copy();
  const uncheckedEnding = runs.markEnding(request.run)
    ? new Set([...state.uncheckedEnding, request.run])
    : state.uncheckedEnding;
  return withRuns({ ...state, uncheckedEnding }, runs, now);
};

/** These runs have ended, or never were. Their leases go to the next in the queue. */
function releaseLeases(
  state: LimiterActorState,
  ended: readonly string[],
  now: number,
): StateChange<LimiterActorState> {
  const runs = state.runs.copy();
  const notices: LimiterNotice[] = [];
  runs.removeRuns(ended);
  runs.grant(now, notices);
  return withRuns(state, runs, now, notices);
}

function withRuns(
  state: LimiterActorState,
  runs: LeaseQueue,
  now: number,
  notices: readonly LimiterNotice[] = [],
): StateChange<LimiterActorState> {
  return {
    state: { ...state, runs, changedAt: now, pauseMs: FIRST_PAUSE_MS },
    effects: effectsOf(notices, state),
  };
}

function effectsOf(notices: readonly LimiterNotice[], { start }: LimiterActorState): Effect[] {
  return notices.map((notice) => {
    const workflowId = notice.run;
    if (notice.type === 'granted')
      return { type: 'signal', workflowId, name: 'granted', payload: { gate: start.workflowId } };
    return notice.how === 'abort'
      ? { type: 'signal', workflowId, name: 'abort', payload: { reason: 'A newer run took its place.' } }
      : { type: 'cancel', workflowId };
  });
}

/** Asks Temporal about runs, and frees the leases of those that have ended. */
function checkHolders(runIds: readonly string[], patienceMs: number): ActorCall<LimiterActorState> {
  const argument: HolderRequest = { runs: runIds, patienceMs };
  return {
    activity: 'describeHolders',
    argument,
    done: (state, answer, calledAt, now) => {
      const ended = state.runs.endedRuns(answer as HolderAnswer, calledAt);
      if (ended.length === 0) return { state };
      const change = releaseLeases(state, ended, now);
      if (patienceMs === 0) return change;
      // The others were about to end as well, and may have ended by now.
      const ending = runIds.filter((run) => change.state.runs.isEnding(run));
      return {
        ...change,
        state: { ...change.state, uncheckedEnding: new Set([...change.state.uncheckedEnding, ...ending]) },
      };
    },
  };
}

function next(state: LimiterActorState, now: number): NextStep {
  const { uncheckedEnding } = state;
  const borrowAt = nextBorrowAt(state);
  if (uncheckedEnding.size > 0 || (borrowAt !== undefined && borrowAt <= now)) return 'act';
  const at = nextHolderCheckAt(state, now);
  if (borrowAt === undefined) return at;
  return typeof at === 'object' && at.at < borrowAt ? at : { at: borrowAt };
}

const nextBorrowAt = ({ share, runs, changedAt }: LimiterActorState): number | undefined =>
  share === undefined ? undefined : nextRequestAt(share, runs, changedAt);

/** When the holders are checked next, or the end. */
function nextHolderCheckAt({ runs, changedAt, checkedAt, pauseMs }: LimiterActorState, now: number): NextStep {
  if (runs.isEmpty) return now < changedAt + IDLE_MS ? { at: changedAt + IDLE_MS } : 'end';
  const isAwaited = runs.waiting > 0 || runs.ending.length > 0;
  return { at: checkedAt + (isAwaited ? pauseMs : UNCONTENDED_PAUSE_MS) };
}

/** Borrows slots from the pool, or gives some back. */
function borrowSlots(
  state: LimiterActorState,
  share: BorrowedShare,
  now: number,
): StateChange<LimiterActorState> & { readonly call: ActorCall<LimiterActorState> } {
  const requested = prepareBorrow(share, state.runs, state.start.workflowId, now);
  const runs = state.runs.copy();
  runs.limit = usableSlots(requested.share);
  return {
    state: { ...state, runs, share: requested.share },
    call: {
      activity: 'borrowSlots',
      argument: requested.request,
      done: (later, answer, _calledAt, doneAt) => {
        if (later.share === undefined) return { state: later };
        const runsAfter = later.runs.copy();
        const newShare = applyLoan(later.share, answer as BorrowAnswer, runsAfter);
        runsAfter.limit = usableSlots(newShare);
        const notices: LimiterNotice[] = [];
        runsAfter.grant(doneAt, notices);
        return { state: { ...later, runs: runsAfter, share: newShare }, effects: effectsOf(notices, later) };
      },
    },
  };
}

/** A signal of the pool. */
const setShareFlag =
  (flag: Pick<BorrowedShare, 'isTold'> | Pick<BorrowedShare, 'isRecalled'>): SignalOperation<LimiterActorState> =>
  (state) => ({
    state: state.share === undefined ? state : { ...state, share: { ...state.share, ...flag } },
  });

function act(
  state: LimiterActorState,
  now: number,
): StateChange<LimiterActorState> & { readonly call?: ActorCall<LimiterActorState> } {
  const borrowAt = nextBorrowAt(state);
  if (state.share !== undefined && borrowAt !== undefined && borrowAt <= now)
    return borrowSlots(state, state.share, now);
  if (state.uncheckedEnding.size > 0)
    return {
      state: { ...state, uncheckedEnding: new Set() },
      call: checkHolders([...state.uncheckedEnding], ENDING_WAIT_MS),
    };
  if (state.runs.isEmpty) return { state };
  const runIds = state.runs.holders(MAX_HOLDERS_PER_CHECK, state.checkedCount);
  const pauseMs = Math.min(state.pauseMs * PAUSE_FACTOR, MAX_PAUSE_MS);
  return {
    state: { ...state, pauseMs, checkedAt: now, checkedCount: state.checkedCount + runIds.length },
    call: checkHolders(runIds, 0),
  };
}

export const limiterActor: Actor<LimiterStart, LimiterActorState> = {
  begin: ({ scope, organizationId, lender, carried }, { now, workflowId }) => {
    const runs = new LeaseQueue(carried?.runs);
    return {
      ...(lender === undefined ? {} : { share: initialShare({ lender, organizationId }, carried?.share) }),
      start: { scope, workflowId },
      runs,
      uncheckedEnding: new Set(runs.ending),
      changedAt: now,
      checkedAt: now,
      checkedCount: 0,
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
    [LENDABLE_SIGNAL]: setShareFlag({ isTold: true }),
    [RECALLED_SIGNAL]: setShareFlag({ isRecalled: true }),
  },
  queries: { order: ({ runs }): QueueOrder => runs.queueOrder() },
  next,
  act,
  targetGone: (state, run, now) => releaseLeases(state, [run], now),
  details: ({ start, runs }) => `${start.scope}: ${runs.active} of ${runs.limit} run, ${runs.waiting} wait.`,
};
