/**
 * The runner translates inbounds, in order of arrival, into events of the core, and the core's commands into outbounds.
 * The live run, the fold of a history, a simulation and the model of the tests feed the same runner, so all of them
 * have one order of events (E6).
 *
 * - While a segment is open (segment.ts), inbounds are queued. When it ends, its list is applied, then the queue in
 *   order. Only then the next segment begins, or effects continue as separate activities.
 * - A queued update is admitted when it is dequeued, since an open segment may change the answer.
 * - The runner counts the attempts of an effect: one that failed as a local activity or in a segment continues as a
 *   regular activity.
 * - While new commands have to wait for the next execution (`RunnerPolicy.holdsCommands`), the runner holds them.
 */

import { MARKS } from '../contract/build-id.ts';
import { NOT_LIGHT_CODE, YIELD_ACTIVITY_ID } from '../contract/run/activity.ts';
import type { Accepted, DecisionEffect, Refusal } from '../contract/run/run.ts';
import type { EffectResult, FailureShape } from '../steps/kind.ts';
import type { Program } from '../steps/program-types.ts';
import { admit, advanceInChunks, checkRequestTarget } from './advance.ts';
import { SLOTS_ACTIVITY_ID, slotEvents } from './inbound/admission.ts';
import { UPDATES } from './inbound/signals.ts';
import { decisionEffectAt } from './inbound/view.ts';
import {
  eventOfEnd,
  type SegmentConfig,
  type SegmentEffectEnd,
  type SegmentOutcome,
  segmentCommands,
} from './segment.ts';
import { CHILDREN_ACTIVITY_ID, childEvents, parseResolvedWorkflow } from './state/child-run.ts';
import type { Postpone } from './state/core.ts';
import { completionOf, dataIn, INVALID_RESULT } from './state/effect-results.ts';
import type { At, Command, Event, RunCommand, TraceEvent } from './state/protocol.ts';
import { serialize } from './state/serialize.ts';
import type { OpenCommand, RunState } from './state/state.ts';
import { makeChildCommand } from './walk/commands.ts';
import { asRegular, type NextAttempt, nextAttempt } from './walk/next-attempt.ts';

/** What happens to a run. */
export type Inbound =
  | (At & { readonly type: 'started' })
  /**
   * The run continues with a state in which commands are open. `isUnderway`: whether the command with this id has been
   * sent already.
   */
  | (At & { readonly type: 'carried'; readonly isUnderway?: (id: string) => boolean })
  /** `event`: the event that the signal or the update stands for. */
  | (At & { readonly type: 'message'; readonly as: 'signal' | 'update'; readonly event: Event })
  /** An activity has completed. Its result has any form, since somebody may have completed it by hand. */
  | (At & { readonly type: 'completed'; readonly id: string; readonly result: unknown })
  /** An activity has failed for good. */
  | (At & { readonly type: 'failed'; readonly id: string; readonly error: FailureShape })
  /**
   * An attempt as a local activity has failed. The runner decides whether another one follows, unless the history
   * shows that one did (`continues`). `retryAfterMs`: the pause that the called service requested.
   */
  | (At & {
      readonly type: 'attemptFailed';
      readonly id: string;
      readonly error: FailureShape;
      readonly retryAfterMs?: number | undefined;
      readonly continues?: true;
      /** From 1, which is the default. */
      readonly attempt?: number;
    })
  | (At & { readonly type: 'fired' | 'childStarted'; readonly id: string })
  | (At & { readonly type: 'cancelRequested' })
  | (At & { readonly type: 'segmentEnded'; readonly outcome: SegmentOutcome });

