/**
 * Segments: light effects and the pure steps between them run in one activity, in which the same core walks
 * (DESIGN.md). The run sends its state to the activity, which walks a copy of it, and answers with the list of effects
 * that have ended. The run then applies the list to its own state with `advance`: both come to the same state, since
 * both begin with the same one and take the same events at the same times (E2).
 *
 * While a segment is open, inbounds are queued in the runner until its list has been applied. Otherwise the run's state
 * would differ from the activity's copy, and effects would be lost (E4).
 */

import type { Mark } from '../contract/build-id.ts';
import type { Definition } from '../definition/document/types.ts';
import { isPlainObject, type Json } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import type { EffectResult, FailureShape } from '../steps/kind.ts';
import type { Program } from '../steps/program-types.ts';
import { advance } from './advance.ts';
import { dataIn, isEffectResult, isFailure } from './state/effect-results.ts';
import type { Command, Event, RunCommand } from './state/protocol.ts';
import { carriedBytes, definitionBytes } from './state/serialize.ts';
import { correctEstimate } from './state/space.ts';
import type { RunState } from './state/state.ts';
import { nextAttempt } from './walk/next-attempt.ts';

/** A segment needs a copy of the state. A run whose state is larger than this, definition included, has none. */
export const MAX_SEGMENT_STATE_BYTES = 256_000;

/** An effect of a segment that has ended. Times are epoch milliseconds. */
export interface SegmentEffectEnd {
  /** The id of the command. */
  readonly id: string;
  /** When it ended: the time of the event. Times in a list never go back. */
  readonly at: number;
  readonly startedAt: number;
  readonly result?: EffectResult;
  readonly error?: FailureShape;
  /**
   * The effect has not ended yet. `retry`: its attempt failed with `error`, and it continues as a regular activity
   * (next-attempt.ts). `alone`: its result is too large for the list, and it is repeated with the same key, as a
   * regular activity.
   */
  readonly again?: 'retry' | 'alone';
  /** The pause before the next attempt that the called service requested. */
  readonly retryAfterMs?: number;
}

/** The config of the activity `segment`. */
export interface SegmentConfig {
  readonly definition: Definition;
  /** The most bytes of a run's data on the worker of the run. */
  readonly dataBytes: number;
  /** The changes of commands that the code of that worker has. Absent: none of those that segments depend on. */
  readonly marks?: readonly Mark[];
  /** `serialize(program, state)`. The effects to begin with are its open ones. */
  readonly state: Json;
  /** The clock of the run: epoch milliseconds. */
  readonly at: number;
}

/** The data of its result: the effects in the order in which they ended. */
export interface SegmentList {
  readonly ends: readonly SegmentEffectEnd[];
}

/**
 * The effects among the commands that begin a segment together; empty where there is none. Then each command is carried
 * out alone. `commands` are new in `state`: nothing but them and timers may be open. `measures`: the worker measures a
 * state whose estimate is too large, which corrects the estimate. Run and fold call it after the same events, so both
 * have the same estimate.
 */
export function segmentCommands(
  program: Program,
  state: RunState,
  commands: readonly Command[],
  measures: boolean,
): readonly RunCommand[] {
  if (state.paused || state.yielding || isEnding(state) || state.admission !== undefined) return [];
  const runs = commands.filter((command) => command.type === 'run');
  if (runs.length === 0 || !runs.every(({ fuse }) => fuse === true)) return [];
  const { timers } = state.commandCounts;
  if (state.sentCount - timers !== runs.length) return [];
  return isSmall(program, state) || (measures && isSmallMeasured(program, state)) ? runs : [];
}

function isSmall(program: Program, state: RunState): boolean {
  return carriedBytes(program, state) <= MAX_SEGMENT_STATE_BYTES;
}

function isSmallMeasured(program: Program, state: RunState): boolean {
  if (definitionBytes(program) > MAX_SEGMENT_STATE_BYTES) return false;
  correctEstimate(program, state);
  return isSmall(program, state);
}

function isEnding({ ending, rollback, draining }: RunState): boolean {
  return ending !== undefined || rollback !== undefined || draining !== undefined;
}

