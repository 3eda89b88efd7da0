/**
 * Walks a program on a simulated clock: a 30-day approval takes a millisecond. A function answers activities, a script
 * plays people. Dry runs and the tests of whole programs use it. The runner that drives live runs drives it too, so
 * events have the same order, and segments may be simulated. It behaves like Temporal where a run can see it: retries
 * with backoff, timers that are never early, events one after the other.
 */

import { YIELD_ACTIVITY_ID } from '../contract/run/activity.ts';
import type { RunError, RunStatus, WaitingFor } from '../contract/run/run.ts';
import type { Json } from '../json/json.ts';
import type { EffectResult, FailureShape } from '../steps/kind.ts';
import type { Program } from '../steps/program-types.ts';
import { genesis } from './advance.ts';
import { toEvent } from './inbound/signals.ts';
import { statusOf, waitingFor } from './inbound/view.ts';
import { type Inbound, type Outbound, Runner, type RunnerPolicy } from './runner.ts';
import { failedEnd, type SegmentEffectEnd, SegmentWalk } from './segment.ts';
import type { Command, Event, Genesis, RunCommand, TraceEvent } from './state/protocol.ts';
import { restore, serialize } from './state/serialize.ts';
import type { RunState } from './state/state.ts';
import { type Wait, waitsOf } from './state/waits.ts';
import { openVisits } from './walk/address.ts';

/** The result of an activity, and its duration in simulated milliseconds (0). */
export type SimulatedAnswer = ({ readonly result: EffectResult } | { readonly error: FailureShape }) & {
  readonly afterMs?: number;
};

/**
 * A signal as `temporal workflow signal` sends it: at a time after the start, or as soon as a step (slug or path)
 * waits.
 */
export interface ScriptedSignal {
  readonly afterMs?: number;
  readonly when?: string;
  readonly signal: string;
  readonly payload?: Json;
}

/** An open wait of a visit. */
export type OpenWait = Wait & { readonly slug: string };

/** How a wait is answered: by an event, or not before it times out. */
export type SimulatedReply = { readonly event: Event } | { readonly timesOut: true };

export interface Simulation {
  readonly genesis: Genesis;
  readonly effect: (command: RunCommand, attempt: number) => SimulatedAnswer;
  /** A child run's end. Default: it never ends. */
  readonly child?: (
    command: Extract<Command, { type: 'child' }>,
  ) => ({ output: Json } | { error: FailureShape }) | undefined;
  readonly signals?: readonly ScriptedSignal[];
  /** Answers an open wait, once nothing else happens without time passing. Undefined: it is not answered. */
  readonly reply?: (program: Program, state: RunState, wait: OpenWait) => SimulatedReply | undefined;
  /** Whether timeouts of waits for people fire (true). Without, the walk stops where only such waits are left. */
  readonly timeouts?: boolean;
  /**
   * Whether light effects run in segments, as they do on workers. A walk in which effects take no time is the same with
   * and without them, since no event arrives while one is open; it is cheaper without (false).
   */
  readonly segments?: boolean;
  /** E2: carry and restore the state after every event, as continue-as-new would. */
  readonly serializesAlways?: boolean;
  /** The number of events after which the walk counts as endless. */
  readonly maxEvents?: number;
  /** Receives the lines of the trace instead of collecting them, for long walks. */
  readonly onTrace?: (line: TraceEvent) => void;
  /** Receives every event in the order of the core. */
  readonly onEvent?: (event: Event) => void;
}

export interface Simulated {
  readonly status: RunStatus;
  readonly output?: Json;
  readonly error?: RunError;
  readonly waits: readonly WaitingFor[];
  readonly trace: readonly TraceEvent[];
  readonly commands: readonly Command[];
  readonly state: RunState;
  /** How many segments it had. */
  readonly segments: number;
  /** The signals of the script that were never sent. */
  readonly unsent: readonly ScriptedSignal[];
}

type TimedSignal = ScriptedSignal & { readonly afterMs: number };

interface PendingEvent {
  readonly at: number;
  readonly seq: number;
  readonly event: Inbound | ((at: number) => void);
}

/** As on workers, a segment begins no effect later than this, in milliseconds. */
const SEGMENT_MS = 1_000;

const DEFAULT_MAX_EVENTS = 1_000_000;