/** What the caller has to perform: the commands of the core, and those that the runner adds. */
export type Outbound<I extends Inbound = Inbound> =
  | Command
  /** Run these effects, and the light ones after them, in one activity, and answer `segmentEnded`. */
  | (At & { readonly type: 'segment'; readonly runs: readonly RunCommand[] })
  /** End the open segment as soon as possible, with the ends so far. */
  | { readonly type: 'endSegmentEarly' }
  /** The next attempt of an effect, as a regular activity, after a pause. */
  | ({ readonly type: 'attempt'; readonly failure: FailureShape } & NextAttempt)
  /** The answer to a message. A signal has no answer; only its refusal is reported. */
  | { readonly type: 'answered'; readonly inbound: I; readonly answer: (Accepted & Partial<DecisionEffect>) | Refusal }
  /** The core has failed, which is a bug. The runner takes nothing more. */
  | { readonly type: 'broken'; readonly error: unknown; readonly event: Event['type'] };

type OutboundStream<I extends Inbound> = Generator<Outbound<I> | undefined, void, undefined>;

export interface RunnerPolicy {
  /** Whether a segment may begin now. Called once for each that could. */
  mayBeginSegment(): boolean;
  /** Whether new commands wait for the next execution. */
  holdsCommands(): boolean;
}

/** Hooks around the events of the core: each gets the inbound of the event, and its entry in a segment's list. */
interface RunnerHooks<I extends Inbound = Inbound> {
  /** The inbound has an event, which is queued or about to be applied. Not called for an update that is refused. */
  onArrival?(inbound: I): void;
  /** Returns the event to apply instead; undefined drops it. */
  beforeEvent?(event: Event, inbound: I, end?: SegmentEffectEnd): Event | undefined;
  afterEvent?(event: Event): void;
  readonly trace?: ((line: TraceEvent) => void) | undefined;
  readonly postpone?: Postpone | undefined;
  /** An attempt failed, and another one follows. */
  onAttemptFailed?(failed: RetriedAttempt, inbound: I, end?: SegmentEffectEnd): void;
}

/** An attempt that another one follows. */
export interface RetriedAttempt {
  readonly id: string;
  readonly attempt: number;
  readonly error: FailureShape;
}

/** What is known of an event: its entry in a segment's list, and the visit that it addresses. */
interface EventContext {
  readonly end?: SegmentEffectEnd;
  readonly found?: ReturnType<typeof checkRequestTarget>['found'];
}

/** The events of updates, which the core can refuse. It accepts all other events. */
const CAN_BE_REFUSED: ReadonlySet<string> = new Set(UPDATES);

/** Runs one program from one state. */
export class Runner<I extends Inbound = Inbound> {
  readonly #program: Program;
  readonly #state: RunState;
  readonly #policy: RunnerPolicy;
  readonly #hooks: RunnerHooks<I>;
  /** The open segment: the effects that it began with, and the events that arrived since, in order. */
  #segment: { readonly runs: readonly RunCommand[]; readonly waiting: { event: Event; inbound: I }[] } | undefined;
  /** While a segment's list is applied: the effects that have not ended. */
  #unfinished: Map<string, RunCommand> | undefined;
  /** Commands that wait. They are open in the state, so the next execution sends them. */
  readonly #heldCommands = new Map<string, Command>();
  /** Failed attempts before the open one, by the id of the command. */
  readonly #attempts = new Map<string, number>();
  #outbound: Outbound<I>[] = [];
  #isOver = false;

  /** The runner owns `state` from here on, and changes it in place. */
  constructor(program: Program, state: RunState, policy: RunnerPolicy, hooks: RunnerHooks<I> = {}) {
    this.#program = program;
    this.#state = state;
    this.#policy = policy;
    this.#hooks = hooks;
  }

  /** Whether no segment is open, so inbounds are applied immediately. */
  get hasNoSegment(): boolean {
    return this.#segment === undefined;
  }

  /** Whether commands wait for the next execution. */
  get hasHeldCommands(): boolean {
    return this.#heldCommands.size > 0;
  }

  /** Stops applying events. Messages are still answered. */
  stop(): void {
    this.#isOver = true;
  }

  /** How many attempts of an effect have failed before the open one. */
  earlierAttempts(id: string): number {
    return this.#attempts.get(id) ?? 0;
  }

