/** Takes slots of limiters, and checks on the runs that hold them (ARCHITECTURE.md §4). */

import { setTimeout as delay } from 'node:timers/promises';
import {
  ACTIVE_RUNS_REQUIRED,
  type ActiveRun,
  type AppliedLimit,
  type HolderAnswer,
  type HolderRequest,
  LIMITER_WORKFLOW,
  type LimiterActivities,
  type LimiterStart,
  type LimitReachedDetails,
  limitReachedMessage,
  MAX_LIMITER_ENTRIES,
  type QueueOrder,
  type ReleaseSlot,
  type SlotAnswer,
  type TakeAnswer,
  type TakeSlot,
} from '../../contract/limits/limiter.ts';
import {
  type BorrowAnswer,
  type BorrowRequest,
  type BorrowSlots,
  LIMITER_POOL_WORKFLOW,
  type LimiterPoolStart,
  shardId,
} from '../../contract/limits/limiter-pool.ts';
import { assert } from '../../json/assert.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { slotRequests } from '../../observe/metrics.ts';
import { mapInBatches } from '../concurrency/each-concurrently.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { describe, updateWithStart } from '../temporal/actor-calls.ts';
import { perClient } from '../temporal/per-client.ts';
import { read, writeUnqueued } from '../temporal/rpc.ts';
import { isOpen } from '../temporal/run-status.ts';
import { activeRunsUnder, type UnstartedRun } from './active-runs.ts';

const DESCRIBE_CONCURRENCY = 10;
/** The time between two checks of runs that are about to end. */
const HOLDER_POLL_MS = 25;
/** How long the answer of a limiter's queue is shared with later callers. */
const MIN_ORDER_TTL_MS = 50;
const ORDER_TTL_MS = 500;

/** A smaller limit has one limiter, which keeps the order of its queue exactly. */
export const MIN_SHARDED_LIMIT = 160;

/**
 * The limiter that the run asks: a shard, where the limit is divided. Limits of definitions are not, since runs that no
 * gateway starts ask them too; nor those that refuse or replace runs, since that needs to know of all runs.
 */
export function shardOf(wanted: AppliedLimit, run: string): AppliedLimit {
  const isSharded = wanted.scope !== 'workflow' && wanted.overflow === 'queue' && wanted.limit >= MIN_SHARDED_LIMIT;
  if (!isSharded || wanted.lender !== undefined) return wanted;
  return { ...wanted, gate: shardId(wanted.gate, run), lender: wanted.gate };
}

/**
 * Asks the limiters in order, until one does not grant a lease. Answers the results so far. Repeating it is harmless.
 */
