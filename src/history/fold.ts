/**
 * The fold of one run's history (E6). It feeds the runner with an inbound for each event of the history. The runner and
 * the core are those of the live run, so the fold arrives at the same state and gets the trace of every visit. It needs
 * no worker. If history does not show what the workflow saw, the fold assumes the most likely case and marks the place
 * (ambiguities.ts).
 */

import { dataBytesOf, hasMark } from '../contract/build-id.ts';
import { SEGMENT_ACTIVITY_ID, YIELD_ACTIVITY_ID } from '../contract/run/activity.ts';
import type { RunInput } from '../contract/run/run.ts';
import type { Definition } from '../definition/document/types.ts';
import { genesis } from '../engine/advance.ts';
import { toEvent, updateToEvent } from '../engine/inbound/signals.ts';
import { withRenewedSlots } from '../engine/resume/rewind.ts';
import { type Inbound, type RetriedAttempt, Runner } from '../engine/runner.ts';
import { completedSegment, failedSegment, type SegmentEffectEnd } from '../engine/segment.ts';
import type { Postpone } from '../engine/state/core.ts';
import { failureOfCause } from '../engine/state/failure-causes.ts';
import { commandId } from '../engine/state/paths.ts';
import type { Event, TraceEvent } from '../engine/state/protocol.ts';
import { restore } from '../engine/state/serialize.ts';
import { genesisOf, runInputOf } from '../engine/state/start.ts';
import type { RunState } from '../engine/state/state.ts';
import { waitsOf } from '../engine/state/waits.ts';
import type { Json } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { type Chunks, runChunks } from '../steps/chunks.ts';
import { compileInChunks } from '../steps/compile/program.ts';
import type { Program } from '../steps/program-types.ts';
import {
  type ActivityAnswer,
  type ActivityStart,
  continuedActivityId,
  failuresBefore,
  isSegmentMarker,
  segmentOutcomeIn,
  segmentsBegunIn,
} from './activity-ends.ts';
import { Ambiguities } from './ambiguities.ts';
import type { HistoryEvent, LocalMarker, Unreadable } from './events.ts';
import { OpenCommands } from './open-commands.ts';
import { openRows, openVisitsIn, visitOf } from './open-rows.ts';
import type { Inherited, PendingAttempt, RunTrace } from './run-trace.ts';
import { type AnswerEvent, type RequestEvent, type TaskEvents, TaskGrouping } from './task-events.ts';
import { type FailedAttempt, Rows, type RowWindow, type TraceRow } from './trace-rows.ts';

/** Options for folds that do more than return a trace. */
export interface FoldOptions {
  /** Called with every line of the trace, its place in the history, and the row of its visit as far as it is known. */
  readonly onTraceLine?: (line: TraceEvent, place: string, row: Readonly<Partial<TraceRow>>) => void;
  /** Called with every attempt that failed before another one, as far as history has them. */
  readonly onFailedAttempt?: (path: string, failed: FailedAttempt, place: string) => void;
  /** Replaces the event at a place; undefined drops it. */
  readonly mapEvent?: (event: Event, at: { program: Program; state: RunState; place: string }) => Event | undefined;
  readonly postpone?: Postpone;
  /** Begins with this state instead of the state that the run carried. */
  readonly initialState?: RunState;
  /** An event that cannot be folded ends the rows with `unreadable` instead of an exception. */
  readonly tolerant?: true;
}

type StartedEvent = Extract<HistoryEvent, { type: 'workflowStarted' }>;

/** How an effect ended. Times are epoch milliseconds. */
interface EndedEffect {
  readonly attempts: number;
  readonly startedAt: number | undefined;
  readonly completedAt: number;
  readonly failures?: readonly FailedAttempt[];
  readonly by?: string | undefined;
}

/** An inbound that was read from an event of the history. */
type FoldInbound = Inbound & {
  readonly eventId: number;
  /** Of the end of an effect that is not in a segment. */
  readonly endedEffect?: EndedEffect;
  /** Of an attempt that failed. */
  readonly completedAt?: number | undefined;
};