/** What a segment has ended with. */
export interface SegmentOutcome {
  readonly ends: readonly SegmentEffectEnd[];
  /** The activity has failed, so its unfinished effects continue as regular activities. */
  readonly isFailed: boolean;
}

/** The outcome of an activity that has completed. A result of another form counts as a failure without any end. */
export function completedSegment(result: unknown): SegmentOutcome {
  const ends = endsIn(dataIn(result));
  return { ends: ends ?? [], isFailed: ends === undefined };
}

/**
 * The outcome of an activity that has failed. `lastHeartbeat`: what its last attempt reported before its worker was
 * gone, a SegmentList. Anything else counts as nothing.
 */
export const failedSegment = (lastHeartbeat?: unknown): SegmentOutcome => ({
  ends: endsIn(lastHeartbeat) ?? [],
  isFailed: true,
});

function endsIn(list: unknown): readonly SegmentEffectEnd[] | undefined {
  const ends = isPlainObject(list) ? list['ends'] : undefined;
  if (!Array.isArray(ends)) return undefined;
  const all: readonly unknown[] = ends;
  return all.every(isSegmentEnd) ? all : undefined;
}

function isSegmentEnd(end: unknown): end is SegmentEffectEnd {
  if (!isPlainObject(end)) return false;
  const { id, at, startedAt, result, error, again } = end;
  return (
    typeof id === 'string' &&
    typeof at === 'number' &&
    typeof startedAt === 'number' &&
    (result === undefined || isEffectResult(result)) &&
    (error === undefined || isFailure(error)) &&
    (again === undefined || again === 'retry' || again === 'alone')
  );
}

/** The event that an end of the list is for the core. Undefined where the effect has not ended. */
export function eventOfEnd({ id, at, result, error, again }: SegmentEffectEnd): Event | undefined {
  if (again !== undefined) return undefined;
  if (error !== undefined) return { type: 'failed', at, id, error };
  return { type: 'completed', at, id, result: result ?? { data: null } };
}

/** The members of the end of a failed effect. `requestedMs`: the pause that the called service requested. */
export function failedEnd(
  command: RunCommand,
  error: FailureShape,
  requestedMs?: number,
): Pick<SegmentEffectEnd, 'error' | 'again' | 'retryAfterMs'> {
  if (nextAttempt(command, error, requestedMs) === undefined) return { error };
  return { error, again: 'retry', ...omitUndefined({ retryAfterMs: requestedMs }) };
}

/** The walk within a segment. It decides which effects begin next, and when only the run itself can continue. */
export class SegmentWalk {
  readonly #program: Program;
  readonly #state: RunState;
  /** Effects that may begin, oldest first. */
  readonly #waiting = new Map<string, RunCommand>();
  #isOver = false;

  /** `state` is the walk's own from here on. */
  constructor(program: Program, state: RunState) {
    this.#program = program;
    this.#state = state;
    const queued = new Set(state.backlog);
    for (const [id, open] of Object.entries(state.openCommands))
      if (open.type === 'run' && open.command.fuse === true && !queued.has(id)) this.#waiting.set(id, open.command);
  }

  /** No effect can begin any more: only the run can carry out the next command, or an effect continues alone. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The effects to begin now, side by side. Each is answered once. */
  begin(): readonly RunCommand[] {
    if (this.#isOver) return [];
    const runs = [...this.#waiting.values()];
    this.#waiting.clear();
    return runs;
  }

  /** An effect has ended. Returns the ids of commands that were cancelled, which may be effects in flight. */
  applyEnd(end: SegmentEffectEnd): readonly string[] {
    this.#waiting.delete(end.id);
    const event = eventOfEnd(end);
    if (event === undefined) {
      this.#isOver = true;
      return [];
    }
    const cancelled: string[] = [];
    for (const command of advance(this.#program, this.#state, event)) {
      if (command.type === 'run' && command.fuse === true) this.#waiting.set(command.id, command);
      else if (command.type === 'cancel') {
        if (!this.#waiting.delete(command.id)) cancelled.push(command.id);
      } else if (command.type !== 'visible') this.#isOver = true;
    }
    return cancelled;
  }
}
