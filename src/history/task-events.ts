/**
 * The events that the workflow got in one task, and their order (TEMPORAL.md §3). A group has all events from the
 * previous group to a WorkflowTaskStarted that its WorkflowTaskCompleted follows. Failed and timed-out tasks do not end
 * a group. The SDK delivers signals and updates first, in order, then all other events in order, and last the ends of
 * local activities, in the order of the markers after the task's completion.
 */

import { UPDATES } from '../engine/inbound/signals.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import type { Closed, CommandEvent, ExternalEvent, HistoryEvent, LocalMarker } from './events.ts';

type StartedEvent = Extract<HistoryEvent, { type: 'workflowStarted' }>;
export type RequestEvent = Extract<HistoryEvent, { type: 'signal' | 'updateAccepted' | 'updateAdmitted' }>;
export type AnswerEvent = Exclude<ExternalEvent, RequestEvent>;

/** The facts of a task that do not depend on the order of its events. */
interface Task {
  /** The start of the task, which is the clock of all its events except local activities. */
  readonly at: number;
  readonly startedId: number;
  /** The build id of the worker that completed the task. */
  readonly buildId: string | undefined;
  /** The first event of the history; only in the first group. */
  readonly startEvent?: StartedEvent;
  /** Whether a task of this group timed out before the completed one. */
  readonly timedOut: boolean;
  /** The task had no commands, and the next task was scheduled immediately: a replay joins both (see `replayed`). */
  silent: boolean;
  /** The worker of the task did not have the run in its cache, and replayed the history up to here. */
  readonly replayed: boolean;
}

export interface TaskEvents extends Readonly<Task> {
  /** Signals and accepted updates, in the order of delivery. */
  readonly requests: readonly RequestEvent[];
  readonly answers: readonly AnswerEvent[];
  readonly markers: readonly LocalMarker[];
  /** The commands of the task without markers and updates. */
  readonly issued: readonly Exclude<CommandEvent, LocalMarker | RequestEvent>[];
}

interface Draft {
  readonly task: Task;
  readonly inputs: readonly ExternalEvent[];
  readonly issued: CommandEvent[];
}

function handlerOrder(request: RequestEvent): number {
  return request.type === 'signal' ? -1 : (UPDATES as readonly (string | undefined)[]).indexOf(request.name);
}

/** The first task is the second event, on the common queue. */
const FIRST_TASK = 2;

/** Groups a history event by event, so that memory does not hold it. Returns each group when it is complete. */
export class TaskGrouping {
  #inputs: ExternalEvent[] = [];
  #startEvent: StartedEvent | undefined;
  #started: HistoryEvent | undefined;
  #timedOut = false;
  #replayed = false;
  #afterCompleted = false;
  #draft: Draft | undefined;
  #closed: Closed | undefined;
  /** Requests that were admitted before their task, by the id of the update. */
  #admitted = new Map<string, Extract<ExternalEvent, { type: 'updateAdmitted' }>>();

  push(event: HistoryEvent): TaskEvents | undefined {
    if (event.type === 'taskScheduled') {
      if (this.#afterCompleted && this.#draft !== undefined) this.#draft.task.silent = true;
      if (!event.sticky && event.id > FIRST_TASK) this.#replayed = true;
    }
    this.#afterCompleted = event.type === 'taskCompleted';
    switch (event.type) {
      case 'workflowStarted':
        this.#startEvent = event;
        return undefined;
      case 'taskStarted':
        this.#started = event;
        return undefined;
      case 'taskTimedOut':
        this.#timedOut ||= this.#started !== undefined;
        this.#started = undefined;
        return undefined;
      case 'taskFailed':
        this.#started = undefined;
        return undefined;
      case 'taskCompleted':
        return this.#divide(event.buildId);
      case 'activityScheduled':
      case 'timerStarted':
      case 'childInitiated':
      case 'updateAccepted':
      case 'localActivity':
        this.#draft?.issued.push(event);
        return undefined;
      case 'closed':
        this.#closed = event;
        return undefined;
      case 'updateAdmitted':
        this.#admitted.set(event.updateId, event);
        return undefined;
      case 'taskScheduled':
      case 'unreadable':
      case 'other':
        return undefined;
      default:
        this.#inputs.push(event);
        return undefined;
    }
  }

  /** The last group. Events after it have not reached the workflow yet. */
  finish(): TaskEvents | undefined {
    const draft = this.#draft;
    this.#draft = undefined;
    return draft === undefined ? undefined : this.#group(draft);
  }

  /** The start of a run whose first task has not completed yet. */
  get pendingStart(): StartedEvent | undefined {
    return this.#startEvent;
  }

  /** The close of the run, if it is closed. */
  get closed(): Closed | undefined {
    return this.#closed;
  }

  #divide(buildId: string | undefined): TaskEvents | undefined {
    const before = this.finish();
    const started = this.#started;
    if (started !== undefined) {
      const task: Task = {
        at: started.time,
        startedId: started.id,
        buildId,
        ...omitUndefined({ startEvent: this.#startEvent }),
        timedOut: this.#timedOut,
        silent: false,
        replayed: this.#replayed,
      };
      this.#draft = { task, inputs: this.#inputs, issued: [] };
      this.#timedOut = false;
      this.#replayed = false;
      this.#inputs = [];
      this.#startEvent = undefined;
      this.#started = undefined;
    }
    return before;
  }

  #group({ task, inputs, issued: all }: Draft): TaskEvents {
    const placed: { place: number; request: RequestEvent }[] = [];
    const answers: AnswerEvent[] = [];
    const markers: LocalMarker[] = [];
    const issued: Exclude<CommandEvent, LocalMarker | RequestEvent>[] = [];
    for (const input of inputs) {
      if (input.type === 'signal') placed.push({ place: input.id, request: input });
      else if (input.type !== 'updateAdmitted') answers.push(input);
    }
    for (const event of all) {
      if (event.type === 'localActivity') markers.push(event);
      else if (event.type === 'updateAccepted') placed.push(this.#accepted(event));
      else issued.push(event);
    }
    placed.sort((a, b) => a.place - b.place);
    // Before the run began there were no handlers: signals are delivered first, then updates, name by name (as the
    // shell does).
    if (task.startEvent !== undefined) placed.sort((a, b) => handlerOrder(a.request) - handlerOrder(b.request));
    return { ...task, requests: placed.map(({ request }) => request), answers, markers, issued };
  }

  /** An update is ordered right after the last event before it. */
  #accepted(event: Extract<CommandEvent, { type: 'updateAccepted' }>): { place: number; request: RequestEvent } {
    const admitted = this.#admitted.get(event.updateId);
    if (event.name !== undefined || admitted === undefined) return { place: event.sequencingId + 0.5, request: event };
    this.#admitted.delete(event.updateId);
    return { place: admitted.id, request: admitted };
  }
}