  /**
   * Processes one inbound, and yields each outbound before the next event is applied. Consume the generator to its end
   * before any other call. It yields undefined where long work may be interrupted: there the state is incomplete, and
   * nothing may read it. Never throws.
   */
  *take(inbound: I): OutboundStream<I> {
    const arrived: Inbound = inbound;
    switch (arrived.type) {
      case 'carried': {
        const { isUnderway = () => false } = arrived;
        const open = openCommands(this.#state);
        this.#issue(
          open.filter((command) => !('id' in command && isUnderway(command.id))),
          arrived.at,
        );
        yield* this.#flush();
        return;
      }
      case 'segmentEnded':
        yield* this.#endSegment(arrived.outcome, inbound);
        return;
      case 'attemptFailed': {
        const { id, error, retryAfterMs, attempt = 1 } = arrived;
        const next = this.#nextAttempt(id, error, retryAfterMs);
        if (next === undefined && arrived.continues !== true) break;
        this.#attemptFailed({ id, attempt, error }, inbound);
        if (next !== undefined) yield { type: 'attempt', failure: error, ...next };
        return;
      }
    }
    const events = this.#eventsOf(arrived);
    if (events.length > 0 && arrived.type !== 'message') this.#hooks.onArrival?.(inbound);
    if (arrived.type === 'cancelRequested') {
      // The run ends in this execution.
      yield* this.#heldCommands.values();
      this.#heldCommands.clear();
    }
    for (const event of events) yield* this.#applyOrQueue(event, inbound);
  }

