// Simulates a sharded limit without Temporal: the limiter pool, the shards, and runs that take slots and end. Time is
// simulated too. Messages and activities are delayed, and activities may be repeated.

import type { TakeAnswer } from '../../src/contract/limits/limiter.ts';
import { shardId } from '../../src/contract/limits/limiter-pool.ts';
import {
  type Actor,
  type ActorSnapshot,
  applyUpdate,
  beginActor,
  type CarryingStart,
  continueAsNewStart,
  isRefusal,
  type StateChange,
} from '../../workflows/actors/actor.ts';
import { limiterActor } from '../../workflows/actors/limiter.ts';
import { limiterPoolActor } from '../../workflows/actors/limiter-pool.ts';

const T0 = Date.parse('2026-01-01T00:00:00Z');
export const POOL = 'gate.o.limit';
const START = { organizationId: 'o', historyLimit: 1_000, scope: 'global' } as const;

type AnyActor = Actor<CarryingStart, unknown>;

interface SimulatedActor {
  readonly id: string;
  readonly actor: AnyActor;
  readonly start: CarryingStart;
  live: ActorSnapshot<unknown>;
  isCalling: boolean;
  /** The wake-up that counts. */
  alarm: number;
}

interface Run {
  readonly id: string;
  readonly ms: number;
  readonly askedAt: number;
  grantedAt?: number;
  closedAt?: number;
}

export interface SimulationOptions {
  /** Milliseconds that a message and an activity take; drawn anew for each. */
  readonly delayMs: () => number;
  /** Whether an activity's answer is lost, so that it runs again. */
  readonly isLost: () => boolean;
  /** Whether an actor continues as new after it did something. */
  readonly continues: () => boolean;
}

export class ShardSimulation {
  limit: number;
  now = T0;
  readonly runs = new Map<string, Run>();
  readonly actors = new Map<string, SimulatedActor>();
  /** Events of each workflow: updates, signals, timers and activities. */
  readonly events = new Map<string, number>();
  active = 0;
  mostActive = 0;
  readonly #options: SimulationOptions;
  readonly #isSharded: boolean;
  readonly #eventQueue: { at: number; order: number; act: () => void }[] = [];
  #order = 0;

  constructor(limit: number, options: SimulationOptions, isSharded = true) {
    this.limit = limit;
    this.#options = options;
    this.#isSharded = isSharded;
  }

  /** Milliseconds since the beginning. */
  get elapsedMs(): number {
    return this.now - T0;
  }

  after(ms: number, act: () => void): void {
    const entry = { at: this.now + ms, order: this.#order++, act };
    // A binary search keeps the event queue in order.
    let [low, high] = [0, this.#eventQueue.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#eventQueue[middle]!;
      if (other.at < entry.at || (other.at === entry.at && other.order < entry.order)) low = middle + 1;
      else high = middle;
    }
    this.#eventQueue.splice(low, 0, entry);
  }

  /** Lets time pass. `check` runs after everything that happens. */
  until(ms: number, check: () => void = () => undefined): void {
    while (this.#eventQueue.length > 0 && this.#eventQueue[0]!.at <= T0 + ms) {
      const { at, act } = this.#eventQueue.shift()!;
      this.now = Math.max(this.now, at);
      act();
      check();
    }
    this.now = T0 + ms;
  }

  /** Starts a run that takes `ms` once it has a slot. */
  start(id: string, ms: number): void {
    this.runs.set(id, { id, ms, askedAt: this.now });
    this.after(this.#options.delayMs(), () => this.#take(id));
  }

  /** The slots that each shard has been lent, as the pool and as the shard record them. */
  loanRecords(): { readonly shard: string; readonly byPool: number; readonly byShard: number }[] {
    const { loans } = (this.actors.get(POOL)?.live.state ?? { loans: new Map() }) as {
      loans: Map<string, { lent: number }>;
    };
    return [...this.actors.values()]
      .filter(({ id }) => id !== POOL)
      .map(({ id, live }) => ({
        shard: id,
        byPool: loans.get(id)?.lent ?? 0,
        byShard: (live.state as { share: { lent: number } }).share.lent,
      }));
  }

  #take(id: string): void {
    const more = this.#isSharded ? { lender: POOL } : {};
    const shard = this.#actorOf(this.#limiterOf(id), limiterActor as unknown as AnyActor, more);
    const answer = this.#update(shard, 'take', { run: id, limit: this.limit, overflow: 'queue', group: '' });
    if ((answer as TakeAnswer).as === 'granted') this.#granted(id);
  }

  #limiterOf(run: string): string {
    return this.#isSharded ? shardId(POOL, run) : POOL;
  }

