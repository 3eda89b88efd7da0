/**
 * The fold of one run's history (E6). It tells the runner what each event of the history says. The runner and the core
 * are those of the live run, so the fold comes to the same state, and hears of every visit. No worker is needed. If
 * history does not tell what the workflow saw, the fold takes the likeliest case and marks the place
 * (ambiguities.ts).
 */

import { SEGMENT, YIELD } from '../contract/activity.ts';
import { dataBytesOf, hasMark } from '../contract/build-id.ts';
import type { RunInput } from '../contract/run.ts';
import type { Definition } from '../definition/document/types.ts';
import { genesis } from '../engine/advance.ts';
import { toEvent, updateToEvent } from '../engine/inbound/signals.ts';
import { resumedAt } from '../engine/resume/rewind.ts';
import { type FailedFirst, type Inbound, Runner } from '../engine/runner.ts';
import { completedSegment, failedSegment, type SegmentEnd } from '../engine/segment.ts';
import { failureOfCause } from '../engine/state/causes.ts';
import type { Postpone } from '../engine/state/core.ts';
import { commandId } from '../engine/state/paths.ts';
import type { Event, TraceEvent } from '../engine/state/protocol.ts';
import { restore } from '../engine/state/serialize.ts';
import { genesisOf, runInputOf } from '../engine/state/start.ts';
import type { RunState } from '../engine/state/state.ts';
import { waitsOf } from '../engine/state/waits.ts';
import { defined } from '../json/defined.ts';
import type { Json } from '../json/json.ts';
import { compileInParts } from '../steps/compile/program.ts';
import { type Parts, runParts } from '../steps/parts.ts';
import type { Program } from '../steps/program-types.ts';
import {
  type ActivityAnswer,
  type ActivityStart,
  failuresBefore,
  goesOn,
  isOfSegment,
  segmentOutcomeIn,
  segmentsBegunIn,
} from './activity-ends.ts';
import { Ambiguities } from './ambiguities.ts';
import type { HistoryEvent, LocalMarker, Unreadable } from './events.ts';
import { OpenCommands } from './open-commands.ts';
import { openRows, visitOf, visits } from './open-rows.ts';
import type { Inherited, PendingAttempt, RunTrace } from './run-trace.ts';
import { type AnswerEvent, Grouping, type RequestEvent, type TaskEvents } from './task-events.ts';
import { type FailedAttempt, Rows, type RowWindow, type TraceRow } from './trace-rows.ts';

/** Options for folds that do more than return a trace. */
export interface FoldOptions {
  /** Called with every line of the trace, its place in the history, and the row of its visit as far as it is known. */
  readonly heard?: (line: TraceEvent, place: string, row: Readonly<Partial<TraceRow>>) => void;
  /** Called with every attempt that failed before another one, as far as the history tells it. */
  readonly failed?: (path: string, failed: FailedAttempt, place: string) => void;
  /** Replaces the event at a place; undefined drops it. */
  readonly takes?: (event: Event, at: { program: Program; state: RunState; place: string }) => Event | undefined;
  readonly postpone?: Postpone;
  /** Begins with this state instead of the state that the run carried. */
  readonly from?: RunState;
  /** An event that cannot be folded ends the rows with `unreadable` instead of an exception. */
  readonly tolerant?: true;
}

type Begun = Extract<HistoryEvent, { type: 'workflowStarted' }>;

/** How an effect came to its end. Times are epoch milliseconds. */
interface Effort {
  readonly attempts: number;
  readonly startedAt: number | undefined;
  readonly completedAt: number;
  readonly failures?: readonly FailedAttempt[];
  readonly by?: string | undefined;
}

/** What happened, as an event of the history tells it. */
type Told = Inbound & {
  readonly eventId: number;
  /** Of the end of an effect that is not in a segment. */
  readonly effort?: Effort;
  /** Of an attempt that failed. */
  readonly completedAt?: number | undefined;
};

const ALL_ROWS: RowWindow = { from: 0, to: Number.POSITIVE_INFINITY };

