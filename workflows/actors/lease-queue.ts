/**
 * The leases and the queue of a limiter: which runs hold a lease, which wait, and which is next. limiter.ts builds the
 * operations from it and notifies the runs.
 *
 * A lease counts until its run is seen closed, also while the run is ending. So there is never one over the limit.
 */

import {
  ABANDONED_LEASE_MS,
  type HolderAnswer,
  type Lease,
  type LimiterSnapshot,
  type LimitReachedDetails,
  MAX_HOLDERS_SHOWN,
  MAX_LIMITER_ENTRIES,
  MAX_LISTED_QUEUE,
  type QueuedRun,
  type TakeSlot,
} from '../../src/contract/limits/limiter.ts';
import { assert } from '../../src/json/assert.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';

/** The most groups whose last grant is remembered. */
const MAX_REMEMBERED_GROUPS = 1_000;

/** A notice for a run: it has a lease now, or it has to end. limiter.ts makes a signal or a cancellation of it. */
export type LimiterNotice =
  | { readonly type: 'granted'; readonly run: string }
  | { readonly type: 'end'; readonly run: string; readonly how: 'cancel' | 'abort' };

type TakeOutcome = { readonly as: 'granted' | 'waiting'; readonly since: number } | { readonly as: 'full' };

export class LeaseQueue {
  #limit: number;
  #seq: number;
  #basis: string | undefined;
  #grants = 0;
  readonly #leases: Map<string, Lease>;
  readonly #queue: Map<string, QueuedRun>;
  readonly #lastServed: Map<string, number>;

