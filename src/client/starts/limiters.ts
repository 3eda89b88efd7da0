/** Takes slots of limiters, and checks on the runs that hold them (ARCHITECTURE.md §4). */

import { setTimeout as delay } from 'node:timers/promises';
import {
  type Borrow,
  type BorrowQuestion,
  LENDER_WORKFLOW,
  type LenderStart,
  type Lent,
  shardId,
} from '../../contract/lender.ts';
import {
  ACTIVE_WANTED,
  type ActiveRun,
  GATE_WORKFLOW,
  type GateActivities,
  type GateStart,
  type GateWanted,
  type HolderAnswer,
  type HolderQuestion,
  type LimitReached,
  limitReached,
  MOST_HELD,
  type QueueOrder,
  type ReleaseSlot,
  type SlotAnswer,
  type TakeAnswer,
  type TakeSlot,
} from '../../contract/limiter.ts';
import { assert } from '../../json/assert.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { defined } from '../../json/defined.ts';
import { slotRequests } from '../../observe/metrics.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { describe, writeOrStart } from '../temporal/actor-calls.ts';
import { inGroups } from '../temporal/each-concurrently.ts';
import { perClient } from '../temporal/per-client.ts';
import { read, writeAlong } from '../temporal/rpc.ts';
import { isOpen } from '../temporal/run-status.ts';
import { type Asking, activeUnder } from './active-runs.ts';

const AT_ONCE = 10;
/** The time between two checks of runs that are about to end. */
const LOOK_MS = 25;
/** How long the answer of a limiter's queue is shared with later callers. */
const SEEN_MS = 50;
const ORDER_MS = 500;

/** A smaller limit has one limiter, which keeps the order of its queue exactly. */
export const SHARDED_FROM = 160;

/**
 * The limiter that the run asks: a shard, where the limit is divided. Limits of definitions are not, since runs that no
 * gateway starts ask them too; nor those that refuse or replace runs, since that needs to know of all runs at once.
 */
export function shardOf(wanted: GateWanted, run: string): GateWanted {
  const isDivided = wanted.scope !== 'workflow' && wanted.overflow === 'queue' && wanted.limit >= SHARDED_FROM;
  if (!isDivided || wanted.lender !== undefined) return wanted;
  return { ...wanted, gate: shardId(wanted.gate, run), lender: wanted.gate };
}

/**
 * Asks the limiters in order, until one does not grant a lease. Answers the results so far. Repeating it is harmless.
 */
export async function takeSlots(
  access: WriteAccess,
  org: string,
  run: string,
  gates: readonly GateWanted[],
  startedAt?: number,
  asking?: Asking,
): Promise<SlotAnswer[]> {
  const answers: SlotAnswer[] = [];
  for (const wanted of gates) {
    const answer = await takeSlot(access, org, { run, startedAt, asking }, wanted);
    answers.push(answer);
    slotRequests.inc({ scope: wanted.scope, answer: answer.as });
    if (answer.as !== 'granted') break;
  }
  return answers;
}

/**
 * Takes slots of the limiters that refuse, before the run starts. The run itself asks the others. Answers all limiters,
 * and the leases taken. A retry holds no lease of the failed run, so it asks again.
 * @throws ClientError `limit_reached`, `queue_full`.
 */
export async function reserveSlots(
  access: WriteAccess,
  org: string,
  run: string,
  gates: readonly GateWanted[],
  asking?: Asking,
): Promise<GateWanted[]> {
  const refusable = gates.filter(({ overflow }) => overflow === 'reject');
  // Taken before the request: the limiter does not count from an earlier time.
  const takenAt = Date.now();
  const answers = await takeSlots(access, org, run, refusable, undefined, asking);
  for (const answer of answers) {
    if (answer.as !== 'refused') continue;
    const held = answers.filter(({ as }) => as === 'granted').map(({ gate }) => gate);
    await giveBack(access, run, held);
    const asked = refusable.find(({ gate }) => gate === answer.gate);
    assert(asked !== undefined, 'A limiter answers only what it was asked.');
    const { scope, limit } = asked;
    throw new ClientError(answer.code, answer.message, { details: { scope, limit } });
  }
  return gates.map(({ taken: _before, takenAt: _then, ...wanted }) =>
    wanted.overflow === 'reject' ? { ...wanted, taken: true, takenAt } : wanted,
  );
}