const ALL_ROWS: RowWindow = { from: 0, to: Number.POSITIVE_INFINITY };

/** Folds event by event, so that memory does not hold a long history. Push the events in order, then read the trace. */
export class Fold {
  readonly #workflowId: string;
  readonly #grouping = new TaskGrouping();
  readonly #rows: Rows;
  readonly #ambiguities = new Ambiguities();
  #program: Program | undefined;
  #state: RunState | undefined;
  #continuedFrom: string | undefined;
  #inherited: Inherited[] = [];
  readonly #openCommands = new OpenCommands();
  /** Attempts and starts of open activities. */
  readonly #starts = new Map<number, ActivityStart>();
  #runner: Runner<FoldInbound> | undefined;
  /** How many segments begin in the current task, from its events. */
  #segmentsBegun = 0;
  /** The place of the event that the core is applying. */
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
    runChunks(this.pushInChunks(event));
  }

  /** As `push`, in chunks between which the caller can do other work. Finish all chunks before the next event. */
  *pushInChunks(event: HistoryEvent): Chunks {
    if (this.#unreadable !== undefined) {
      if (event.type === 'closed') this.#grouping.push(event);
    } else if (event.type === 'unreadable') {
      yield* this.settleInChunks();
      this.#endRows(event.id, { code: event.code, message: event.message });
      this.#continuedFrom ??= event.continuedFrom;
    } else yield* this.#runTolerant(event.id, () => this.#foldGroupIfAny(this.#grouping.push(event)));
  }

  /** Folds the last group as complete. This is safe between pages, since the commands of a task are on one page. */
  *settleInChunks(): Chunks {
    if (this.#unreadable === undefined)
      yield* this.#runTolerant(0, () => this.#foldGroupIfAny(this.#grouping.finish()));
  }

  *#foldGroupIfAny(group: TaskEvents | undefined): Chunks {
    if (group !== undefined) yield* this.#foldGroup(group);
  }

  *#runTolerant(eventId: number, work: () => Chunks): Chunks {
    if (this.#options.tolerant !== true) {
      yield* work();
      return;
    }
    try {
      yield* work();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#endRows(eventId, {
        code: 'internal_error',
        message: `The history cannot be folded from here on: ${message}`,
      });
    }
  }

  #endRows(eventId: number, why: Unreadable): void {
    this.#unreadable = why;
    this.#ambiguities.note(eventId, 'unreadable');
  }

  finish(pending: readonly PendingAttempt[] = []): RunTrace {
    return runChunks(this.finishInChunks(pending));
  }

  *finishInChunks(pending: readonly PendingAttempt[] = []): Chunks<RunTrace> {
    yield* this.settleInChunks();
    if (this.#unreadable === undefined) yield* this.#runTolerant(0, () => this.#restoreBeforeFirstTask());
    const closed = this.#grouping.closed;
    for (const one of pending) {
      const path = this.#rowOf(one.activityId);
      const before = this.#runner?.earlierAttempts(one.activityId) ?? 0;
      if (path !== undefined) this.#rows.addPendingActivity(path, { ...one, attempt: one.attempt + before });
    }
    const isComplete = this.#unreadable === undefined;
    if (isComplete && closed !== undefined && this.#program !== undefined && this.#state !== undefined)
      this.#ambiguities.noteEnd(closed, this.#program, this.#state);
    return {
      state: this.#state,
      program: this.#program,
      window: this.#rows.window,
      rows: this.#rows.rows,
      bytes: this.#rows.bytes,
      ends: this.#rows.ends,
      briefs: this.#rows.briefs,
      count: this.#rows.count,
      waiting: new Set(openVisitsIn(this.#state).flatMap((visit) => waitsOf(visit).map(({ path }) => path))),
      inherited: this.#inherited,
      guesses: this.#ambiguities.guesses,
      closed,
      continuedFrom: this.#continuedFrom,
      restarted: this.#restarted,
      unreadable: this.#unreadable,
    };
  }

  *#foldGroup(group: TaskEvents): Chunks {
    this.#groups++;
    this.#buildId = group.buildId;
    this.#segmentsBegun = segmentsBegunIn(group);
    if (group.startEvent !== undefined) yield* this.#begin(group.startEvent, group.at);
    if (this.#state === undefined) return;
    this.#ambiguities.noteGroup(group);
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
  *#restoreBeforeFirstTask(): Chunks {
    const event = this.#grouping.pendingStart;
    const input = runInputOf(event?.argument);
    if (event === undefined || input?.carried === undefined) return;
    this.#program = yield* this.#compile(input.definition);
    if (this.#program !== undefined) this.#resume({ ...input, carried: input.carried }, this.#program, event);
  }

  *#begin(event: StartedEvent, at: number): Chunks {
    const input = runInputOf(event.argument);
    if (input === undefined) return;
    const compiled = yield* this.#compile(input.definition);
    if (compiled === undefined) return;
    this.#program = compiled;
    if (input.carried !== undefined) {
      this.#resume({ ...input, carried: input.carried }, compiled, event);
      yield* this.#feed({ type: 'carried', at, eventId: event.id });
      return;
    }
    this.#run(compiled, genesis(compiled, genesisOf(input, this.#workflowId, event.time)));
    yield* this.#feed({ type: 'started', at, eventId: event.id });
  }

  /** A run whose definition does not compile, or is not a definition, failed in its first task. */
  *#compile(definition: Definition): Chunks<Program | undefined> {
    try {
      const compiled = yield* compileInChunks(definition, {
        dataBytes: () => dataBytesOf(this.#buildId),
        isMarked: (mark) => hasMark(this.#buildId, mark),
      });
      return 'program' in compiled ? compiled.program : undefined;
    } catch {
      return undefined;
    }
  }

  /** A state from another version of the interpreter cannot be read. Such a run has failed. */
  #resume(input: RunInput & { carried: Json }, program: Program, event: StartedEvent): void {
    this.#continuedFrom = event.continuedFrom ?? input.retryOf?.runId;
    this.#restarted = event.continuedFrom === undefined;
    try {
      const carried = this.#options.initialState ?? restore(input.carried);
      this.#run(program, this.#restarted ? withRenewedSlots(program, carried, event.time) : carried);
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
    { id, time }: StartedEvent,
  ): void {
    const { inner, ...place } = at;
    const traceMembers = inner === true ? { within: visitOf(state, path) ?? path } : { place };
    this.#show(
      { t: 'begin', path, slug: stepSlug, ...omitUndefined({ name }), stepType, ...traceMembers, at: time },
      `${id}/`,
    );
    const command = state.openCommands[path];
    if (command?.type === 'run') this.#show({ t: 'input', path, input: command.command.config }, `${id}/`);
  }

  *#request(request: RequestEvent, at: number): Chunks {
    const event =
      request.type === 'signal'
        ? toEvent(request.name, request.payload, at)
        : updateToEvent(request.name ?? '', request.payload, at);
    if (event === undefined) return;
    const as = request.type === 'signal' ? 'signal' : 'update';
    yield* this.#feed({ type: 'message', as, at, event, eventId: request.id });
  }

  *#answer(answer: AnswerEvent, at: number): Chunks {
    switch (answer.type) {
      case 'cancelRequested':
        yield* this.#feed({ type: 'cancelRequested', at, eventId: answer.id });
        return;
      case 'activityStarted':
        this.#starts.set(answer.scheduledId, {
          attempt: answer.attempt,
          at: answer.time,
          ...omitUndefined({ lastFailure: answer.lastFailure }),
        });
        return;
      case 'timerFired': {
        const id = this.#openCommands.answered(answer.startedId);
        // The shell has timers that the core does not know.
        if (id !== undefined && this.#isOpen(id)) yield* this.#feed({ type: 'fired', at, id, eventId: answer.id });
        return;
      }
      case 'childStarted': {
        const id = this.#openCommands.answered(answer.initiatedId);
        if (id !== undefined) yield* this.#feed({ type: 'childStarted', at, id, eventId: answer.id });
        return;
      }
      case 'activityCompleted':
      case 'activityFailed': {
        const start = this.#starts.get(answer.scheduledId);
        this.#starts.delete(answer.scheduledId);
        const id = this.#openCommands.answered(answer.scheduledId);
        if (id === SEGMENT_ACTIVITY_ID) {
          const outcome = segmentOutcomeIn(answer);
          yield* this.#feed({ type: 'segmentEnded', at, outcome, eventId: answer.id });
        } else if (id !== undefined) yield* this.#activityEnded(id, answer, at, start);
      }
    }
  }

  *#activityEnded(id: string, answer: ActivityAnswer, at: number, start: ActivityStart | undefined): Chunks {
    const before = this.#runner?.earlierAttempts(id) ?? 0;
    const attempts = before + (start?.attempt ?? 1);
    const { id: eventId, time: completedAt, by } = answer;
    const endedEffect = { attempts, startedAt: start?.at, completedAt, failures: failuresBefore(before, start), by };
    const ended = { at, id, eventId, endedEffect };
    if (answer.type === 'activityCompleted') {
      yield* this.#feed({ type: 'completed', ...ended, result: answer.result });
      return;
    }
    const error = failureOfCause(answer.cause, answer.exhausted === true ? attempts : undefined);
    yield* this.#feed({ type: 'failed', ...ended, error });
  }

  /** A segment that began before the events of this group, as a local activity that went on when its task ended. */
  *#takeOverSegment({ markers, at, startedId }: TaskEvents): Chunks {
    if (this.#runner?.hasNoSegment !== true || !markers.some(isSegmentMarker)) return;
    const isUnderway = (id: string): boolean => this.#openCommands.has(id);
    yield* this.#feed({ type: 'carried', at, eventId: startedId, isUnderway });
  }

  *#markers(group: TaskEvents): Chunks {
    const continuedIds = new Set(group.issued.map(continuedActivityId));
    for (const [n, marker] of group.markers.entries()) {
      const { summary: id, attempt } = marker;
      // Not an end: the SDK retries after a timer, or the shell continues with a regular activity of the same id,
      // after a pause if one is due.
      if (marker.backoff) continue;
      if (marker.cause !== undefined && continuedIds.has(id)) {
        const { completedAt, id: eventId } = marker;
        const failed = { id, at: group.at, attempt, error: failureOfCause(marker.cause), completedAt, eventId };
        yield* this.#feed({ type: 'attemptFailed', continues: true, ...failed });
        continue;
      }
      if (isSegmentMarker(marker)) {
        const outcome = marker.cause === undefined ? completedSegment(marker.result) : failedSegment();
        yield* this.#feed({ type: 'segmentEnded', at: group.at, outcome, eventId: marker.id });
        continue;
      }
      const at = Math.max(this.#state?.now ?? 0, group.at, marker.completedAt ?? 0);
      if (id === YIELD_ACTIVITY_ID) {
        yield* this.#feed({ type: 'completed', at, id, result: marker.result, eventId: marker.id });
        continue;
      }
      // It was cancelled meanwhile: the shell ignores its result, and so does not read its clock either.
      if (!this.#awaits(marker)) continue;
      if (group.markers.some((other, m) => m > n && other.summary !== id && this.#awaits(other))) {
        this.#ambiguities.note(marker.id, 'local_activities_together');
      }
      // It began when its visit did, and both have the workflow's clock.
      const endedEffect = { attempts: attempt, startedAt: undefined, completedAt: at };
      const ended = { at, id, eventId: marker.id, endedEffect };
      const { cause, result } = marker;
      if (cause === undefined) yield* this.#feed({ type: 'completed', ...ended, result });
      else yield* this.#feed({ type: 'failed', ...ended, error: failureOfCause(cause) });
    }
  }

  #awaits(marker: LocalMarker): boolean {
    return marker.summary !== YIELD_ACTIVITY_ID && this.#isOpen(marker.summary);
  }

  #isOpen(id: string): boolean {
    return Object.hasOwn(this.#state?.openCommands ?? {}, id);
  }

  #run(program: Program, state: RunState): void {
    this.#state = state;
    const policy = {
      mayBeginSegment: () => hasMark(this.#buildId, 'segments') && this.#segmentsBegun-- > 0,
      holdsCommands: () => false,
    };
    this.#runner = new Runner<FoldInbound>(program, state, policy, {
      beforeEvent: (event, inbound, end) => this.#beforeEvent(event, inbound, end),
      afterEvent: () => this.#rows.setEndingEffect(undefined),
      trace: (line) => this.#show(line, this.#place),
      postpone: this.#options.postpone,
      onAttemptFailed: (failed, inbound, end) => this.#attemptFailed(failed, inbound, end),
    });
  }

  *#feed(inbound: FoldInbound): Chunks {
    if (this.#runner === undefined) return;
    for (const outbound of this.#runner.take(inbound)) {
      if (outbound === undefined) yield;
      else if (outbound.type === 'broken') throw outbound.error;
      else this.#openCommands.note(outbound);
    }
  }

  /** Before the core takes the event. */
  #beforeEvent(event: Event, inbound: FoldInbound, end: SegmentEffectEnd | undefined): Event | undefined {
    const { eventId } = inbound;
    const id = 'id' in event ? event.id : undefined;
    if (id !== undefined && end !== undefined)
      this.#recordEnd(id, event.at, eventId, { attempts: 1, startedAt: end.startedAt, completedAt: end.at });
    else if (id !== undefined && inbound.endedEffect !== undefined && 'id' in inbound && inbound.id === id)
      this.#recordEnd(id, event.at, eventId, inbound.endedEffect);
    this.#place = `${eventId}/${id ?? ''}`;
    const [program, state] = [this.#program, this.#state];
    const { mapEvent } = this.#options;
    if (mapEvent === undefined || program === undefined || state === undefined) return event;
    const mapped = mapEvent(event, { program, state, place: this.#place });
    if (mapped === undefined) this.#rows.setEndingEffect(undefined);
    return mapped;
  }

  #recordEnd(id: string, at: number, eventId: number, effect: EndedEffect): void {
    const path = this.#rowOf(id);
    if (path === undefined) return;
    const { attempts, startedAt, completedAt, failures = [], by: endedBy } = effect;
    this.#failed(path, failures, eventId);
    this.#rows.opened(path, eventId);
    // The core's clock never goes back: an effect ends before the next one begins, whichever clock the times are from.
    const now = Math.max(this.#state?.now ?? 0, at);
    const end = Math.min(completedAt, now);
    const begin = startedAt === undefined ? undefined : Math.min(startedAt, end);
    const effectTimes = { path, attempts, completedAt: end, ...omitUndefined({ startedAt: begin, endedBy }) };
    this.#rows.addEffect(effectTimes);
    this.#rows.setEndingEffect(effectTimes);
  }

  #attemptFailed(
    { id, attempt, error }: RetriedAttempt,
    inbound: FoldInbound,
    end: SegmentEffectEnd | undefined,
  ): void {
    const path = this.#rowOf(id);
    if (path === undefined) return;
    const times =
      end === undefined ? { completedAt: inbound.completedAt } : { startedAt: end.startedAt, completedAt: end.at };
    this.#failed(path, [{ attempt, error, ...omitUndefined(times) }], inbound.eventId);
  }

  #failed(path: string, failures: readonly FailedAttempt[], eventId: number): void {
    for (const failed of failures) {
      if (failed.error !== undefined) this.#rows.addFailedAttempt(path, failed);
      this.#options.onFailedAttempt?.(path, failed, `${eventId}/`);
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
    const row = this.#rows.addLine(line);
    this.#options.onTraceLine?.(line, place, row);
  }
}
