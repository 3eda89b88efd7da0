/**
 * The runner: what happens to a run comes here in the order in which it happened, becomes events of the core, and the
 * core's commands become what the world is asked for. The live run, the fold of a history, a simulation and the model
 * of the tests feed the same runner, so that all of them have one order of events (E6).
 *
 * - While a segment is open (segment.ts), everything that comes waits. Then the segment's list is applied, then what
 *   has waited, in order; and only then the next segment begins, or effects go on by themselves.
 * - An update is admitted when its turn comes, since an open segment may change the answer.
 * - Attempts of an effect are counted here: one that failed as a local activity or in a segment goes on as a regular
 *   activity.
 * - While new commands have to wait for the next execution (`RunnerPolicy.holds`), they are kept here.
 */

import { NOT_LIGHT, YIELD } from '../contract/activity.ts';
import { MARKS } from '../contract/build-id.ts';
import type { Accepted, Recorded, Refusal } from '../contract/run.ts';
import type { EffectResult, FailureShape } from '../steps/kind.ts';
import type { Program } from '../steps/program-types.ts';
import { admit, advanceInParts, examine } from './advance.ts';
import { SLOTS, slotEvents } from './inbound/admission.ts';
import { UPDATES } from './inbound/signals.ts';
import { recordedAt } from './inbound/view.ts';
import { eventOf, type SegmentConfig, type SegmentEnd, type SegmentOutcome, segmentOf } from './segment.ts';
import { CHILDREN, childEvents, resolvedIn } from './state/child-run.ts';
import type { Postpone } from './state/core.ts';
import { completionOf, dataIn, INVALID_RESULT } from './state/effect-results.ts';
import type { At, Command, Event, RunCommand, TraceEvent } from './state/protocol.ts';
import { serialize } from './state/serialize.ts';
import type { OpenCommand, RunState } from './state/state.ts';
import { childCommand } from './walk/commands.ts';
import { asRegular, type NextAttempt, nextAttempt } from './walk/next-attempt.ts';

/** What happens to a run. */
export type Inbound =
  | (At & { readonly type: 'started' })
  /**
   * The run goes on with a state in which commands are open. `isUnderway`: those that have been sent already, by their
   * ids.
   */
  | (At & { readonly type: 'carried'; readonly isUnderway?: (id: string) => boolean })
  /** `event`: what the signal or the update says. */
  | (At & { readonly type: 'message'; readonly as: 'signal' | 'update'; readonly event: Event })
  /** An activity has completed. Its result has any form, since somebody may have completed it by hand. */
  | (At & { readonly type: 'completed'; readonly id: string; readonly result: unknown })
  /** An activity has failed for good. */
  | (At & { readonly type: 'failed'; readonly id: string; readonly error: FailureShape })
  /**
   * An attempt as a local activity has failed. Whether another one follows is for the runner to say, or for the history
   * (`goesOn`). `retryAfterMs`: the pause that the other side asked for.
   */
  | (At & {
      readonly type: 'attemptFailed';
      readonly id: string;
      readonly error: FailureShape;
      readonly retryAfterMs?: number | undefined;
      readonly goesOn?: true;
      /** From 1, which is the default. */
      readonly attempt?: number;
    })
  | (At & { readonly type: 'fired' | 'childStarted'; readonly id: string })
  | (At & { readonly type: 'cancelRequested' })
  | (At & { readonly type: 'segmentEnded'; readonly outcome: SegmentOutcome });

/** What the world is asked for: the commands of the core, and what the runner adds. */
export type Outbound<I extends Inbound = Inbound> =
  | Command
  /** Run these effects, and the light ones after them, in one activity, and answer `segmentEnded`. */
  | (At & { readonly type: 'segment'; readonly runs: readonly RunCommand[] })
  /** End the open segment as soon as possible, with what it has done. */
  | { readonly type: 'hurry' }
  /** The next attempt of an effect, as a regular activity, after a pause. */
  | ({ readonly type: 'attempt'; readonly failure: FailureShape } & NextAttempt)
  /** What the message is answered. A signal has no answer; only its refusal is told. */
  | { readonly type: 'answered'; readonly inbound: I; readonly answer: (Accepted & Partial<Recorded>) | Refusal }
  /** The core has failed, which is a bug. The runner takes nothing more. */
  | { readonly type: 'broken'; readonly error: unknown; readonly event: Event['type'] };