/** Folds event by event, so that memory does not hold a long history. Push the events in order, then read the trace. */
export class Fold {
  readonly #workflowId: string;
  readonly #grouping = new Grouping();
  readonly #rows: Rows;
  readonly #ambiguities = new Ambiguities();
  #program: Program | undefined;
  #state: RunState | undefined;
  #continuedFrom: string | undefined;
  #inherited: Inherited[] = [];
  readonly #openCommands = new OpenCommands();
  /** Attempts and starts of open activities. */
  readonly #starts = new Map<number, ActivityStart>();
  #runner: Runner<Told> | undefined;
  /** How many segments begin in the current task, as far as its events tell. */
  #segmentsBegun = 0;
  /** The place of the event that the core is taking. */
  #place = '';
  #restarted = false;
  #groups = 0;
  #unreadable: Unreadable | undefined;
  readonly #options: FoldOptions;
  /** Of the worker of the task that is folded. */
  #buildId: string | undefined;

  constructor(workflowId: string, window: RowWindow = ALL_ROWS, options: FoldOptions = {}) {
    this.#workflowId = workflowId;
    this.#rows = new Rows(window);
    this.#options = options;
  }

  /** The state after the events that have been folded. */
  get state(): RunState | undefined {
    return this.#state;
  }

  /** Visits that were open when this run took over from the previous one. */
  get inherited(): readonly Inherited[] {
    return this.#inherited;
  }

  /** How many groups of events have been folded: without a new one the state is as before. */
  get groups(): number {
    return this.#groups;
  }

  /** Why the fold has stopped. */
  get unreadable(): Unreadable | undefined {
    return this.#unreadable;
  }

  push(event: HistoryEvent): void {
    runParts(this.pushInParts(event));
  }

  /** Like `push`, in parts between which the caller can do other work. Finish all parts before the next event. */
  *pushInParts(event: HistoryEvent): Parts {
    if (this.#unreadable !== undefined) {
      if (event.type === 'closed') this.#grouping.push(event);
    } else if (event.type === 'unreadable') {
      yield* this.settleInParts();
      this.#endRows(event.id, { code: event.code, message: event.message });
      this.#continuedFrom ??= event.continuedFrom;
    } else yield* this.#tolerated(event.id, () => this.#takeUp(this.#grouping.push(event)));
  }

  /** Folds the last group as complete. This is safe between pages, since the commands of a task are on one page. */
  *settleInParts(): Parts {
    if (this.#unreadable === undefined) yield* this.#tolerated(0, () => this.#takeUp(this.#grouping.finish()));
  }

  *#takeUp(group: TaskEvents | undefined): Parts {
    if (group !== undefined) yield* this.#take(group);
  }

