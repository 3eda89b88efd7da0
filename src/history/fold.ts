/**
 * The fold of one run's history (E6). It turns groups of history events into events of the core. The core walks the
 * same program with the same events as the live run, so it comes to the same state and reports every visit. No worker
 * is needed. If history does not tell what the workflow saw, the fold takes the likeliest case and marks the place
 * (ambiguities.ts).
 */

import { NOT_LIGHT, SEGMENT, YIELD } from '../contract/activity.ts';
import { dataBytesOf, hasMark } from '../contract/build-id.ts';
import type { RunInput } from '../contract/run.ts';
import type { Definition } from '../definition/document/types.ts';
import { admit, advanceInParts, genesis } from '../engine/advance.ts';
import { SLOTS, slotEvents } from '../engine/inbound/admission.ts';
import { toEvent, updateToEvent } from '../engine/inbound/signals.ts';
import { resumedAt } from '../engine/resume/rewind.ts';
import { completedSegment, eventOf, failedSegment, type SegmentEnd, type SegmentOutcome } from '../engine/segment.ts';
import { failureOfCause } from '../engine/state/causes.ts';
import { CHILDREN, childEvents } from '../engine/state/child-run.ts';
import type { Postpone } from '../engine/state/core.ts';
import { dataIn } from '../engine/state/effect-results.ts';
import { commandId } from '../engine/state/paths.ts';
import type { Command, Event, TraceEvent } from '../engine/state/protocol.ts';
import { restore } from '../engine/state/serialize.ts';
import { genesisOf, runInputOf } from '../engine/state/start.ts';
import type { RunState } from '../engine/state/state.ts';
import { waitsOf } from '../engine/state/waits.ts';
import { defined } from '../json/defined.ts';
import type { Json } from '../json/json.ts';
import { compileInParts } from '../steps/compile/program.ts';
import type { EffectResult } from '../steps/kind.ts';
import { type Parts, runParts } from '../steps/parts.ts';
import type { Program } from '../steps/program-types.ts';
import {
  type ActivityAnswer,
  type ActivityStart,
  failureEvent,
  failuresBefore,
  goesOn,
  isNotLight,
  isOfSegment,
  resultEvent,
  segmentOutcomeIn,
} from './activity-ends.ts';
import { Ambiguities } from './ambiguities.ts';
import type { HistoryEvent, LocalMarker, Unreadable } from './events.ts';
import { OpenCommands } from './open-commands.ts';
import { openRows, visitOf, visits } from './open-rows.ts';
import { OpenSegment } from './open-segment.ts';
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
  /** Attempts as a local activity, for steps that continue as a regular activity. */
  readonly #tries = new Map<string, number>();
  readonly #segment = new OpenSegment();
  #restarted = false;
  #groups = 0;
  #unreadable: Unreadable | undefined;
  readonly #options: FoldOptions;
  /** The data limit of the worker that completed the current task. */
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
      const before = this.#tries.get(one.activityId) ?? 0;
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
    this.#segment.enter(group);
    if (group.begins !== undefined) yield* this.#begin(group.begins, group.at);
    if (this.#state === undefined) return;
    this.#ambiguities.ofGroup(group);
    this.#openCarriedSegment(group);
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
      return;
    }
    this.#state = genesis(compiled, genesisOf(input, this.#workflowId, event.time));
    yield* this.#apply({ type: 'started', at }, event.id);
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
      this.#state = this.#restarted ? resumedAt(program, carried, event.time) : carried;
    } catch {
      this.#ambiguities.note(event.id, 'not_walkable');
      return;
    }
    const state = this.#state;
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
    this.#tell({ t: 'begin', path, slug: stepSlug, ...defined({ name }), stepType, ...where, at: time }, `${id}/`);
    const command = state.openCommands[path];
    if (command?.type === 'run') this.#tell({ t: 'input', path, input: command.command.config }, `${id}/`);
  }

  *#request(request: RequestEvent, at: number): Parts {
    const event =
      request.type === 'signal'
        ? toEvent(request.name, request.payload, at)
        : updateToEvent(request.name ?? '', request.payload, at);
    if (event === undefined) return;
    yield* this.#segment.whenFree(() =>
      request.type === 'signal' ? this.#apply(event, request.id) : this.#updated(event, request.id),
    );
  }

  /** An update that was accepted while a segment was open may be refused after it (message-handlers.ts). */
  *#updated(event: Event, eventId: number): Parts {
    const [program, state] = [this.#program, this.#state];
    if (program !== undefined && state !== undefined && !('accepted' in admit(program, state, event))) return;
    yield* this.#apply(event, eventId);
  }

  *#answer(answer: AnswerEvent, at: number): Parts {
    switch (answer.type) {
      case 'cancelRequested':
        yield* this.#segment.whenFree(() => this.#apply({ type: 'cancel', at }, answer.id));
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
        if (id !== undefined) yield* this.#segment.whenFree(() => this.#fired(id, at, answer.id));
        return;
      }
      case 'childStarted': {
        const id = this.#openCommands.answered(answer.initiatedId);
        if (id !== undefined)
          yield* this.#segment.whenFree(() => this.#apply({ type: 'childStarted', at, id }, answer.id));
        return;
      }
      case 'activityCompleted':
      case 'activityFailed': {
        const start = this.#starts.get(answer.scheduledId);
        this.#starts.delete(answer.scheduledId);
        const id = this.#openCommands.answered(answer.scheduledId);
        if (id === SEGMENT) {
          yield* this.#endSegment(segmentOutcomeIn(answer), answer.id);
        } else if (id !== undefined) yield* this.#segment.whenFree(() => this.#activityEnded(id, answer, at, start));
      }
    }
  }

  /** The shell has timers that the core does not know. */
  *#fired(id: string, at: number, eventId: number): Parts {
    if (this.#isOpen(id)) yield* this.#apply({ type: 'fired', at, id }, eventId);
  }

  *#activityEnded(id: string, answer: ActivityAnswer, at: number, start: ActivityStart | undefined): Parts {
    if (id === YIELD) {
      yield* this.#apply({ type: 'continue', at }, answer.id);
      return;
    }
    const before = this.#tries.get(id) ?? 0;
    this.#tries.delete(id);
    const failed = answer.type === 'activityFailed';
    if (id === CHILDREN && !failed) {
      for (const event of childEvents(dataIn(answer.result), at)) yield* this.#apply(event, answer.id);
    }
    if (id === SLOTS && !failed) {
      for (const event of slotEvents(answer.result, at)) yield* this.#apply(event, answer.id);
    }
    if (id === CHILDREN || id === SLOTS) return;
    const attempts = before + (start?.attempt ?? 1);
    const event = failed
      ? failureEvent(id, at, answer.cause, answer.exhausted === true ? attempts : undefined)
      : this.#completed(id, at, answer.result);
    yield* this.#applyEnd(event, answer.id, {
      attempts,
      startedAt: start?.at,
      completedAt: answer.time,
      failures: failuresBefore(before, start),
      by: answer.by,
    });
  }

  /** Workers before segments took a result of any form. */
  #completed(id: string, at: number, result: unknown): Event & { id: string } {
    if (!this.#segment.isKnown) return { type: 'completed', at, id, result: result as EffectResult };
    return resultEvent(id, at, result, this.#state?.openCommands[id]?.type === 'child');
  }

  /**
   * A segment that began before the events of this group: with the state that the run carried, or as a local activity
   * that went on when its task ended.
   */
  #openCarriedSegment(group: TaskEvents): void {
    const isCarried = group.begins !== undefined && this.#groups === 1;
    if (this.#segment.isOpen || this.#state === undefined) return;
    if (!isCarried && !group.markers.some(isOfSegment)) return;
    const { openCommands, backlog } = this.#state;
    const runs = Object.entries(openCommands).flatMap(([id, open]) =>
      open.type === 'run' && !backlog.includes(id) && !this.#openCommands.has(id) ? [open.command] : [],
    );
    this.#openSegment(runs);
  }

  #openSegment(commands: readonly Command[]): void {
    if (this.#program !== undefined && this.#state !== undefined)
      this.#segment.open(this.#program, this.#state, commands);
  }

  /** Applies a segment's list, then what has waited for it. */
  *#endSegment({ ends, isFailed }: SegmentOutcome, eventId: number): Parts {
    const runs = this.#segment.apply();
    if (runs === undefined) return;
    let goesOn = !isFailed;
    for (const end of ends) {
      const event = eventOf(end) as (Event & { id: string }) | undefined;
      const { id, startedAt, at: completedAt } = end;
      if (event === undefined) {
        goesOn = false;
        this.#attemptFailed(end, eventId);
      } else {
        runs.delete(id);
        yield* this.#applyEnd(event, eventId, { attempts: 1, startedAt, completedAt });
      }
    }
    yield* this.#segment.close();
    if (goesOn) this.#openSegment([...runs.values()]);
  }

  /** The first attempt of an effect, in a segment, after which a regular activity goes on. */
  #attemptFailed({ id, startedAt, at: completedAt, error }: SegmentEnd, eventId: number): void {
    // A step that is not light had no attempt.
    if (error === undefined || error.code === NOT_LIGHT) return;
    this.#tries.set(id, 1);
    const path = this.#rowOf(id);
    if (path !== undefined) this.#failed(path, [{ attempt: 1, error: error, startedAt, completedAt }], eventId);
  }

  *#markers(group: TaskEvents): Parts {
    const again = new Set(group.issued.map(goesOn));
    for (const [n, marker] of group.markers.entries()) {
      const { summary: id, attempt } = marker;
      // Not an end: the SDK retries after a timer, or the shell continues with a regular activity of the same id,
      // after a pause if one is due.
      if (marker.backoff) continue;
      if (marker.cause !== undefined && again.has(id)) {
        // A step that is not light had no attempt.
        if (isNotLight(marker.cause)) continue;
        this.#tries.set(id, attempt);
        const path = this.#rowOf(id);
        const failed = {
          attempt,
          error: failureOfCause(marker.cause),
          ...defined({ completedAt: marker.completedAt }),
        };
        if (path !== undefined) this.#failed(path, [failed], marker.id);
        continue;
      }
      if (isOfSegment(marker)) {
        const outcome = marker.cause === undefined ? completedSegment(marker.result) : failedSegment();
        yield* this.#endSegment(outcome, marker.id);
        continue;
      }
      const at = Math.max(this.#state?.now ?? 0, group.at, marker.completedAt ?? 0);
      if (id === YIELD) {
        yield* this.#apply({ type: 'continue', at }, marker.id);
        continue;
      }
      // It was cancelled meanwhile: the shell ignores its result, and so does not read its clock either.
      if (!this.#awaits(marker)) continue;
      if (group.markers.some((other, m) => m > n && other.summary !== id && this.#awaits(other))) {
        this.#ambiguities.note(marker.id, 'local_activities_together');
      }
      // It began when its visit did, and both have the workflow's clock.
      const tried = { attempts: attempt, startedAt: undefined, completedAt: at };
      const { cause, result } = marker;
      const event = cause === undefined ? this.#completed(id, at, result) : failureEvent(id, at, cause);
      yield* this.#applyEnd(event, marker.id, tried);
    }
  }

  #awaits(marker: LocalMarker): boolean {
    return marker.summary !== YIELD && this.#isOpen(marker.summary);
  }

  #isOpen(id: string): boolean {
    return Object.hasOwn(this.#state?.openCommands ?? {}, id);
  }

  *#applyEnd(
    event: Event & { id: string },
    eventId: number,
    tried: {
      attempts: number;
      startedAt: number | undefined;
      completedAt: number;
      failures?: readonly FailedAttempt[];
      by?: string | undefined;
    },
  ): Parts {
    const path = this.#rowOf(event.id);
    if (path !== undefined) {
      const { attempts, startedAt, completedAt, failures = [], by: endedBy } = tried;
      this.#failed(path, failures, eventId);
      this.#rows.opened(path, eventId);
      // The core's clock never goes back: an effect ends before what follows it begins, whoever wrote the times.
      const now = Math.max(this.#state?.now ?? 0, event.at);
      const end = Math.min(completedAt, now);
      const begin = startedAt === undefined ? undefined : Math.min(startedAt, end);
      const effort = { path, attempts, completedAt: end, ...defined({ startedAt: begin, endedBy }) };
      this.#rows.tried(effort);
      this.#rows.during(effort);
    }
    yield* this.#apply(event, eventId);
    this.#rows.during(undefined);
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

  /** `eventId`: the id of the history event. */
  *#apply(event: Event, eventId: number): Parts {
    const { program, state } = { program: this.#program, state: this.#state };
    if (program === undefined || state === undefined) return;
    const place = `${eventId}/${'id' in event ? event.id : ''}`;
    const { takes, postpone } = this.#options;
    const taken = takes === undefined ? event : takes(event, { program, state, place });
    if (taken === undefined) return;
    const commands = yield* advanceInParts(program, state, taken, (line) => this.#tell(line, place), postpone);
    for (const command of commands) this.#openCommands.note(command);
    this.#segment.issued(program, state, commands);
  }

  #tell(line: TraceEvent, place: string): void {
    const row = this.#rows.take(line);
    this.#options.heard?.(line, place, row);
  }
}