type Taking<I extends Inbound> = Generator<Outbound<I> | undefined, void, undefined>;

export interface RunnerPolicy {
  /** Whether a segment may begin now. Asked once for each that could. */
  mayBegin(): boolean;
  /** Whether new commands wait for the next execution. */
  holds(): boolean;
}

/** Watches the events of the core, each with what it came with, and with the segment's end that it is. */
export interface RunnerWatch<I extends Inbound = Inbound> {
  /** It brings an event: it waits, or is about to be applied. An update that is refused at once does not arrive. */
  arrives?(inbound: I): void;
  /** The event to take instead; undefined drops it. */
  takes?(event: Event, inbound: I, end?: SegmentEnd): Event | undefined;
  /** After the event. */
  taken?(event: Event): void;
  readonly trace?: ((line: TraceEvent) => void) | undefined;
  readonly postpone?: Postpone | undefined;
  /** An attempt failed, and another one follows. */
  attemptFailed?(failed: FailedFirst, inbound: I, end?: SegmentEnd): void;
}

/** An attempt that another one follows. */
export interface FailedFirst {
  readonly id: string;
  readonly attempt: number;
  readonly error: FailureShape;
}

/** What is known of an event: the segment's end that it is, what it addresses. */
interface Known {
  readonly end?: SegmentEnd;
  readonly found?: ReturnType<typeof examine>['found'];
}

/** What an update says, the core can refuse. The other events are always taken. */
const CAN_BE_REFUSED: ReadonlySet<string> = new Set(UPDATES);

/** Runs one program from one state. */
export class Runner<I extends Inbound = Inbound> {
  readonly #program: Program;
  readonly #state: RunState;
  readonly #policy: RunnerPolicy;
  readonly #watch: RunnerWatch<I>;
  /** The open segment: the effects that it began with, and what has come since, in order. */
  #segment: { readonly runs: readonly RunCommand[]; readonly waiting: { event: Event; inbound: I }[] } | undefined;
  /** While its list is applied: the effects that have not ended. */
  #left: Map<string, RunCommand> | undefined;
  /** They are open in the state, so the next execution sends them. */
  readonly #held = new Map<string, Command>();
  /** Attempts that failed before the one that goes on, by the id of the command. */
  readonly #attempts = new Map<string, number>();
  #out: Outbound<I>[] = [];
  #isOver = false;

  /** `state` is the runner's from here on: it is changed in place. */
  constructor(program: Program, state: RunState, policy: RunnerPolicy, watch: RunnerWatch<I> = {}) {
    this.#program = program;
    this.#state = state;
    this.#policy = policy;
    this.#watch = watch;
  }

  /** Whether no segment is open, so that what comes is applied at once. */
  get isFree(): boolean {
    return this.#segment === undefined;
  }

  /** Whether commands wait for the next execution. */
  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /** Nothing more is applied. Messages are answered all the same. */
  stop(): void {
    this.#isOver = true;
  }

  /** How many attempts of an effect have failed before the open one. */
  attemptsBefore(id: string): number {
    return this.#attempts.get(id) ?? 0;
  }