  /** The inbound as events of the core. */
  #eventsOf(inbound: Exclude<Inbound, { type: 'carried' | 'segmentEnded' }>): readonly Event[] {
    const { at } = inbound;
    switch (inbound.type) {
      case 'started':
        return [{ type: 'started', at }];
      case 'message':
        return [inbound.event];
      case 'cancelRequested':
        return [{ type: 'cancel', at }];
      case 'fired':
      case 'childStarted':
        return [{ type: inbound.type, at, id: inbound.id }];
      case 'completed':
        return this.#completionEvents(inbound.id, at, inbound.result);
      case 'failed':
      case 'attemptFailed': {
        const { id, error } = inbound;
        this.#attempts.delete(id);
        if (id === YIELD_ACTIVITY_ID) return [{ type: 'continue', at }];
        return id === CHILDREN_ACTIVITY_ID || id === SLOTS_ACTIVITY_ID ? [] : [{ type: 'failed', at, id, error }];
      }
    }
  }

  #completionEvents(id: string, at: number, result: unknown): readonly Event[] {
    this.#attempts.delete(id);
    switch (id) {
      case YIELD_ACTIVITY_ID:
        return [{ type: 'continue', at }];
      case CHILDREN_ACTIVITY_ID:
        return childEvents(dataIn(result), at);
      case SLOTS_ACTIVITY_ID:
        return slotEvents(result, at);
    }
    if (openCommand(this.#state, id)?.type === 'child') {
      if (parseResolvedWorkflow(result) === undefined) return [{ type: 'failed', at, id, error: INVALID_RESULT }];
      // The core's clock needs the activity's end. Only the child needs its result.
      return [{ type: 'completed', at, id, result: { data: null } }];
    }
    // Workers before segments took a result of any form.
    if (this.#program.isMarked('segments')) return [completionOf(id, at, result)];
    return [{ type: 'completed', at, id, result: result as EffectResult }];
  }

  /** Applies the event now, or after the open segment. */
  *#applyOrQueue(event: Event, inbound: I): OutboundStream<I> {
    if (this.#segment === undefined) {
      yield* this.#admitAndApply(event, inbound, true);
      return;
    }
    if (inbound.type === 'message') this.#hooks.onArrival?.(inbound);
    this.#segment.waiting.push({ event, inbound });
    if (event.type === 'cancel' || event.type === 'abort') yield { type: 'endSegmentEarly' };
  }

  /** `isNew`: the event was not queued behind a segment. */
  *#admitAndApply(event: Event, inbound: I, isNew = false): OutboundStream<I> {
    const isUpdate = inbound.type === 'message' && inbound.as === 'update';
    if (!isUpdate && !CAN_BE_REFUSED.has(event.type)) {
      if (isNew && inbound.type === 'message') this.#hooks.onArrival?.(inbound);
      yield* this.#apply(event, inbound);
      return;
    }
    const { answer, found } = checkRequestTarget(this.#program, this.#state, event);
    const isRefused = !('accepted' in answer);
    if (!isUpdate || !isRefused) {
      if (isNew) this.#hooks.onArrival?.(inbound);
      yield* this.#apply(event, inbound, { found });
    }
    if (isUpdate || isRefused) yield { type: 'answered', inbound, answer: this.#withRecord(event, answer) };
  }

  /** Whether the run accepts the event now, and which visit takes it. Changes nothing. */
  admits(event: Event): Accepted | Refusal {
    return admit(this.#program, this.#state, event);
  }

  /** Adds what a decision has brought about to its answer. */
  #withRecord(event: Event, answer: Accepted | Refusal): (Accepted & Partial<DecisionEffect>) | Refusal {
    if (event.type !== 'decide' || !('accepted' in answer)) return answer;
    return { ...answer, ...decisionEffectAt(this.#state, answer.path) };
  }

  *#apply(original: Event, inbound: I, { end, found }: EventContext = {}): OutboundStream<I> {
    if (this.#isOver) return;
    const { beforeEvent, trace, postpone, afterEvent } = this.#hooks;
    const event = beforeEvent === undefined ? original : beforeEvent(original, inbound, end);
    if (event === undefined) return;
    try {
      const known = event === original ? found : undefined;
      const commands = yield* advanceInChunks(this.#program, this.#state, event, trace, postpone, known);
      this.#issue(commands, inbound.at);
    } catch (error) {
      this.#isOver = true;
      this.#outbound.push({ type: 'broken', error, event: event.type });
    }
    yield* this.#flush();
    afterEvent?.(event);
  }

  *#flush(): OutboundStream<I> {
    const outbound = this.#outbound;
    this.#outbound = [];
    yield* outbound;
  }

  /** New commands. While a list is applied, effects join those of the segment; else they may begin one. */
  #issue(commands: readonly Command[], at: number): void {
    const unfinished = this.#unfinished;
    if (unfinished === undefined) {
      const isBegun = this.#beginSegment(commands, at);
      for (const command of commands) if (!isBegun || command.type !== 'run') this.#send(command);
      return;
    }
    for (const command of commands) {
      if (command.type === 'run') unfinished.set(command.id, command);
      else if (command.type !== 'cancel' || !unfinished.delete(command.id)) this.#send(command);
    }
  }

  #send(command: Command): void {
    switch (command.type) {
      case 'run':
      case 'yield':
      case 'child':
        if (this.#policy.holdsCommands()) this.#heldCommands.set('id' in command ? command.id : command.type, command);
        else this.#outbound.push(command);
        return;
      case 'cancel':
        this.#attempts.delete(command.id);
        if (!this.#heldCommands.delete(command.id)) this.#outbound.push(command);
        return;
      default:
        this.#outbound.push(command);
    }
  }

  /** Whether the commands, which are new, begin a segment. */
  #beginSegment(commands: readonly Command[], at: number): boolean {
    // Called also where no segment may begin, since it may correct the estimate of the state's size.
    const runs = segmentCommands(this.#program, this.#state, commands, this.#program.isMarked('segments2'));
    if (runs.length === 0 || !this.#policy.mayBeginSegment()) return false;
    this.#segment = { runs, waiting: [] };
    this.#outbound.push({ type: 'segment', runs, at: Math.max(this.#state.now, at) });
    return true;
  }

  *#endSegment({ ends, isFailed }: SegmentOutcome, inbound: I): OutboundStream<I> {
    const segment = this.#segment;
    if (segment === undefined) return;
    this.#hooks.onArrival?.(inbound);
    const unfinished = new Map(segment.runs.map((command) => [command.id, command]));
    const toRepeat = new Map<string, SegmentEffectEnd>();
    this.#unfinished = unfinished;
    for (const end of ends) {
      const event = eventOfEnd(end);
      if (event !== undefined) {
        unfinished.delete(end.id);
        yield* this.#apply(event, inbound, { end });
        continue;
      }
      toRepeat.set(end.id, end);
      if (end.error !== undefined) this.#attemptFailed({ id: end.id, attempt: 1, error: end.error }, inbound, end);
    }
    this.#segment = undefined;
    for (const { event, inbound: waitingInbound } of segment.waiting) yield* this.#admitAndApply(event, waitingInbound);
    this.#unfinished = undefined;
    if (this.#state.ending !== undefined || this.#isOver) return;
    const commands = [...unfinished.values()];
    const isBegun = !isFailed && toRepeat.size === 0 && this.#beginSegment(commands, inbound.at);
    if (!isBegun) for (const command of commands) this.#continueEffect(command, toRepeat.get(command.id), isFailed);
    yield* this.#flush();
  }

  /** Sends an effect that has not ended in a segment, and may have had an attempt there. */
  #continueEffect(command: RunCommand, attempted: SegmentEffectEnd | undefined, isFailed: boolean): void {
    const failure = attempted?.error;
    const next = failure === undefined ? undefined : nextAttempt(command, failure, attempted?.retryAfterMs);
    if (next !== undefined && failure !== undefined) this.#outbound.push({ type: 'attempt', failure, ...next });
    else this.#send(isFailed || attempted !== undefined ? asRegular(command) : command);
  }

  #nextAttempt(id: string, error: FailureShape, retryAfterMs: number | undefined): NextAttempt | undefined {
    const open = openCommand(this.#state, id);
    const command = open?.type === 'run' || open?.type === 'rollback' ? open.command : undefined;
    return command === undefined ? undefined : nextAttempt(command, error, retryAfterMs);
  }

  #attemptFailed(failed: RetriedAttempt, inbound: I, end?: SegmentEffectEnd): void {
    // A step that is not light had no attempt.
    if (failed.error.code === NOT_LIGHT_CODE) return;
    this.#attempts.set(failed.id, failed.attempt);
    this.#hooks.onAttemptFailed?.(failed, inbound, end);
  }
}

function openCommand({ openCommands: open }: RunState, id: string): OpenCommand | undefined {
  return Object.hasOwn(open, id) ? open[id] : undefined;
}

/**
 * The commands that the core had sent, in the order of their ids, and `yield` where the walk was interrupted. The core
 * itself sends those of the backlog. Activities are among them only where they were held back, since an execution ends
 * after its activities. Children that run already are not among them.
 */
function openCommands(state: RunState): Command[] {
  const waiting = new Set(state.backlog);
  const commands = Object.entries(state.openCommands)
    .filter(([id, open]) => !waiting.has(id) && !(open.type === 'child' && open.started === true))
    .map(([id, open]) => commandOf(state, id, open));
  return state.yielding ? [...commands, { type: 'yield' }] : commands;
}

function commandOf(state: RunState, id: string, open: OpenCommand): Command {
  switch (open.type) {
    case 'run':
    case 'rollback':
      return open.command;
    case 'timer':
    case 'deadline':
      return { type: 'timer', id, at: open.at };
    case 'child':
      return makeChildCommand(state, id, open.child);
  }
}

/** The config of the activity that runs a segment of this state, which begins now. */
export function segmentConfig(program: Program, state: RunState, at: number): SegmentConfig {
  return {
    definition: program.definition,
    dataBytes: program.dataBytes(),
    marks: MARKS.filter(program.isMarked),
    state: serialize(program, state),
    at,
  };
}
