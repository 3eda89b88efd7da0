/**
 * Walks a program on a simulated clock: a 30-day approval takes a millisecond. Effects are answered by a function,
 * people by a script. Used by dry runs and by the tests of whole programs; it follows Temporal in what a run can see:
 * retries with backoff, timers that are never early, events one after the other.
 */
import type { RunError, RunStatus, WaitingFor } from '../definition/run.ts';
import type { EffectResult, FailureShape } from '../steps/kind.ts';
import type { Program } from '../steps/program-types.ts';
import type { Json } from '../template/types.ts';
import { advance, genesis } from './advance.ts';
import { carry, restore } from './carry.ts';
import type { Command, Event, Genesis, RunCommand, TraceEvent } from './protocol.ts';
import { toEvent } from './signals.ts';
import type { RunState } from './state.ts';
import { statusOf, waitingFor } from './view.ts';
import { waitsOf } from './waits.ts';

/** What an effect answers, and after how many simulated milliseconds (0). */
export type Answer = ({ readonly result: EffectResult } | { readonly error: FailureShape }) & {
  readonly afterMs?: number;
};

/** A signal as `temporal workflow signal` would send it: at a time after the start, or as soon as that step (slug or path) waits. */
export interface ScriptedSignal {
  readonly afterMs?: number;
  readonly when?: string;
  readonly signal: string;
  readonly payload?: Json;
}

export interface Simulation {
  readonly genesis: Genesis;
  readonly effect: (command: RunCommand, attempt: number) => Answer;
  /** A child run's end. Default: it never ends. */
  readonly child?: (
    command: Extract<Command, { type: 'child' }>,
  ) => ({ output: Json } | { error: FailureShape }) | undefined;
  readonly signals?: readonly ScriptedSignal[];
  /** Whether time passes for waits on people and messages too, so that their timeouts come (true). A dry run stops there. */
  readonly timeouts?: boolean;
  /** E2: carry and restore the state after every event, as continue-as-new would. */
  readonly carryAlways?: boolean;
  /** Events after which the walk is given up as endless. */
  readonly maxEvents?: number;
  /** Takes the lines of the trace instead of their being kept: for walks that may be long. */
  readonly onTrace?: (line: TraceEvent) => void;
  /** Hears every event in the order in which the core is given them. */
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
  /** The signals of the script that never had their moment. */
  readonly unsent: readonly ScriptedSignal[];
}

interface Due {
  readonly at: number;
  readonly seq: number;
  readonly event: Event | ((at: number) => void);
}

const DEFAULT_MAX_EVENTS = 1_000_000;