  constructor(carried?: LimiterSnapshot) {
    this.#limit = carried?.limit ?? 0;
    this.#seq = carried?.seq ?? 0;
    this.#basis = carried?.basis;
    this.#leases = new Map((carried?.leases ?? []).map((lease) => [lease.run, { ...lease }]));
    this.#queue = new Map((carried?.queue ?? []).map((waiting) => [waiting.run, waiting]));
    this.#lastServed = new Map(Object.entries(carried?.turns ?? {}));
    for (const grant of this.#lastServed.values()) this.#grants = Math.max(this.#grants, grant);
  }

  copy(): LeaseQueue {
    const copy = new LeaseQueue();
    copy.#limit = this.#limit;
    copy.#seq = this.#seq;
    copy.#basis = this.#basis;
    copy.#grants = this.#grants;
    for (const [run, lease] of this.#leases) copy.#leases.set(run, { ...lease });
    for (const [run, waiting] of this.#queue) copy.#queue.set(run, waiting);
    for (const [group, grant] of this.#lastServed) copy.#lastServed.set(group, grant);
    return copy;
  }

  get limit(): number {
    return this.#limit;
  }
  /** For a shard, whose takes name the whole limit and not its share. */
  set limit(limit: number) {
    this.#limit = limit;
  }
  get active(): number {
    return this.#leases.size;
  }
  get waiting(): number {
    return this.#queue.size;
  }
  get isEmpty(): boolean {
    return this.#leases.size === 0 && this.#queue.size === 0;
  }

  /** Runs that are ending and still hold a lease. */
  get ending(): string[] {
    return [...this.#leases.values()].filter((lease) => lease.ending).map(({ run }) => run);
  }

  knows(run: string): boolean {
    return this.#leases.has(run) || this.#queue.has(run);
  }

  /** Whether the limit is new here: then the runs that are active already have to be counted first. */
  needsActiveRuns({ run, basis, active }: TakeSlot): boolean {
    return active === undefined && basis !== undefined && basis !== this.#basis && !this.knows(run);
  }

  /** Gives leases to runs that were active before the limit, up to MAX_LIMITER_ENTRIES. */
  countActiveRuns({ run: requester, basis, active = [] }: TakeSlot): void {
    if (basis !== undefined) this.#basis = basis;
    for (const { run, startedAt } of active) {
      if (run === requester || this.knows(run) || !this.hasRoom) continue;
      // Since its start: if it has closed after that, it has ended.
      this.#addLease({ run, since: startedAt, seq: this.#seq++, startedAt }, '');
    }
  }

  /** What `take` would answer now. Changes nothing. */
  outcomeOfTake({ run, limit, seen, active = [] }: TakeSlot, now: number): TakeOutcome {
    const lease = this.#leases.get(run);
    if (lease !== undefined) return { as: 'granted', since: lease.since };
    const waiting = this.#queue.get(run);
    if (waiting !== undefined) return { as: 'waiting', since: waiting.since };
    const endedCount = this.endedRuns(seen, now).filter((one) => this.#leases.has(one)).length;
    const held =
      this.#leases.size - endedCount + active.filter((one) => one.run !== run && !this.knows(one.run)).length;
    // The runs in the queue come first.
    return limit - held > this.#queue.size ? { as: 'granted', since: 0 } : { as: 'full' };
  }

  /** Whether one more run can be held. */
  get hasRoom(): boolean {
    return this.#leases.size + this.#queue.size < MAX_LIMITER_ENTRIES;
  }

  /**
   * Takes a request that was not refused: gives a lease or queues the run. Adds to `notices` the runs that get a lease
   * because holders have ended or the limit has grown, and those that have to end.
   */
  take(request: TakeSlot, now: number, notices: LimiterNotice[]): TakeOutcome {
    this.#limit = request.limit;
    this.countActiveRuns(request);
    this.removeRuns(this.endedRuns(request.seen, now));
    this.grant(now, notices);
    const { run, group, startedAt } = request;
    const verdict = this.outcomeOfTake(request, now);
    const lease = this.#leases.get(run);
    if (lease !== undefined) {
      // A run that is retried under its id keeps its lease: a close before now was that of its last execution.
      delete lease.ending;
      lease.since = now;
    }
    if (this.knows(run)) return verdict;
    const seq = this.#seq++;
    if (verdict.as === 'granted') {
      this.#addLease({ run, since: now, seq, ...omitUndefined({ startedAt }) }, group);
      return { as: 'granted', since: now };
    }
    this.#queue.set(run, { run, since: now, seq, group, ...omitUndefined({ startedAt }) });
    if (request.overflow === 'cancel-oldest') this.#evict(request.evict ?? 'cancel', notices);
    return { as: 'waiting', since: now };
  }

  /** Removes runs that have ended or never existed. */
  removeRuns(runs: readonly string[]): void {
    for (const run of runs) {
      this.#leases.delete(run);
      this.#queue.delete(run);
    }
  }

  /** The run has said that it is about to end. Returns whether it holds a lease. */
  markEnding(run: string): boolean {
    this.#queue.delete(run);
    const lease = this.#leases.get(run);
    if (lease !== undefined) lease.ending = true;
    return lease !== undefined;
  }

  isEnding(run: string): boolean {
    return this.#leases.get(run)?.ending === true;
  }

  /** Gives free leases to the next runs in the queue. */
  grant(now: number, notices: LimiterNotice[]): void {
    while (this.#leases.size < this.#limit && this.#queue.size > 0) {
      const next = this.#nextInQueue();
      this.#queue.delete(next.run);
      this.#addLease(
        { run: next.run, since: now, seq: next.seq, ...omitUndefined({ startedAt: next.startedAt }) },
        next.group,
      );
      notices.push({ type: 'granted', run: next.run });
    }
  }

  /** Runs to ask Temporal about, those that are ending first. `from` rotates the others. */
  holders(maxCount: number, from = 0): string[] {
    const others = [...this.#leases.values()].filter((lease) => !lease.ending).map(({ run }) => run);
    others.push(...this.#queue.keys());
    const start = others.length === 0 ? 0 : from % others.length;
    return [...this.ending, ...others.slice(start), ...others.slice(0, start)].slice(0, maxCount);
  }

  /**
   * Of the runs in `seen`, those that have ended. A run that Temporal does not know may be about to start, and one that
   * closed before it asked may be about to be retried under its id: both count as ended after ABANDONED_LEASE_MS.
   * `now`: the time of `seen`, or later.
   */
  endedRuns(seen: HolderAnswer | undefined, now: number): string[] {
    const { closed = [], closedAt = [], missing = [] } = seen ?? {};
    const sinceOf = (run: string): number | undefined => this.#leases.get(run)?.since ?? this.#queue.get(run)?.since;
    const isAbandoned = (run: string): boolean => (sinceOf(run) ?? now) + ABANDONED_LEASE_MS <= now;
    const isOver = (run: string, at: number | undefined): boolean => at === undefined || at >= (sinceOf(run) ?? at);
    return [
      ...closed.filter((run, index) => isOver(run, closedAt[index]) || isAbandoned(run)),
      ...missing.filter(isAbandoned),
    ];
  }

  /** The queue in the order of service: round robin over the groups, first in first out within a group. */
  queueOrder(): string[] {
    const lastServed = new Map(this.#lastServed);
    const groups = this.#groups();
    const order: string[] = [];
    for (let grant = this.#grants; groups.size > 0 && order.length < MAX_LISTED_QUEUE; grant++) {
      const [group, waiting] = nextGroup(groups, lastServed);
      order.push(waiting.shift()!.run);
      lastServed.set(group, grant + 1);
      if (waiting.length === 0) groups.delete(group);
    }
    return order;
  }

  /** `from` rotates the holders that are not ending. */
  limitDetails(from = 0): LimitReachedDetails {
    const leases = [...this.#leases.values()];
    const others = leases.filter(({ ending }) => !ending).sort((a, b) => a.seq - b.seq);
    const start = others.length === 0 ? 0 : from % others.length;
    return {
      limit: this.#limit,
      active: this.#leases.size,
      waiting: this.#queue.size,
      holders: [...leases.filter(({ ending }) => ending), ...others.slice(start), ...others.slice(0, start)]
        .slice(0, MAX_HOLDERS_SHOWN)
        .map(({ run }) => run),
    };
  }

  carried(): LimiterSnapshot {
    return {
      limit: this.#limit,
      ...omitUndefined({ basis: this.#basis }),
      leases: [...this.#leases.values()],
      queue: [...this.#queue.values()],
      turns: Object.fromEntries(this.#lastServed),
      seq: this.#seq,
    };
  }

  #addLease(lease: Lease, group: string): void {
    this.#leases.set(lease.run, lease);
    this.#lastServed.delete(group);
    this.#lastServed.set(group, ++this.#grants);
    const [oldest] = this.#lastServed.keys();
    if (this.#lastServed.size > MAX_REMEMBERED_GROUPS && oldest !== undefined) this.#lastServed.delete(oldest);
  }

  /** Ends the oldest runs, whether they hold a lease or wait, so that as many as the limit stay. */
  #evict(how: 'cancel' | 'abort', notices: LimiterNotice[]): void {
    const leases = [...this.#leases.values()].filter((lease) => lease.ending !== true);
    const staying = [...leases, ...this.#queue.values()].sort(byAge);
    for (const { run } of staying.slice(0, Math.max(0, staying.length - this.#limit))) {
      const lease = this.#leases.get(run);
      if (lease === undefined) this.#queue.delete(run);
      else lease.ending = true;
      notices.push({ type: 'end', run, how });
    }
  }

  #groups(): Map<string, QueuedRun[]> {
    const groups = new Map<string, QueuedRun[]>();
    for (const waiting of this.#queue.values()) {
      const group = groups.get(waiting.group);
      if (group === undefined) groups.set(waiting.group, [waiting]);
      else group.push(waiting);
    }
    return groups;
  }

  #nextInQueue(): QueuedRun {
    return nextGroup(this.#groups(), this.#lastServed)[1][0]!;
  }
}

/** By the time of start, where it is known: a run that asked late, because no worker was there, is not newer. */
function byAge(a: Lease | QueuedRun, b: Lease | QueuedRun): number {
  return (a.startedAt ?? 0) - (b.startedAt ?? 0) || a.seq - b.seq;
}

/** The group that was served longest ago. Of those never served, the one whose first run has waited longest. */
function nextGroup(
  groups: ReadonlyMap<string, QueuedRun[]>,
  lastServed: ReadonlyMap<string, number>,
): readonly [string, QueuedRun[]] {
  let best: readonly [string, QueuedRun[]] | undefined;
  for (const entry of groups) {
    if (best === undefined) best = entry;
    const [mine, theirs] = [lastServed.get(entry[0]) ?? 0, lastServed.get(best[0]) ?? 0];
    if (mine < theirs || (mine === theirs && entry[1][0]!.seq < best[1][0]!.seq)) best = entry;
  }
  assert(best !== undefined, 'Runs wait in at least one group.');
  return best;
}