/** Gives back the slots of a run that will not start. A limiter that misses the signal finds out by itself. */
async function giveBack(access: WriteAccess, run: string, gates: readonly string[]): Promise<void> {
  const release: ReleaseSlot = { run, unstarted: true };
  await Promise.allSettled(
    gates.map((gate) =>
      writeAlong(access, 'rest', () =>
        access.client.workflow.getHandle(gate).signal<[ReleaseSlot]>('release', release),
      ),
    ),
  );
}

/** Which of the runs have ended, and which do not exist. Waits up to `patienceMs` for runs that are about to end. */
async function describeHolders(access: Access, { runs, patienceMs }: HolderQuestion): Promise<HolderAnswer> {
  const until = Date.now() + patienceMs;
  const closed: string[] = [];
  const closedAt: number[] = [];
  const missing: string[] = [];
  for (let asked = runs; asked.length > 0; ) {
    const open: string[] = [];
    await inGroups(asked, AT_ONCE, async (run) => {
      const description = await describe(access, run);
      if (description === undefined) missing.push(run);
      else if (isOpen(description.status.name)) open.push(run);
      else {
        closed.push(run);
        closedAt.push(description.closeTime?.getTime() ?? Date.now());
      }
    });
    // One free slot is enough for the asker.
    if (closed.length > 0 || Date.now() >= until) break;
    asked = open;
    if (asked.length > 0) await delay(LOOK_MS);
  }
  return { closed, closedAt, missing };
}

/**
 * The place of a run in the queue of a limiter, from 1. Undefined where the run is not in the queue, or the limiter
 * does not answer.
 */
export async function positionOf(access: Access, gate: string, run: string): Promise<number | undefined> {
  const placeIn = (order: QueueOrder): number | undefined => (order.includes(run) ? order.indexOf(run) + 1 : undefined);
  // The run may have joined the queue after the shared answer.
  return placeIn(await seenOrder(access, gate, ORDER_MS)) ?? placeIn(await seenOrder(access, gate, SEEN_MS));
}

/** The activities of limiters and runs, over the worker's own connection. */
export function limiterActivitiesOver(over: WriteAccess): GateActivities {
  return {
    takeSlots: async ({ organizationId, run, gates, startedAt }) => ({
      answers: await takeSlots(over, organizationId, run, gates, startedAt),
    }),
    describeHolders: (question) => describeHolders(over, question),
    borrowSlots: (question) => borrowSlots(over, question),
  };
}

/** A shard borrows slots of its limit, and gives back what it does not keep. Repeating it is harmless. */
function borrowSlots(access: WriteAccess, { organizationId, lender, ...request }: BorrowQuestion): Promise<Lent> {
  const start: LenderStart = { organizationId, historyLimit: access.historyLimit };
  const actor = { workflowId: lender, workflowType: LENDER_WORKFLOW, start };
  return writeOrStart<Borrow, Lent>(access, actor, 'borrow', request);
}

/** The run that asks. `asking` describes a run that has not started yet. */
interface Asker {
  readonly run: string;
  readonly startedAt: number | undefined;
  readonly asking: Asking | undefined;
}

async function takeSlot(access: WriteAccess, org: string, asker: Asker, wanted: GateWanted): Promise<SlotAnswer> {
  const { gate } = wanted;
  try {
    return { gate, ...(await take(access, org, asker, wanted)) };
  } catch (error) {
    if (!hasCode(error, 'limit_reached')) return refused(gate, error);
    const { holders } = error.details as unknown as LimitReached;
    // A run that has ended may still hold a lease.
    const found = await seenSince(access, gate, () => describeHolders(access, { runs: holders, patienceMs: 0 }));
    if (found.closed.length + found.missing.length === 0) return overflowed(wanted, error);
    try {
      return { gate, ...(await take(access, org, asker, wanted, found)) };
    } catch (again) {
      return hasCode(again, 'limit_reached') ? overflowed(wanted, again) : refused(gate, again);
    }
  }
}

/**
 * Takes one slot. A limiter with a new limit is first told which runs are active. One asker tells it; the others wait
 * and ask again in the order in which they came.
 */
async function take(
  access: WriteAccess,
  org: string,
  asker: Asker,
  wanted: GateWanted,
  found?: HolderAnswer,
): Promise<Exclude<TakeAnswer, { as: 'full' }>> {
  const telling = tellingsOf(access);
  for (;;) {
    try {
      return granted(await takeWith(access, org, asker, wanted, found));
    } catch (error) {
      if (!hasCode(error, ACTIVE_WANTED)) throw error;
    }
    const earlier = telling.get(wanted.gate);
    if (earlier === undefined) break;
    await Promise.allSettled([earlier]);
  }
  const told = takeTelling(access, org, asker, wanted, found);
  telling.set(wanted.gate, told);
  try {
    return granted(await told);
  } finally {
    telling.delete(wanted.gate);
  }
}