export function simulate(program: Program, simulation: Simulation): Simulated {
  const { timeouts = true, carryAlways = false, maxEvents = DEFAULT_MAX_EVENTS } = simulation;
  const startedAt = simulation.genesis.startedAt;
  const trace: TraceEvent[] = [];
  const onTrace = simulation.onTrace ?? ((line: TraceEvent) => trace.push(line));
  const commands: Command[] = [];
  const due: Due[] = [];
  const script = [...(simulation.signals ?? [])].filter(
    (signal) => signal.when !== undefined || signal.afterMs === undefined,
  );
  const cancelled = new Set<string>();
  let state = genesis(program, simulation.genesis);
  let now = startedAt;
  let seq = 0;

  const later = (at: number, event: Due['event']): void => {
    due.push({ at, seq: seq++, event });
  };
  const timed = new Set<ScriptedSignal>();
  for (const signal of simulation.signals ?? []) {
    if (signal.when !== undefined || signal.afterMs === undefined) continue;
    const at = startedAt + signal.afterMs;
    timed.add(signal);
    later(at, () => {
      timed.delete(signal);
      send(signal, at);
    });
  }

  const attempt = (command: RunCommand, n: number, at: number): void => {
    const answer = simulation.effect(command, n);
    const when = at + (answer.afterMs ?? 0);
    if ('result' in answer) {
      later(when, { type: 'completed', id: command.id, result: answer.result, at: when });
      return;
    }
    const { error } = answer;
    const { retry } = command;
    if (!error.retryable || n >= retry.maxAttempts || retry.nonRetryable.includes(error.code)) {
      later(when, { type: 'failed', id: command.id, error: { ...error, attempts: n }, at: when });
      return;
    }
    const backoff = Math.min(retry.initialIntervalMs * retry.backoffCoefficient ** (n - 1), retry.maximumIntervalMs);
    later(when + backoff, (then) => {
      if (!cancelled.has(command.id)) attempt(command, n + 1, then);
    });
  };

  const perform = (command: Command): void => {
    commands.push(command);
    switch (command.type) {
      case 'run':
        cancelled.delete(command.id);
        attempt(command, 1, now);
        return;
      case 'timer':
        later(Math.max(command.at, now), { type: 'fired', id: command.id, at: Math.max(command.at, now) });
        return;
      case 'cancel':
        cancelled.add(command.id);
        return;
      case 'yield':
        later(now, { type: 'continue', at: now });
        return;
      case 'child': {
        later(now, { type: 'childStarted', id: command.id, at: now });
        const ended = command.wait === false ? undefined : simulation.child?.(command);
        if (ended !== undefined) later(now, { type: 'childDone', id: command.id, at: now, ...ended });
        return;
      }
      default:
    }
  };

  const feed = (event: Event): void => {
    now = Math.max(now, event.at);
    simulation.onEvent?.(event);
    for (const command of advance(program, state, event, onTrace)) perform(command);
    if (carryAlways && state.ending === undefined)
      state = restore(JSON.parse(JSON.stringify(carry(program, state))) as Json);
  };

  const send = (signal: ScriptedSignal, at: number): void => {
    const event =
      signal.signal === 'cancel' ? ({ type: 'cancel', at } as const) : toEvent(signal.signal, signal.payload, at);
    if (event === undefined)
      throw new Error(`The script's signal '${signal.signal}' is none, or its payload does not fit.`);
    feed(event);
  };

  feed({ type: 'started', at: now });
  for (let events = 0; state.ending === undefined; events++) {
    if (events > maxEvents) throw new Error(`The walk did not end within ${maxEvents} events.`);
    const next = script[0];
    if (next !== undefined && !busy(state) && (next.when === undefined || waitsAt(state, next.when))) {
      script.shift();
      send(next, now);
      continue;
    }
    const at = earliest(due, state, timeouts);
    if (at === undefined) break;
    const [one] = due.splice(at, 1);
    if (typeof one!.event === 'function') {
      now = Math.max(now, one!.at);
      one!.event(now);
    } else feed(one!.event);
  }
  const { ending } = state;
  return {
    status: statusOf(state),
    ...(ending?.status === 'completed' ? { output: ending.output } : {}),
    ...(ending?.status === 'failed' || ending?.status === 'aborted' ? { error: ending.error } : {}),
    waits: waitingFor(state),
    trace,
    commands,
    state,
    unsent: [...script, ...timed],
  };
}

/** Something will happen without time passing or anybody's word. */
function busy(state: RunState): boolean {
  return (
    state.yielding || Object.values(state.open).some((command) => command.type === 'run' || command.type === 'rollback')
  );
}

function waitsAt(state: RunState, step: string): boolean {
  return Object.values(state.frames).some(
    ({ visit }) =>
      visit !== undefined &&
      waitsOf(visit).some((wait) => wait.path === step || (wait.ask === undefined && visit.slug === step)),
  );
}

/** What is due first; without `timeouts`, timers that only limit a wait for somebody never are. */
function earliest(due: readonly Due[], state: RunState, timeouts: boolean): number | undefined {
  let first: number | undefined;
  for (let i = 0; i < due.length; i++) {
    const one = due[i]!;
    if (!timeouts && typeof one.event !== 'function' && one.event.type === 'fired' && !isSleep(state, one.event.id))
      continue;
    const best = first === undefined ? undefined : due[first]!;
    if (best === undefined || one.at < best.at || (one.at === best.at && one.seq < best.seq)) first = i;
  }
  return first;
}

function isSleep(state: RunState, id: string): boolean {
  const command = Object.hasOwn(state.open, id) ? state.open[id] : undefined;
  if (command?.type !== 'timer') return false;
  return state.frames[command.frame]?.visit?.waiting?.kind === 'timer';
}