export async function takeSlots(
  access: WriteAccess,
  org: string,
  run: string,
  limiters: readonly AppliedLimit[],
  startedAt?: number,
  unstarted?: UnstartedRun,
): Promise<SlotAnswer[]> {
  const answers: SlotAnswer[] = [];
  for (const wanted of limiters) {
    const answer = await takeSlot(access, org, { run, startedAt, unstarted }, wanted);
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
  limiters: readonly AppliedLimit[],
  unstarted?: UnstartedRun,
): Promise<AppliedLimit[]> {
  const refusable = limiters.filter(({ overflow }) => overflow === 'reject');
  // Taken before the request: the limiter does not count from an earlier time.
  const takenAt = Date.now();
  const answers = await takeSlots(access, org, run, refusable, undefined, unstarted);
  for (const answer of answers) {
    if (answer.as !== 'refused') continue;
    const held = answers.filter(({ as }) => as === 'granted').map(({ gate }) => gate);
    await releaseSlots(access, run, held);
    const refusing = refusable.find(({ gate }) => gate === answer.gate);
    assert(refusing !== undefined, 'Each answer belongs to a requested limiter.');
    const { scope, limit } = refusing;
    throw new ClientError(answer.code, answer.message, { details: { scope, limit } });
  }
  return limiters.map(({ taken: _before, takenAt: _then, ...wanted }) =>
    wanted.overflow === 'reject' ? { ...wanted, taken: true, takenAt } : wanted,
  );
}

/** Gives back the slots of a run that will not start. A limiter that misses the signal finds out by itself. */
async function releaseSlots(access: WriteAccess, run: string, limiters: readonly string[]): Promise<void> {
  const release: ReleaseSlot = { run, unstarted: true };
  await Promise.allSettled(
    limiters.map((gate) =>
      writeUnqueued(access, 'rest', () =>
        access.client.workflow.getHandle(gate).signal<[ReleaseSlot]>('release', release),
      ),
    ),
  );
}

/** Which of the runs have ended, and which do not exist. Waits up to `patienceMs` for runs that are about to end. */
async function describeHolders(access: Access, { runs, patienceMs }: HolderRequest): Promise<HolderAnswer> {
  const until = Date.now() + patienceMs;
  const closed: string[] = [];
  const closedAt: number[] = [];
  const missing: string[] = [];
  for (let remaining = runs; remaining.length > 0; ) {
    const open: string[] = [];
    await mapInBatches(remaining, DESCRIBE_CONCURRENCY, async (run) => {
      const description = await describe(access, run);
      if (description === undefined) missing.push(run);
      else if (isOpen(description.status.name)) open.push(run);
      else {
        closed.push(run);
        closedAt.push(description.closeTime?.getTime() ?? Date.now());
      }
    });
    // One free slot is enough for the requester.
    if (closed.length > 0 || Date.now() >= until) break;
    remaining = open;
    if (remaining.length > 0) await delay(HOLDER_POLL_MS);
  }
  return { closed, closedAt, missing };
}

/**
 * The position of a run in the queue of a limiter, from 1. Undefined where the run is not in it, or the limiter
 * does not answer.
 */
export async function positionOf(access: Access, gate: string, run: string): Promise<number | undefined> {
  const positionIn = (order: QueueOrder): number | undefined =>
    order.includes(run) ? order.indexOf(run) + 1 : undefined;
  // The run may have joined the queue after the shared answer.
  return (
    positionIn(await cachedOrder(access, gate, ORDER_TTL_MS)) ??
    positionIn(await cachedOrder(access, gate, MIN_ORDER_TTL_MS))
  );
}

/** The activities of limiters and runs, over the worker's own connection. */
export function limiterActivities(access: WriteAccess): LimiterActivities {
  return {
    takeSlots: async ({ organizationId, run, gates: limiters, startedAt }) => ({
      answers: await takeSlots(access, organizationId, run, limiters, startedAt),
    }),
    describeHolders: (question) => describeHolders(access, question),
    borrowSlots: (question) => borrowSlots(access, question),
  };
}

/** A shard borrows slots of its limit, and gives back what it does not keep. Repeating it is harmless. */
function borrowSlots(
  access: WriteAccess,
  { organizationId, lender, ...request }: BorrowRequest,
): Promise<BorrowAnswer> {
  const start: LimiterPoolStart = { organizationId, historyLimit: access.historyLimit };
  const actor = { workflowId: lender, workflowType: LIMITER_POOL_WORKFLOW, start };
  return updateWithStart<BorrowSlots, BorrowAnswer>(access, actor, 'borrow', request);
}

/** The run that asks. `unstarted`: its definition, where it has not started yet. */
interface RequestingRun {
  readonly run: string;
  readonly startedAt: number | undefined;
  readonly unstarted: UnstartedRun | undefined;
}

async function takeSlot(
  access: WriteAccess,
  org: string,
  requester: RequestingRun,
  wanted: AppliedLimit,
): Promise<SlotAnswer> {
  const { gate } = wanted;
  try {
    return { gate, ...(await takeReportingActive(access, org, requester, wanted)) };
  } catch (error) {
    if (!hasCode(error, 'limit_reached')) return refusedAnswer(gate, error);
    const { holders } = error.details as unknown as LimitReachedDetails;
    // A run that has ended may still hold a lease.
    const found = await checkHolders(access, gate, () => describeHolders(access, { runs: holders, patienceMs: 0 }));
    if (found.closed.length + found.missing.length === 0) return overflowAnswer(wanted, error);
    try {
      return { gate, ...(await takeReportingActive(access, org, requester, wanted, found)) };
    } catch (again) {
      return hasCode(again, 'limit_reached') ? overflowAnswer(wanted, again) : refusedAnswer(gate, again);
    }
  }
}

/**
 * Takes one slot. A limiter with a new limit first needs to know which runs are active. One requester reports them;
 * the others wait, and ask again in the order in which they came.
 */
async function takeReportingActive(
  access: WriteAccess,
  org: string,
  requester: RequestingRun,
  wanted: AppliedLimit,
  found?: HolderAnswer,
): Promise<Exclude<TakeAnswer, { as: 'full' }>> {
  const reports = activeReportsOf(access);
  for (;;) {
    try {
      return throwIfFull(await sendTake(access, org, requester, wanted, found));
    } catch (error) {
      if (!hasCode(error, ACTIVE_RUNS_REQUIRED)) throw error;
    }
    const earlier = reports.get(wanted.gate);
    if (earlier === undefined) break;
    await Promise.allSettled([earlier]);
  }
  const report = takeWithActive(access, org, requester, wanted, found);
  reports.set(wanted.gate, report);
  try {
    return throwIfFull(await report);
  } finally {
    reports.delete(wanted.gate);
  }
}

/** Pending requests that report the active runs to a limiter, by its id. */
const activeReportsOf = perClient(() => new Map<string, Promise<unknown>>());

async function takeWithActive(
  access: WriteAccess,
  org: string,
  requester: RequestingRun,
  wanted: AppliedLimit,
  found: HolderAnswer | undefined,
): Promise<TakeAnswer> {
  const active = await activeRunsUnder(access, org, wanted, requester, async (runs) => {
    const { closed, missing } = await describeHolders(access, { runs, patienceMs: 0 });
    return new Set([...closed, ...missing]);
  });
  const { lender, gate } = wanted;
  // A shard counts the runs that would have asked it.
  const counted = lender === undefined ? active : active.filter(({ run }) => shardId(lender, run) === gate);
  return sendTake(access, org, requester, wanted, found, counted);
}

/** Throws the refusal that an answer contains. */
function throwIfFull(answer: TakeAnswer): Exclude<TakeAnswer, { as: 'full' }> {
  if (answer.as !== 'full') return answer;
  const { limit } = answer.reached;
  throw new ClientError('limit_reached', limitReachedMessage(limit), { details: { ...answer.reached } });
}

function sendTake(
  access: WriteAccess,
  org: string,
  { run, startedAt }: RequestingRun,
  { gate, scope, limit, overflow, evict, group, basis, lender }: AppliedLimit,
  found: HolderAnswer | undefined,
  active?: readonly ActiveRun[],
): Promise<TakeAnswer> {
  const start: LimiterStart = {
    organizationId: org,
    historyLimit: access.historyLimit,
    scope,
    ...omitUndefined({ lender }),
  };
  const actor = { workflowId: gate, workflowType: LIMITER_WORKFLOW, start };
  return updateWithStart<TakeSlot, TakeAnswer>(access, actor, 'take', {
    run,
    limit,
    overflow,
    group,
    // Random: in rotation, concurrent requesters would see the same holders again and again.
    shownFrom: Math.floor(Math.random() * MAX_LIMITER_ENTRIES),
    ...omitUndefined({ startedAt, seen: found, evict, basis, active }),
  });
}

/** cancel-newest refuses as well. The run then exists, and ends. */
function overflowAnswer({ gate, overflow }: AppliedLimit, error: ClientError): SlotAnswer {
  return overflow === 'cancel-newest' ? { gate, as: 'dropped' } : refusedAnswer(gate, error);
}

function refusedAnswer(gate: string, error: unknown): SlotAnswer {
  if (!hasCode(error, 'limit_reached', 'queue_full')) throw error;
  return { gate, as: 'refused', code: error.code, message: error.message };
}

async function queryOrder(access: Access, gate: string): Promise<QueueOrder> {
  try {
    return await read(access, () => access.client.workflow.getHandle(gate).query<QueueOrder>('order'));
  } catch {
    // Without a worker the limiter does not answer, and the wait is shown without a position.
    return [];
  }
}

interface CachedOrder {
  readonly at: number;
  readonly order: Promise<QueueOrder>;
}
/** Limiters beyond this number are forgotten, oldest first. */
const MAX_CACHED_ORDERS = 1_000;
const orderCacheOf = perClient(() => new BoundedMap<string, CachedOrder>(MAX_CACHED_ORDERS));

/** Shares one query among simultaneous callers. */
function cachedOrder(access: Access, gate: string, forMs: number): Promise<QueueOrder> {
  const cache = orderCacheOf(access);
  const found = cache.get(gate);
  const now = Date.now();
  if (found !== undefined && found.at + forMs > now) return found.order;
  const order = queryOrder(access, gate);
  cache.set(gate, { at: now, order });
  order.catch(() => cache.delete(gate));
  return order;
}

/** The running check of a limiter's holders, and the next one. */
interface HolderChecks {
  readonly now: Promise<HolderAnswer>;
  next?: Promise<HolderAnswer>;
}
const holderChecksOf = perClient(() => new Map<string, HolderChecks>());

/**
 * The result of a check of the limiter's holders that begins now or later. An earlier check may have missed an end that
 * the asker knows of. All callers during a check share the next one.
 */
function checkHolders(access: Access, gate: string, check: () => Promise<HolderAnswer>): Promise<HolderAnswer> {
  const known = holderChecksOf(access);
  const begin = (): Promise<HolderAnswer> => {
    const begun: HolderChecks = { now: check() };
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