/** @throws Error where the walk does not end within `maxEvents`, and for an invalid signal of the script. */
export function simulate(program: Program, simulation: Simulation): Simulated {
  const world = new Simulator(program, simulation);
  world.walk();
  const { state, trace, commands, segments, unsent } = world;
  const { ending } = state;
  return {
    status: statusOf(state),
    ...(ending?.status === 'completed' ? { output: ending.output } : {}),
    ...(ending?.status === 'failed' || ending?.status === 'aborted' ? { error: ending.error } : {}),
    waits: waitingFor(state),
    trace,
    commands,
    state,
    segments,
    unsent,
  };
}

/** The run and its surroundings: pending events by time, and signals not yet sent. */
class Simulator {
  readonly trace: TraceEvent[] = [];
  readonly commands: Command[] = [];
  segments = 0;
  state: RunState;
  readonly #program: Program;
  readonly #simulation: Simulation;
  readonly #onTrace: (line: TraceEvent) => void;
  readonly #pendingEvents: PendingEvent[] = [];
  /** Cancelled commands; their results are dropped. */
  readonly #cancelled = new Set<string>();
  /** Signals with a time that have not been sent. */
  readonly #timed: Set<TimedSignal>;
  /** Signals without a time that have not been sent. Each waits for its step, or for the signals before it. */
  readonly #script: ScriptedSignal[];
  readonly #policy: RunnerPolicy;
  #runner: Runner;
  /** The ends of the open segment, and what ends it. */
  #segment: { readonly ends: readonly SegmentEffectEnd[]; readonly due: PendingEvent } | undefined;
  /** Waits that are to time out. */
  readonly #timedOutWaits = new Set<string>();
  #now: number;
  #seq = 0;

