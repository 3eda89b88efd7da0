// A world without Temporal for a divided limit: its lender, its shards, and runs that take slots and end. Time is
// simulated. Messages and activities take their time, and activities may be repeated.

import { shardId } from '../../src/contract/lender.ts';
import type { TakeAnswer } from '../../src/contract/limiter.ts';
import {
  type Actor,
  beginActor,
  type CarryingStart,
  type Change,
  continuedStart,
  isRefusal,
  type Live,
  takeUpdate,
} from '../../workflows/actors/actor.ts';
import { lenderActor } from '../../workflows/actors/lender.ts';
import { limiterActor } from '../../workflows/actors/limiter.ts';

const T0 = Date.parse('2026-01-01T00:00:00Z');
export const LENDER = 'gate.o.limit';
const START = { organizationId: 'o', historyLimit: 1_000, scope: 'global' } as const;

type AnyActor = Actor<CarryingStart, unknown>;

interface Desk {
  readonly id: string;
  readonly actor: AnyActor;
  readonly start: CarryingStart;
  live: Live<unknown>;
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

export interface Nature {
  /** Milliseconds that a message and an activity take; drawn anew for each. */
  readonly delayMs: () => number;
  /** Whether an activity's answer is lost, so that it runs again. */
  readonly isLost: () => boolean;
  /** Whether an actor continues as new after it did something. */
  readonly continues: () => boolean;
}

export class World {
  limit: number;
  now = T0;
  readonly runs = new Map<string, Run>();
  readonly desks = new Map<string, Desk>();
  /** Events of each workflow: updates, signals, timers and activities. */
  readonly events = new Map<string, number>();
  active = 0;
  mostActive = 0;
  readonly #nature: Nature;
  readonly #isDivided: boolean;
  readonly #agenda: { at: number; order: number; act: () => void }[] = [];
  #order = 0;

  constructor(limit: number, nature: Nature, isDivided = true) {
    this.limit = limit;
    this.#nature = nature;
    this.#isDivided = isDivided;
  }

  /** Milliseconds since the beginning. */
  get passed(): number {
    return this.now - T0;
  }

  after(ms: number, act: () => void): void {
    const entry = { at: this.now + ms, order: this.#order++, act };
    // A binary search keeps the agenda in order.
    let [low, high] = [0, this.#agenda.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#agenda[middle]!;
      if (other.at < entry.at || (other.at === entry.at && other.order < entry.order)) low = middle + 1;
      else high = middle;
    }
    this.#agenda.splice(low, 0, entry);
  }

  /** Lets time pass. `check` runs after everything that happens. */
  until(ms: number, check: () => void = () => undefined): void {
    while (this.#agenda.length > 0 && this.#agenda[0]!.at <= T0 + ms) {
      const { at, act } = this.#agenda.shift()!;
      this.now = Math.max(this.now, at);
      act();
      check();
    }
    this.now = T0 + ms;
  }

  /** A run that goes for `ms` once it has a slot. */
  start(id: string, ms: number): void {
    this.runs.set(id, { id, ms, askedAt: this.now });
    this.after(this.#nature.delayMs(), () => this.#take(id));
  }

  /** What is lent to a shard by the lender's book, and what the shard believes to have. */
  books(): { readonly shard: string; readonly byLender: number; readonly byShard: number }[] {
    const { loans } = (this.desks.get(LENDER)?.live.state ?? { loans: new Map() }) as {
      loans: Map<string, { lent: number }>;
    };
    return [...this.desks.values()]
      .filter(({ id }) => id !== LENDER)
      .map(({ id, live }) => ({
        shard: id,
        byLender: loans.get(id)?.lent ?? 0,
        byShard: (live.state as { share: { lent: number } }).share.lent,
      }));
  }

  #take(id: string): void {
    const more = this.#isDivided ? { lender: LENDER } : {};
    const shard = this.#desk(this.#limiterOf(id), limiterActor as unknown as AnyActor, more);
    const answer = this.#update(shard, 'take', { run: id, limit: this.limit, overflow: 'queue', group: '' });
    if ((answer as TakeAnswer).as === 'granted') this.#granted(id);
  }

  #limiterOf(run: string): string {
    return this.#isDivided ? shardId(LENDER, run) : LENDER;
  }