  #granted(id: string): void {
    const run = this.runs.get(id)!;
    if (run.grantedAt !== undefined) return;
    run.grantedAt = this.now;
    this.mostActive = Math.max(this.mostActive, ++this.active);
    this.after(run.ms, () => {
      run.closedAt = this.now;
      this.active -= 1;
      const shard = this.actors.get(this.#limiterOf(id));
      if (shard !== undefined)
        this.after(this.#options.delayMs(), () => this.#signal(shard.id, 'release', { run: id }));
    });
  }

  #actorOf(id: string, actor: AnyActor, more: object = {}): SimulatedActor {
    const known = this.actors.get(id);
    if (known !== undefined) return known;
    const start = { ...START, ...more } as CarryingStart;
    const live = beginActor(actor, start, { now: this.now, workflowId: id, runId: `${id} ${this.now}` });
    const simulated: SimulatedActor = { id, actor, start, live, isCalling: false, alarm: 0 };
    this.actors.set(id, simulated);
    return simulated;
  }

  #update(simulated: SimulatedActor, name: string, request: object): unknown {
    this.#count(simulated);
    const taken = applyUpdate(
      simulated.actor,
      simulated.live,
      name,
      { ...request, key: String(this.#order++) },
      this.now,
    );
    if (isRefusal(taken)) throw new Error(`${simulated.id} refuses: ${taken.message}`);
    simulated.live = taken.state;
    this.#perform(taken.effects);
    this.#schedule(simulated);
    return taken.answer;
  }

  #signal(id: string, name: string, payload: object): void {
    const simulated = this.actors.get(id);
    if (simulated === undefined) return;
    this.#count(simulated);
    this.#apply(simulated, simulated.actor.signals![name]!(simulated.live.state, payload, this.now));
    this.#schedule(simulated);
  }

  #apply(simulated: SimulatedActor, { state, effects }: StateChange<unknown>): void {
    simulated.live = { ...simulated.live, state };
    this.#perform(effects);
  }

  #perform(effects: StateChange<unknown>['effects'] = []): void {
    for (const effect of effects) {
      if (effect.type !== 'signal') continue;
      const { workflowId, name, payload } = effect;
      // A grant counts from the moment at which the shard has given it.
      if (name === 'granted') this.#granted(workflowId);
      else this.after(this.#options.delayMs(), () => this.#signal(workflowId, name, payload));
    }
  }

  #schedule(simulated: SimulatedActor): void {
    if (simulated.isCalling || this.actors.get(simulated.id) !== simulated) return;
    if (this.#options.continues()) {
      const start = JSON.parse(
        JSON.stringify(continueAsNewStart(simulated.actor, simulated.start, simulated.live)),
      ) as CarryingStart;
      simulated.live = beginActor(simulated.actor, start, {
        now: this.now,
        workflowId: simulated.id,
        runId: String(this.#order++),
      });
    }
    const alarm = ++simulated.alarm;
    const next = simulated.actor.next?.(simulated.live.state, this.now) ?? 'wait';
    if (next === 'wait') return;
    if (next === 'end') this.actors.delete(simulated.id);
    else if (next === 'act' || next.at <= this.now) this.#act(simulated);
    else
      this.after(next.at - this.now, () => {
        if (simulated.alarm !== alarm) return;
        this.#count(simulated);
        this.#schedule(simulated);
      });
  }

  #act(simulated: SimulatedActor): void {
    const acted = simulated.actor.act!(simulated.live.state, this.now);
    this.#apply(simulated, acted);
    const { call } = acted;
    if (call === undefined) {
      this.#schedule(simulated);
      return;
    }
    simulated.isCalling = true;
    const calledAt = this.now;
    const attempt = (): void => {
      const result = this.#activity(call.activity, call.argument);
      const isLost = this.#options.isLost();
      this.after(this.#options.delayMs(), () => {
        if (isLost) return attempt();
        simulated.isCalling = false;
        this.#count(simulated);
        this.#apply(simulated, call.done(simulated.live.state, result, calledAt, this.now));
        this.#schedule(simulated);
      });
    };
    this.after(this.#options.delayMs(), attempt);
  }

  #activity(name: string, argument: object): unknown {
    if (name === 'borrowSlots') {
      const {
        organizationId: _org,
        lender,
        ...request
      } = argument as { lender: string } & {
        [member: string]: unknown;
      };
      return this.#update(this.#actorOf(lender, limiterPoolActor as unknown as AnyActor), 'borrow', request);
    }
    const { runs } = argument as { runs: readonly string[] };
    const closed = runs.filter((id) => (this.runs.get(id)?.closedAt ?? Number.POSITIVE_INFINITY) <= this.now);
    return {
      closed,
      closedAt: closed.map((id) => this.runs.get(id)!.closedAt!),
      missing: runs.filter((id) => !this.runs.has(id) && !this.actors.has(id)),
    };
  }

  #count({ id }: SimulatedActor): void {
    this.events.set(id, (this.events.get(id) ?? 0) + 1);
  }
}