  *#tolerated(eventId: number, act: () => Parts): Parts {
    if (this.#options.tolerant !== true) {
      yield* act();
      return;
    }
    try {
      yield* act();
    } catch (error) {
      const told = error instanceof Error ? error.message : String(error);
      this.#endRows(eventId, { code: 'internal_error', message: `The history cannot be folded from here on: ${told}` });
    }
  }

  #endRows(eventId: number, why: Unreadable): void {
    this.#unreadable = why;
    this.#ambiguities.note(eventId, 'unreadable');
  }

  finish(pending: readonly PendingAttempt[] = []): RunTrace {
    return runParts(this.finishInParts(pending));
  }

  *finishInParts(pending: readonly PendingAttempt[] = []): Parts<RunTrace> {
    yield* this.settleInParts();
    if (this.#unreadable === undefined) yield* this.#tolerated(0, () => this.#takeOver());
    const closed = this.#grouping.closed;
    for (const one of pending) {
      const path = this.#rowOf(one.activityId);
      const before = this.#runner?.attemptsBefore(one.activityId) ?? 0;
      if (path !== undefined) this.#rows.attempt(path, { ...one, attempt: one.attempt + before });
    }
    const isWhole = this.#unreadable === undefined;
    if (isWhole && closed !== undefined && this.#program !== undefined && this.#state !== undefined)
      this.#ambiguities.ofEnd(closed, this.#program, this.#state);
    return {
      state: this.#state,
      program: this.#program,
      window: this.#rows.window,
      rows: this.#rows.rows,
      bytes: this.#rows.bytes,
      ends: this.#rows.ends,
      briefs: this.#rows.briefs,
      count: this.#rows.count,
      waiting: new Set(visits(this.#state).flatMap((visit) => waitsOf(visit).map(({ path }) => path))),
      inherited: this.#inherited,
      guesses: this.#ambiguities.guesses,
      closed,
      continuedFrom: this.#continuedFrom,
      restarted: this.#restarted,
      unreadable: this.#unreadable,
    };
  }

  *#take(group: TaskEvents): Parts {
    this.#groups++;
    this.#buildId = group.buildId;
    this.#segmentsBegun = segmentsBegunIn(group);
    if (group.begins !== undefined) yield* this.#begin(group.begins, group.at);
    if (this.#state === undefined) return;
    this.#ambiguities.ofGroup(group);
    yield* this.#takeOverSegment(group);
    for (const request of group.requests) yield* this.#request(request, group.at);
    for (const answer of group.answers) yield* this.#answer(answer, group.at);
    yield* this.#markers(group);
    this.#openCommands.issued(group.issued, (id, eventId) => {
      const path = this.#rowOf(id);
      if (path !== undefined) this.#rows.opened(path, eventId);
    });
  }

  /** Before its first task, a run that continued as new has the state of the previous run. */
  *#takeOver(): Parts {
    const event = this.#grouping.waiting;
    const input = runInputOf(event?.argument);
    if (event === undefined || input?.carried === undefined) return;
    this.#program = yield* this.#compile(input.definition);
    if (this.#program !== undefined) this.#resume({ ...input, carried: input.carried }, this.#program, event);
  }

  *#begin(event: Begun, at: number): Parts {
    const input = runInputOf(event.argument);
    if (input === undefined) return;
    const compiled = yield* this.#compile(input.definition);
    if (compiled === undefined) return;
    this.#program = compiled;
    if (input.carried !== undefined) {
      this.#resume({ ...input, carried: input.carried }, compiled, event);
      yield* this.#tell({ type: 'carried', at, eventId: event.id });
      return;
    }
    this.#run(compiled, genesis(compiled, genesisOf(input, this.#workflowId, event.time)));
    yield* this.#tell({ type: 'started', at, eventId: event.id });
  }

  /** A run whose definition does not compile, or is not a definition, failed in its first task. */
  *#compile(definition: Definition): Parts<Program | undefined> {
    try {
      const compiled = yield* compileInParts(definition, {
        dataBytes: () => dataBytesOf(this.#buildId),
        isMarked: (mark) => hasMark(this.#buildId, mark),
      });
      return 'program' in compiled ? compiled.program : undefined;
    } catch {
      return undefined;
    }
  }

  /** A state from another version of the interpreter cannot be read. Such a run has failed. */
  #resume(input: RunInput & { carried: Json }, program: Program, event: Begun): void {
    this.#continuedFrom = event.continuedFrom ?? input.retryOf?.runId;
    this.#restarted = event.continuedFrom === undefined;
    try {
      const carried = this.#options.from ?? restore(input.carried);
      this.#run(program, this.#restarted ? resumedAt(program, carried, event.time) : carried);
    } catch {
      this.#ambiguities.note(event.id, 'not_walkable');
      return;
    }
    const state = this.#state!;
    const open = openRows(state, program);
    if (this.#restarted) for (const row of open) this.#reopen(state, row, event);
    else {
      this.#inherited = open;
      this.#rows.inherit(open);
    }
    this.#openCommands.inherit(state);
  }

  /** After a retry a visit has a row in both runs. */
  #reopen(
    state: RunState,
    { path, stepSlug, stepName: name, stepType, startedAt: _before, ...at }: Inherited,
    { id, time }: Begun,
  ): void {
    const { inner, ...place } = at;
    const where = inner === true ? { within: visitOf(state, path) ?? path } : { place };
    this.#show({ t: 'begin', path, slug: stepSlug, ...defined({ name }), stepType, ...where, at: time }, `${id}/`);
    const command = state.openCommands[path];
    if (command?.type === 'run') this.#show({ t: 'input', path, input: command.command.config }, `${id}/`);
  }

  *#request(request: RequestEvent, at: number): Parts {
    const event =
      request.type === 'signal'
        ? toEvent(request.name, request.payload, at)
        : updateToEvent(request.name ?? '', request.payload, at);
    if (event === undefined) return;
    const as = request.type === 'signal' ? 'signal' : 'update';
    yield* this.#tell({ type: 'message', as, at, event, eventId: request.id });
  }

  *#answer(answer: AnswerEvent, at: number): Parts {
    switch (answer.type) {
      case 'cancelRequested':
        yield* this.#tell({ type: 'cancelRequested', at, eventId: answer.id });
        return;
      case 'activityStarted':
        this.#starts.set(answer.scheduledId, {
          attempt: answer.attempt,
          at: answer.time,
          ...defined({ lastFailure: answer.lastFailure }),
        });
        return;
      case 'timerFired': {
        const id = this.#openCommands.answered(answer.startedId);
        // The shell has timers that the core does not know.
        if (id !== undefined && this.#isOpen(id)) yield* this.#tell({ type: 'fired', at, id, eventId: answer.id });
        return;
      }
      case 'childStarted': {
        const id = this.#openCommands.answered(answer.initiatedId);
        if (id !== undefined) yield* this.#tell({ type: 'childStarted', at, id, eventId: answer.id });
        return;
      }
      case 'activityCompleted':
      case 'activityFailed': {
        const start = this.#starts.get(answer.scheduledId);
        this.#starts.delete(answer.scheduledId);
        const id = this.#openCommands.answered(answer.scheduledId);
        if (id === SEGMENT) {
          const outcome = segmentOutcomeIn(answer);
          yield* this.#tell({ type: 'segmentEnded', at, outcome, eventId: answer.id });
        } else if (id !== undefined) yield* this.#activityEnded(id, answer, at, start);
      }
    }
  }

  *#activityEnded(id: string, answer: ActivityAnswer, at: number, start: ActivityStart | undefined): Parts {
    const before = this.#runner?.attemptsBefore(id) ?? 0;
    const attempts = before + (start?.attempt ?? 1);
    const { id: eventId, time: completedAt, by } = answer;
    const effort = { attempts, startedAt: start?.at, completedAt, failures: failuresBefore(before, start), by };
    const ended = { at, id, eventId, effort };
    if (answer.type === 'activityCompleted') {
      yield* this.#tell({ type: 'completed', ...ended, result: answer.result });
      return;
    }
    const error = failureOfCause(answer.cause, answer.exhausted === true ? attempts : undefined);
    yield* this.#tell({ type: 'failed', ...ended, error });
  }

  /** A segment that began before the events of this group, as a local activity that went on when its task ended. */
  *#takeOverSegment({ markers, at, startedId }: TaskEvents): Parts {
    if (this.#runner?.isFree !== true || !markers.some(isOfSegment)) return;
    const isUnderway = (id: string): boolean => this.#openCommands.has(id);
    yield* this.#tell({ type: 'carried', at, eventId: startedId, isUnderway });
  }

  *#markers(group: TaskEvents): Parts {
    const again = new Set(group.issued.map(goesOn));
    for (const [n, marker] of group.markers.entries()) {
      const { summary: id, attempt } = marker;
      // Not an end: the SDK retries after a timer, or the shell continues with a regular activity of the same id,
      // after a pause if one is due.
      if (marker.backoff) continue;
      if (marker.cause !== undefined && again.has(id)) {
        const { completedAt, id: eventId } = marker;
        const failed = { id, at: group.at, attempt, error: failureOfCause(marker.cause), completedAt, eventId };
        yield* this.#tell({ type: 'attemptFailed', goesOn: true, ...failed });
        continue;
      }
      if (isOfSegment(marker)) {
        const outcome = marker.cause === undefined ? completedSegment(marker.result) : failedSegment();
        yield* this.#tell({ type: 'segmentEnded', at: group.at, outcome, eventId: marker.id });
        continue;
      }
      const at = Math.max(this.#state?.now ?? 0, group.at, marker.completedAt ?? 0);
      if (id === YIELD) {
        yield* this.#tell({ type: 'completed', at, id, result: marker.result, eventId: marker.id });
        continue;
      }
      // It was cancelled meanwhile: the shell ignores its result, and so does not read its clock either.
      if (!this.#awaits(marker)) continue;
      if (group.markers.some((other, m) => m > n && other.summary !== id && this.#awaits(other))) {
        this.#ambiguities.note(marker.id, 'local_activities_together');
      }
      // It began when its visit did, and both have the workflow's clock.
      const effort = { attempts: attempt, startedAt: undefined, completedAt: at };
      const ended = { at, id, eventId: marker.id, effort };
      const { cause, result } = marker;
      if (cause === undefined) yield* this.#tell({ type: 'completed', ...ended, result });
      else yield* this.#tell({ type: 'failed', ...ended, error: failureOfCause(cause) });
    }
  }

  #awaits(marker: LocalMarker): boolean {
    return marker.summary !== YIELD && this.#isOpen(marker.summary);
  }

  #isOpen(id: string): boolean {
    return Object.hasOwn(this.#state?.openCommands ?? {}, id);
  }

  #run(program: Program, state: RunState): void {
    this.#state = state;
    const policy = {
      // In the current task, as its events tell.
      mayBegin: () => hasMark(this.#buildId, 'segments') && this.#segmentsBegun-- > 0,
      holds: () => false,
    };
    this.#runner = new Runner<Told>(program, state, policy, {
      takes: (event, told, end) => this.#takes(event, told, end),
      taken: () => this.#rows.during(undefined),
      trace: (line) => this.#show(line, this.#place),
      postpone: this.#options.postpone,
      attemptFailed: (failed, told, end) => this.#attemptFailed(failed, told, end),
    });
  }

  *#tell(told: Told): Parts {
    if (this.#runner === undefined) return;
    for (const outbound of this.#runner.take(told)) {
      if (outbound === undefined) yield;
      else if (outbound.type === 'broken') throw outbound.error;
      else this.#openCommands.note(outbound);
    }
  }

  /** Before the core takes the event. */
  #takes(event: Event, told: Told, end: SegmentEnd | undefined): Event | undefined {
    const { eventId } = told;
    const id = 'id' in event ? event.id : undefined;
    if (id !== undefined && end !== undefined)
      this.#ends(id, event.at, eventId, { attempts: 1, startedAt: end.startedAt, completedAt: end.at });
    else if (id !== undefined && told.effort !== undefined && 'id' in told && told.id === id)
      this.#ends(id, event.at, eventId, told.effort);
    this.#place = `${eventId}/${id ?? ''}`;
    const [program, state] = [this.#program, this.#state];
    const { takes } = this.#options;
    if (takes === undefined || program === undefined || state === undefined) return event;
    const taken = takes(event, { program, state, place: this.#place });
    if (taken === undefined) this.#rows.during(undefined);
    return taken;
  }

  #ends(id: string, at: number, eventId: number, tried: Effort): void {
    const path = this.#rowOf(id);
    if (path === undefined) return;
    const { attempts, startedAt, completedAt, failures = [], by: endedBy } = tried;
    this.#failed(path, failures, eventId);
    this.#rows.opened(path, eventId);
    // The core's clock never goes back: an effect ends before what follows it begins, whoever wrote the times.
    const now = Math.max(this.#state?.now ?? 0, at);
    const end = Math.min(completedAt, now);
    const begin = startedAt === undefined ? undefined : Math.min(startedAt, end);
    const effort = { path, attempts, completedAt: end, ...defined({ startedAt: begin, endedBy }) };
    this.#rows.tried(effort);
    this.#rows.during(effort);
  }

  #attemptFailed({ id, attempt, error }: FailedFirst, told: Told, end: SegmentEnd | undefined): void {
    const path = this.#rowOf(id);
    if (path === undefined) return;
    const times =
      end === undefined ? { completedAt: told.completedAt } : { startedAt: end.startedAt, completedAt: end.at };
    this.#failed(path, [{ attempt, error, ...defined(times) }], told.eventId);
  }

  #failed(path: string, failures: readonly FailedAttempt[], eventId: number): void {
    for (const failed of failures) {
      if (failed.error !== undefined) this.#rows.failed(path, failed);
      this.#options.failed?.(path, failed, `${eventId}/`);
    }
  }

  /** The row of the visit of this open command. An undo step has a row of its own. */
  #rowOf(id: string): string | undefined {
    const command = this.#state?.openCommands[id];
    if (command?.type === 'rollback') return id;
    if (command === undefined || !('path' in command)) return undefined;
    const inner = this.#state?.frames[command.frame]?.visit?.innerRows ?? {};
    return Object.hasOwn(inner, command.suffix) ? commandId(command.path, command.suffix) : command.path;
  }

  #show(line: TraceEvent, place: string): void {
    const row = this.#rows.take(line);
    this.#options.heard?.(line, place, row);
  }
}