  constructor(program: Program, simulation: Simulation) {
    const { genesis: from, signals = [], onTrace } = simulation;
    this.#program = program;
    this.#simulation = simulation;
    this.#onTrace = onTrace ?? ((line) => this.trace.push(line));
    this.state = genesis(program, from);
    this.#policy = { mayBeginSegment: () => simulation.segments === true, holdsCommands: () => false };
    this.#runner = this.#runnerOf(this.state);
    this.#now = from.startedAt;
    this.#timed = new Set(signals.filter(isTimed));
    this.#script = signals.filter((signal) => !isTimed(signal));
    for (const signal of this.#timed) this.#schedule(signal, from.startedAt + signal.afterMs);
  }

  #runnerOf(state: RunState): Runner {
    return new Runner(this.#program, state, this.#policy, {
      beforeEvent: (event) => {
        this.#now = Math.max(this.#now, event.at);
        this.#simulation.onEvent?.(event);
        return event;
      },
      trace: this.#onTrace,
    });
  }

  get unsent(): readonly ScriptedSignal[] {
    return [...this.#script, ...this.#timed];
  }

  /** Walks to the run's end, or until no event is left. */
  walk(): void {
    const { maxEvents = DEFAULT_MAX_EVENTS, timeouts = true } = this.#simulation;
    this.#feed({ type: 'started', at: this.#now });
    for (let events = 0; this.state.ending === undefined; events++) {
      if (events > maxEvents) throw new Error(`The walk did not end within ${maxEvents} events.`);
      const next = this.#script[0];
      if (next !== undefined && !isBusy(this.state) && (next.when === undefined || waitsAt(this.state, next.when))) {
        this.#script.shift();
        this.#send(next, this.#now);
        continue;
      }
      if (this.#answerOpenWait()) continue;
      const at = indexOfNextEvent(this.#pendingEvents, this.state, timeouts || this.#timedOutWaits.size > 0);
      if (at === undefined) return;
      const { at: dueAt, event } = this.#pendingEvents.splice(at, 1)[0]!;
      if (typeof event !== 'function') {
        this.#feed(event);
        continue;
      }
      this.#now = Math.max(this.#now, dueAt);
      event(this.#now);
    }
  }

  /** Answers an open wait, if the script does. Returns whether it has. Notes which waits are to time out. */
  #answerOpenWait(): boolean {
    const { reply } = this.#simulation;
    if (reply === undefined || isBusy(this.state)) return false;
    const open = openVisits(this.state).flatMap(({ visit }) =>
      waitsOf(visit).map((wait) => ({ ...wait, slug: visit.slug })),
    );
    const deadlines = new Set(open.map(deadlineOf));
    for (const timedOut of this.#timedOutWaits) if (!deadlines.has(timedOut)) this.#timedOutWaits.delete(timedOut);
    for (const wait of open) {
      if (this.#timedOutWaits.has(deadlineOf(wait))) continue;
      const replied = reply(this.#program, this.state, wait);
      if (replied === undefined) continue;
      if ('event' in replied) {
        this.#sendEvent(replied.event);
        return true;
      }
      this.#timedOutWaits.add(deadlineOf(wait));
    }
    return false;
  }

  #enqueue(at: number, event: PendingEvent['event']): PendingEvent {
    const due = { at, seq: this.#seq++, event };
    this.#pendingEvents.push(due);
    return due;
  }

  #schedule(signal: TimedSignal, at: number): void {
    this.#enqueue(at, () => {
      this.#timed.delete(signal);
      this.#send(signal, at);
    });
  }

  #send({ signal, payload }: ScriptedSignal, at: number): void {
    if (signal === 'cancel') {
      this.#feed({ type: 'cancelRequested', at });
      return;
    }
    const event = toEvent(signal, payload, at);
    if (event === undefined) throw new Error(`The script's signal '${signal}' is none, or its payload does not fit.`);
    this.#sendEvent(event);
  }

  #sendEvent(event: Event): void {
    this.#feed({ type: 'message', as: 'signal', at: event.at, event });
  }

  #feed(inbound: Inbound): void {
    this.#now = Math.max(this.#now, inbound.at);
    for (const outbound of this.#runner.take(inbound)) if (outbound !== undefined) this.#perform(outbound);
    const { serializesAlways } = this.#simulation;
    if (serializesAlways !== true || this.state.ending !== undefined || !this.#runner.hasNoSegment) return;
    this.state = this.#copyState();
    this.#runner = this.#runnerOf(this.state);
  }

  #copyState(): RunState {
    return restore(JSON.parse(JSON.stringify(serialize(this.#program, this.state))) as Json);
  }

  #perform(outbound: Outbound): void {
    const now = this.#now;
    switch (outbound.type) {
      case 'broken':
        throw outbound.error;
      case 'answered':
        return;
      case 'segment':
        this.#runSegment(outbound.at);
        return;
      case 'endSegmentEarly':
        this.#endSegmentEarly();
        return;
      case 'attempt':
        this.#attempt(outbound.command, 1, now + outbound.pauseMs, outbound.earlierAttempts);
        return;
    }
    this.commands.push(outbound);
    switch (outbound.type) {
      case 'run':
        this.#cancelled.delete(outbound.id);
        this.#attempt(outbound, 1, now);
        return;
      case 'timer': {
        const at = Math.max(outbound.at, now);
        this.#enqueue(at, { type: 'fired', id: outbound.id, at });
        return;
      }
      case 'cancel':
        this.#cancelled.add(outbound.id);
        return;
      case 'yield':
        this.#enqueue(now, { type: 'completed', id: YIELD_ACTIVITY_ID, at: now, result: null });
        return;
      case 'child': {
        const { id } = outbound;
        this.#enqueue(now, { type: 'childStarted', id, at: now });
        const ended = outbound.wait === false ? undefined : this.#simulation.child?.(outbound);
        if (ended === undefined) return;
        const event: Event = { type: 'childDone', id, at: now, ...ended };
        this.#enqueue(now, { type: 'message', as: 'signal', at: now, event });
      }
    }
  }

  /** Walks a copy of the state through its light effects, as the activity of a segment does. */
  #runSegment(began: number): void {
    this.segments++;
    const walk = new SegmentWalk(this.#program, this.#copyState());
    const ends: SegmentEffectEnd[] = [];
    const inFlight = new Map<string, SegmentEffectEnd>();
    for (let at = began; ; ) {
      for (const command of at - began < SEGMENT_MS ? walk.begin() : []) {
        this.commands.push(command);
        inFlight.set(command.id, this.#endInSegment(command, at));
      }
      const [next] = [...inFlight.values()].sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      at = next.at;
      ends.push(next);
      inFlight.delete(next.id);
      for (const id of walk.applyEnd(next)) inFlight.delete(id);
    }
    const at = ends.at(-1)?.at ?? began;
    this.#segment = { ends, due: this.#enqueue(at, (then) => this.#endSegment(ends, then)) };
  }

  #endInSegment(command: RunCommand, startedAt: number): SegmentEffectEnd {
    const answer = this.#simulation.effect(command, 1);
    const end = { id: command.id, at: startedAt + (answer.afterMs ?? 0), startedAt };
    if ('result' in answer) return { ...end, result: answer.result };
    return { ...end, ...failedEnd(command, { ...answer.error, attempts: 1 }) };
  }

  #endSegment(ends: readonly SegmentEffectEnd[], at: number): void {
    this.#segment = undefined;
    this.#feed({ type: 'segmentEnded', at, outcome: { ends, isFailed: false } });
  }

  /** The open segment ends now, with what has ended. */
  #endSegmentEarly(): void {
    if (this.#segment === undefined) return;
    const { due, ends } = this.#segment;
    this.#pendingEvents.splice(this.#pendingEvents.indexOf(due), 1);
    const ended = ends.filter(({ at }) => at <= this.#now);
    this.#segment = { ends: ended, due: this.#enqueue(this.#now, (at) => this.#endSegment(ended, at)) };
  }

  /**
   * The n-th attempt of an activity, and after a backoff the next one, as on Temporal. `earlierAttempts`: attempts
   * before it, in a segment.
   */
  #attempt(command: RunCommand, n: number, at: number, earlierAttempts = 0): void {
    const { id, retry } = command;
    const answer = this.#simulation.effect(command, earlierAttempts + n);
    const endedAt = at + (answer.afterMs ?? 0);
    if ('result' in answer) {
      this.#enqueue(endedAt, { type: 'completed', id, result: answer.result, at: endedAt });
      return;
    }
    const { error } = answer;
    if (!error.retryable || n >= retry.maxAttempts || retry.nonRetryable.includes(error.code)) {
      this.#enqueue(endedAt, { type: 'failed', id, error: { ...error, attempts: earlierAttempts + n }, at: endedAt });
      return;
    }
    const backoff = Math.min(retry.initialIntervalMs * retry.backoffCoefficient ** (n - 1), retry.maximumIntervalMs);
    this.#enqueue(endedAt + backoff, (then) => {
      if (!this.#cancelled.has(id)) this.#attempt(command, n + 1, then, earlierAttempts);
    });
  }
}

const deadlineOf = ({ path, waiting }: Wait): string => `${path} ${waiting.until ?? ''}`;

function isTimed(signal: ScriptedSignal): signal is TimedSignal {
  return signal.when === undefined && signal.afterMs !== undefined;
}

/** Whether something will happen without time passing and without a signal. */
function isBusy(state: RunState): boolean {
  return (
    state.yielding ||
    Object.values(state.openCommands).some((command) => command.type === 'run' || command.type === 'rollback')
  );
}

function waitsAt(state: RunState, step: string): boolean {
  return Object.values(state.frames).some(
    ({ visit }) =>
      visit !== undefined &&
      waitsOf(visit).some((wait) => wait.path === step || (wait.ask === undefined && visit.slug === step)),
  );
}

/**
 * The index of the first due event. Without `timeouts`, the walk stops where only timeouts of waits for people are
 * left; before that, such a timeout fires as in a real run.
 */
function indexOfNextEvent(
  pendingEvents: readonly PendingEvent[],
  state: RunState,
  timeouts: boolean,
): number | undefined {
  let first: number | undefined;
  let mayFire = timeouts;
  for (let i = 0; i < pendingEvents.length; i++) {
    const one = pendingEvents[i]!;
    mayFire ||= typeof one.event === 'function' || one.event.type !== 'fired' || isSleep(state, one.event.id);
    const best = first === undefined ? undefined : pendingEvents[first]!;
    if (best === undefined || one.at < best.at || (one.at === best.at && one.seq < best.seq)) first = i;
  }
  return mayFire ? first : undefined;
}

function isSleep(state: RunState, id: string): boolean {
  const command = Object.hasOwn(state.openCommands, id) ? state.openCommands[id] : undefined;
  if (command?.type !== 'timer') return false;
  return state.frames[command.frame]?.visit?.waiting?.kind === 'timer';
}