  #granted(id: string): void {
    const run = this.runs.get(id)!;
    if (run.grantedAt !== undefined) return;
    run.grantedAt = this.now;
    this.mostActive = Math.max(this.mostActive, ++this.active);
    this.after(run.ms, () => {
      run.closedAt = this.now;
      this.active -= 1;
      const shard = this.desks.get(this.#limiterOf(id));
      if (shard !== undefined) this.after(this.#nature.delayMs(), () => this.#signal(shard.id, 'release', { run: id }));
    });
  }

  #desk(id: string, actor: AnyActor, more: object = {}): Desk {
    const known = this.desks.get(id);
    if (known !== undefined) return known;
    const start = { ...START, ...more } as CarryingStart;
    const live = beginActor(actor, start, { now: this.now, workflowId: id, runId: `${id} ${this.now}` });
    const desk: Desk = { id, actor, start, live, isCalling: false, alarm: 0 };
    this.desks.set(id, desk);
    return desk;
  }

  #update(desk: Desk, name: string, request: object): unknown {
    this.#count(desk);
    const taken = takeUpdate(desk.actor, desk.live, name, { ...request, key: String(this.#order++) }, this.now);
    if (isRefusal(taken)) throw new Error(`${desk.id} refuses: ${taken.message}`);
    desk.live = taken.state;
    this.#perform(taken.effects);
    this.#pump(desk);
    return taken.answer;
  }

  #signal(id: string, name: string, payload: object): void {
    const desk = this.desks.get(id);
    if (desk === undefined) return;
    this.#count(desk);
    this.#apply(desk, desk.actor.signals![name]!(desk.live.state, payload, this.now));
    this.#pump(desk);
  }

  #apply(desk: Desk, { state, effects }: Change<unknown>): void {
    desk.live = { ...desk.live, state };
    this.#perform(effects);
  }

  #perform(effects: Change<unknown>['effects'] = []): void {
    for (const effect of effects) {
      if (effect.type !== 'signal') continue;
      const { workflowId, name, payload } = effect;
      // A grant counts from the moment at which the shard has given it.
      if (name === 'granted') this.#granted(workflowId);
      else this.after(this.#nature.delayMs(), () => this.#signal(workflowId, name, payload));
    }
  }

  #pump(desk: Desk): void {
    if (desk.isCalling || this.desks.get(desk.id) !== desk) return;
    if (this.#nature.continues()) {
      const start = JSON.parse(JSON.stringify(continuedStart(desk.actor, desk.start, desk.live))) as CarryingStart;
      desk.live = beginActor(desk.actor, start, { now: this.now, workflowId: desk.id, runId: String(this.#order++) });
    }
    const alarm = ++desk.alarm;
    const next = desk.actor.next?.(desk.live.state, this.now) ?? 'wait';
    if (next === 'wait') return;
    if (next === 'end') this.desks.delete(desk.id);
    else if (next === 'act' || next.at <= this.now) this.#act(desk);
    else
      this.after(next.at - this.now, () => {
        if (desk.alarm !== alarm) return;
        this.#count(desk);
        this.#pump(desk);
      });
  }

  #act(desk: Desk): void {
    const acted = desk.actor.act!(desk.live.state, this.now);
    this.#apply(desk, acted);
    const { call } = acted;
    if (call === undefined) {
      this.#pump(desk);
      return;
    }
    desk.isCalling = true;
    const calledAt = this.now;
    const attempt = (): void => {
      const result = this.#activity(call.activity, call.argument);
      const isLost = this.#nature.isLost();
      this.after(this.#nature.delayMs(), () => {
        if (isLost) return attempt();
        desk.isCalling = false;
        this.#count(desk);
        this.#apply(desk, call.done(desk.live.state, result, calledAt, this.now));
        this.#pump(desk);
      });
    };
    this.after(this.#nature.delayMs(), attempt);
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
      return this.#update(this.#desk(lender, lenderActor as unknown as AnyActor), 'borrow', request);
    }
    const { runs } = argument as { runs: readonly string[] };
    const closed = runs.filter((id) => (this.runs.get(id)?.closedAt ?? Number.POSITIVE_INFINITY) <= this.now);
    return {
      closed,
      closedAt: closed.map((id) => this.runs.get(id)!.closedAt!),
      missing: runs.filter((id) => !this.runs.has(id) && !this.desks.has(id)),
    };
  }

  #count({ id }: Desk): void {
    this.events.set(id, (this.events.get(id) ?? 0) + 1);
  }
}
