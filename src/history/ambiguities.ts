/**
 * The places where a fold guessed. History does not always show what the workflow saw. The fold then assumes the most
 * likely case and marks the place:
 * - two local activities in one task: their order is known, the clock that the first one saw is not;
 * - a task that timed out while a local activity ran (TEMPORAL.md §3);
 * - a local activity during a task that began for no other event: the workflow may have seen its end in that task;
 * - an update after a task without commands, once a worker without the run in its cache took over (same section).
 */
import { serialize } from '../engine/state/serialize.ts';
import { runInputOf } from '../engine/state/start.ts';
import type { RunState } from '../engine/state/state.ts';
import { sameJson } from '../json/equality.ts';
import type { Program } from '../steps/program-types.ts';
import type { Closed } from './events.ts';
import type { TaskEvents } from './task-events.ts';

/** The id of the event in its run. */
export interface Ambiguity {
  readonly eventId: number;
  readonly why:
    | 'local_activities_together'
    | 'task_timed_out'
    | 'local_activity_across_tasks'
    | 'update_after_silent_task'
    | 'carried_state_differs'
    | 'ended_otherwise'
    | 'not_walkable'
    /** The history cannot be read from this event on. */
    | 'unreadable';
}

/** Ends that the run itself causes. Termination and Temporal's own timeout come from outside. */
const ENDINGS: { readonly [how in Closed['how']]?: 'completed' | 'failed' | 'cancelled' } = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};

export class Ambiguities {
  readonly guesses: Ambiguity[] = [];
  /** Groups with updates after a task without commands. A replay makes them ambiguous. */
  #silentUpdates: number[] = [];
  #afterSilent = false;
  /** Whether the previous group had ends of local activities. */
  #afterLocal = false;

  note(eventId: number, why: Ambiguity['why']): void {
    this.guesses.push({ eventId, why });
  }

  /** Records the ambiguities of a group before it is folded. */
  noteGroup(group: TaskEvents): void {
    if (group.timedOut && group.markers.length > 0) this.note(group.startedId, 'task_timed_out');
    const brought = group.requests.length + group.answers.length + (group.startEvent === undefined ? 0 : 1);
    if (brought === 0 && (group.markers.length > 0 || this.#afterLocal))
      this.note(group.startedId, 'local_activity_across_tasks');
    this.#afterLocal = group.markers.length > 0;
    if (this.#afterSilent && group.requests.some((request) => request.type !== 'signal')) {
      this.#silentUpdates.push(group.startedId);
    }
    this.#afterSilent = group.silent;
    if (!group.replayed) return;
    for (const eventId of this.#silentUpdates) this.note(eventId, 'update_after_silent_task');
    this.#silentUpdates = [];
  }

  /** Records whether the fold of a closed run has come to the state of the run. */
  noteEnd(closed: Closed, program: Program, state: RunState): void {
    if (closed.how === 'continued') {
      const carried = runInputOf(closed.argument)?.carried;
      if (carried === undefined || !sameJson(serialize(program, state), carried))
        this.note(closed.id, 'carried_state_differs');
      return;
    }
    const expectedStatus = ENDINGS[closed.how];
    // An aborted run closes as failed.
    const { status } = state.ending ?? {};
    if (expectedStatus !== undefined && (status === 'aborted' ? 'failed' : status) !== expectedStatus)
      this.note(closed.id, 'ended_otherwise');
  }
}