/** Pending requests that tell a limiter which runs are active, by its id. */
const tellingsOf = perClient(() => new Map<string, Promise<unknown>>());

async function takeTelling(
  access: WriteAccess,
  org: string,
  asker: Asker,
  wanted: GateWanted,
  found: HolderAnswer | undefined,
): Promise<TakeAnswer> {
  const active = await activeUnder(access, org, wanted, asker, async (runs) => {
    const { closed, missing } = await describeHolders(access, { runs, patienceMs: 0 });
    return new Set([...closed, ...missing]);
  });
  const { lender, gate } = wanted;
  // A shard counts the runs that would have asked it.
  const counted = lender === undefined ? active : active.filter(({ run }) => shardId(lender, run) === gate);
  return takeWith(access, org, asker, wanted, found, counted);
}

/** Throws the refusal that an answer contains. */
function granted(answer: TakeAnswer): Exclude<TakeAnswer, { as: 'full' }> {
  if (answer.as !== 'full') return answer;
  const { limit } = answer.reached;
  throw new ClientError('limit_reached', limitReached(limit), { details: { ...answer.reached } });
}

function takeWith(
  access: WriteAccess,
  org: string,
  { run, startedAt }: Asker,
  { gate, scope, limit, overflow, evict, group, basis, lender }: GateWanted,
  found: HolderAnswer | undefined,
  active?: readonly ActiveRun[],
): Promise<TakeAnswer> {
  const start: GateStart = { organizationId: org, historyLimit: access.historyLimit, scope, ...defined({ lender }) };
  const actor = { workflowId: gate, workflowType: GATE_WORKFLOW, start };
  return writeOrStart<TakeSlot, TakeAnswer>(access, actor, 'take', {
    run,
    limit,
    overflow,
    group,
    // Random: with turns, concurrent askers would see the same holders again and again.
    shownFrom: Math.floor(Math.random() * MOST_HELD),
    ...defined({ startedAt, seen: found, evict, basis, active }),
  });
}

/** cancel-newest refuses as well. The run then exists, and ends. */
function overflowed({ gate, overflow }: GateWanted, error: ClientError): SlotAnswer {
  return overflow === 'cancel-newest' ? { gate, as: 'dropped' } : refused(gate, error);
}

function refused(gate: string, error: unknown): SlotAnswer {
  if (!hasCode(error, 'limit_reached', 'queue_full')) throw error;
  return { gate, as: 'refused', code: error.code, message: error.message };
}

async function orderOf(access: Access, gate: string): Promise<QueueOrder> {
  try {
    return await read(access, () => access.client.workflow.getHandle(gate).query<QueueOrder>('order'));
  } catch {
    // Without a worker the limiter does not answer, and the wait is shown without a position.
    return [];
  }
}

interface SeenOrder {
  readonly at: number;
  readonly what: Promise<QueueOrder>;
}
/** Limiters beyond this number are forgotten, oldest first. */
const MOST_SEEN = 1_000;
const ordersOf = perClient(() => new BoundedMap<string, SeenOrder>(MOST_SEEN));

/** Shares one query among simultaneous callers. */
function seenOrder(access: Access, gate: string, forMs: number): Promise<QueueOrder> {
  const known = ordersOf(access);
  const found = known.get(gate);
  const now = Date.now();
  if (found !== undefined && found.at + forMs > now) return found.what;
  const what = orderOf(access, gate);
  known.set(gate, { at: now, what });
  what.catch(() => known.delete(gate));
  return what;
}

/** The running check of a limiter's holders, and the next one. */
interface Looks {
  readonly now: Promise<HolderAnswer>;
  next?: Promise<HolderAnswer>;
}
const looksOf = perClient(() => new Map<string, Looks>());

/**
 * The result of a check of the limiter's holders that begins now or later. An earlier check may have missed an end that
 * the asker knows of. All callers during a check share the next one.
 */
function seenSince(access: Access, gate: string, look: () => Promise<HolderAnswer>): Promise<HolderAnswer> {
  const known = looksOf(access);
  const begin = (): Promise<HolderAnswer> => {
    const begun: Looks = { now: look() };
    known.set(gate, begun);
    const done = (): void => {
      if (begun.next === undefined) known.delete(gate);
    };
    begun.now.then(done, done);
    return begun.now;
  };
  const current = known.get(gate);
  if (current === undefined) return begin();
  current.next ??= current.now.then(begin, begin);
  return current.next;
}