  /**
   * Takes what has happened, and yields what the world is asked for, each before the next event is applied. Take all of
   * it before anything else. It yields undefined where long work may be interrupted: there the state is incomplete, and
   * nothing may read it. Never throws.
   */
  *take(inbound: I): Taking<I> {
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
        if (next === undefined && arrived.goesOn !== true) break;
        this.#attemptFailed({ id, attempt, error }, inbound);
        if (next !== undefined) yield { type: 'attempt', failure: error, ...next };
        return;
      }
    }
    const events = this.#eventsOf(arrived);
    if (events.length > 0 && arrived.type !== 'message') this.#watch.arrives?.(inbound);
    if (arrived.type === 'cancelRequested') {
      // The run ends in this execution.
      yield* this.#held.values();
      this.#held.clear();
    }
    for (const event of events) yield* this.#whenFree(event, inbound);
  }

  /** What the inbound says to the core, as it came. */
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
        return this.#completed(inbound.id, at, inbound.result);
      case 'failed':
      case 'attemptFailed': {
        const { id, error } = inbound;
        this.#attempts.delete(id);
        if (id === YIELD) return [{ type: 'continue', at }];
        return id === CHILDREN || id === SLOTS ? [] : [{ type: 'failed', at, id, error }];
      }
    }
  }

  #completed(id: string, at: number, result: unknown): readonly Event[] {
    this.#attempts.delete(id);
    switch (id) {
      case YIELD:
        return [{ type: 'continue', at }];
      case CHILDREN:
        return childEvents(dataIn(result), at);
      case SLOTS:
        return slotEvents(result, at);
    }
    if (openCommand(this.#state, id)?.type === 'child') {
      if (resolvedIn(result) === undefined) return [{ type: 'failed', at, id, error: INVALID_RESULT }];
      // The core's clock needs the activity's end. Only the child needs its result.
      return [{ type: 'completed', at, id, result: { data: null } }];
    }
    // Workers before segments took a result of any form.
    if (this.#program.isMarked('segments')) return [completionOf(id, at, result)];
    return [{ type: 'completed', at, id, result: result as EffectResult }];
  }

  /** Applies the event now, or after the open segment. */
  *#whenFree(event: Event, inbound: I): Taking<I> {
    if (this.#segment === undefined) {
      yield* this.#turn(event, inbound, true);
      return;
    }
    if (inbound.type === 'message') this.#watch.arrives?.(inbound);
    this.#segment.waiting.push({ event, inbound });
    if (event.type === 'cancel' || event.type === 'abort') yield { type: 'hurry' };
  }

  /** `isNew`: it has not waited. */
  *#turn(event: Event, inbound: I, isNew = false): Taking<I> {
    const isUpdate = inbound.type === 'message' && inbound.as === 'update';
    if (!isUpdate && !CAN_BE_REFUSED.has(event.type)) {
      if (isNew && inbound.type === 'message') this.#watch.arrives?.(inbound);
      yield* this.#apply(event, inbound);
      return;
    }
    const { answer, found } = examine(this.#program, this.#state, event);
    const isRefused = !('accepted' in answer);
    if (!isUpdate || !isRefused) {
      if (isNew) this.#watch.arrives?.(inbound);
      yield* this.#apply(event, inbound, { found });
    }
    if (isUpdate || isRefused) yield { type: 'answered', inbound, answer: this.#answered(event, answer) };
  }

  /** Whether the run accepts the event now, and which visit takes it. Changes nothing. */
  admits(event: Event): Accepted | Refusal {
    return admit(this.#program, this.#state, event);
  }

  /** After a decision, with what became of it. */
  #answered(event: Event, answer: Accepted | Refusal): (Accepted & Partial<Recorded>) | Refusal {
    if (event.type !== 'decide' || !('accepted' in answer)) return answer;
    return { ...answer, ...recordedAt(this.#state, answer.path) };
  }

  *#apply(given: Event, inbound: I, { end, found }: Known = {}): Taking<I> {
    if (this.#isOver) return;
    const { takes, trace, postpone, taken } = this.#watch;
    const event = takes === undefined ? given : takes(given, inbound, end);
    if (event === undefined) return;
    try {
      const known = event === given ? found : undefined;
      const commands = yield* advanceInParts(this.#program, this.#state, event, trace, postpone, known);
      this.#issue(commands, inbound.at);
    } catch (error) {
      this.#isOver = true;
      this.#out.push({ type: 'broken', error, event: event.type });
    }
    yield* this.#flush();
    taken?.(event);
  }

  *#flush(): Taking<I> {
    const out = this.#out;
    this.#out = [];
    yield* out;
  }

  /** New commands. While a list is applied, effects join those of the segment; else they may begin one. */
  #issue(commands: readonly Command[], at: number): void {
    const left = this.#left;
    if (left === undefined) {
      const isBegun = this.#beginSegment(commands, at);
      for (const command of commands) if (!isBegun || command.type !== 'run') this.#send(command);
      return;
    }
    for (const command of commands) {
      if (command.type === 'run') left.set(command.id, command);
      else if (command.type !== 'cancel' || !left.delete(command.id)) this.#send(command);
    }
  }

  #send(command: Command): void {
    switch (command.type) {
      case 'run':
      case 'yield':
      case 'child':
        if (this.#policy.holds()) this.#held.set('id' in command ? command.id : command.type, command);
        else this.#out.push(command);
        return;
      case 'cancel':
        this.#attempts.delete(command.id);
        if (!this.#held.delete(command.id)) this.#out.push(command);
        return;
      default:
        this.#out.push(command);
    }
  }

  /** Whether the commands, which are new, begin a segment. */
  #beginSegment(commands: readonly Command[], at: number): boolean {
    // Asked also where none may begin: it may correct the estimate of the state's size.
    const runs = segmentOf(this.#program, this.#state, commands, this.#program.isMarked('segments2'));
    if (runs.length === 0 || !this.#policy.mayBegin()) return false;
    this.#segment = { runs, waiting: [] };
    this.#out.push({ type: 'segment', runs, at: Math.max(this.#state.now, at) });
    return true;
  }

  *#endSegment({ ends, isFailed }: SegmentOutcome, inbound: I): Taking<I> {
    const segment = this.#segment;
    if (segment === undefined) return;
    this.#watch.arrives?.(inbound);
    const left = new Map(segment.runs.map((command) => [command.id, command]));
    const again = new Map<string, SegmentEnd>();
    this.#left = left;
    for (const end of ends) {
      const event = eventOf(end);
      if (event !== undefined) {
        left.delete(end.id);
        yield* this.#apply(event, inbound, { end });
        continue;
      }
      again.set(end.id, end);
      if (end.error !== undefined) this.#attemptFailed({ id: end.id, attempt: 1, error: end.error }, inbound, end);
    }
    this.#segment = undefined;
    for (const { event, inbound: waited } of segment.waiting) yield* this.#turn(event, waited);
    this.#left = undefined;
    if (this.#state.ending !== undefined || this.#isOver) return;
    const commands = [...left.values()];
    const isBegun = !isFailed && again.size === 0 && this.#beginSegment(commands, inbound.at);
    if (!isBegun) for (const command of commands) this.#goOn(command, again.get(command.id), isFailed);
    yield* this.#flush();
  }

  /** Sends an effect that has not ended in a segment, and may have had an attempt there. */
  #goOn(command: RunCommand, tried: SegmentEnd | undefined, isFailed: boolean): void {
    const failure = tried?.error;
    const next = failure === undefined ? undefined : nextAttempt(command, failure, tried?.retryAfterMs);
    if (next !== undefined && failure !== undefined) this.#out.push({ type: 'attempt', failure, ...next });
    else this.#send(isFailed || tried !== undefined ? asRegular(command) : command);
  }

  #nextAttempt(id: string, error: FailureShape, retryAfterMs: number | undefined): NextAttempt | undefined {
    const open = openCommand(this.#state, id);
    const command = open?.type === 'run' || open?.type === 'rollback' ? open.command : undefined;
    return command === undefined ? undefined : nextAttempt(command, error, retryAfterMs);
  }

  #attemptFailed(failed: FailedFirst, inbound: I, end?: SegmentEnd): void {
    // A step that is not light had no attempt.
    if (failed.error.code === NOT_LIGHT) return;
    this.#attempts.set(failed.id, failed.attempt);
    this.#watch.attemptFailed?.(failed, inbound, end);
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
      return childCommand(state, id, open.child);
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
