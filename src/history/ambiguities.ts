/**
 * Where a fold had to guess. History cannot always tell what the workflow saw; then the fold takes the likeliest and marks the
 * place, and does not fail:
 * - two local activities at once, whose order is known but not which clock the first one saw;
 * - a task that timed out while a local activity ran (TEMPORAL.md §3);
 * - a local activity beside a task that began for nothing else: its end may have been seen in that one, later than it says;
 * - an update behind a task without commands, after a worker without the run's cache took over (same place).
 */
import { serialize } from '../engine/state/serialize.ts';
import { runInputOf } from '../engine/state/start.ts';
import type { RunState } from '../engine/state/state.ts';
import { sameJson } from '../json/equality.ts';
import type { Program } from '../steps/program-types.ts';
import type { Closed } from './events.ts';
import type { Group } from './groups.ts';

/** By the event's id in its run. */
export interface Guess {
  readonly eventId: number;
  readonly why:
    | 'local_activities_together'
    | 'task_timed_out'
    | 'local_activity_across_tasks'
    | 'update_after_silent_task'
    | 'carried_state_differs'
    | 'ended_otherwise'
    | 'not_walkable'
    /** From here on the history cannot be read. */
    | 'unreadable';
}

/** Ends that the run itself brought about; termination and Temporal's own timeout come from outside. */
const ENDINGS: { readonly [how in Closed['how']]?: 'completed' | 'failed' | 'cancelled' } = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};

export class Ambiguities {
  readonly guesses: Guess[] = [];
  /** Groups with updates behind a silent task, until a replay makes them doubtful. */
  #silentUpdates: number[] = [];
  #afterSilent = false;
  /** The group before had ends of local activities. */
  #afterLocal = false;

  note(eventId: number, why: Guess['why']): void {
    this.guesses.push({ eventId, why });
  }

  /** Of a group that is about to be folded. */
  ofGroup(group: Group): void {
    if (group.timedOut && group.markers.length > 0) this.note(group.startedId, 'task_timed_out');
    const brought = group.requests.length + group.answers.length + (group.begins === undefined ? 0 : 1);
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

  /** Of a run that was closed: whether the fold has come where the run did. */
  ofEnd(closed: Closed, program: Program, state: RunState): void {
    if (closed.how === 'continued') {
      const carried = runInputOf(closed.argument)?.carried;
      if (carried === undefined || !sameJson(serialize(program, state), carried))
        this.note(closed.id, 'carried_state_differs');
      return;
    }
    const fits = ENDINGS[closed.how];
    // A run that was aborted closes as one that failed.
    const { status } = state.ending ?? {};
    if (fits !== undefined && (status === 'aborted' ? 'failed' : status) !== fits)
      this.note(closed.id, 'ended_otherwise');
  }
}
