import { hasMark } from '../contract/build-id.ts';
import { segmentOf } from '../engine/segment.ts';
import type { Command, RunCommand } from '../engine/state/protocol.ts';
import type { RunState } from '../engine/state/state.ts';
import type { Parts } from '../steps/parts.ts';
import type { Program } from '../steps/program-types.ts';
import { segmentsBegunIn } from './activity-ends.ts';
import type { TaskEvents } from './task-events.ts';

/**
 * The segment that is open in a fold, as the shell has it (workflows/run/segments.ts). What happens meanwhile waits
 * until its list has been applied.
 */
export class OpenSegment {
  /** Its effects, and what has happened since it began, in order. */
  #open: { readonly runs: readonly RunCommand[]; readonly waiting: (() => Parts)[] } | undefined;
  /** While its list is applied: the effects that have not ended. */
  #left: Map<string, RunCommand> | undefined;
  /** How many segments begin in the current task, as far as its events tell. */
  #begun = 0;
  #isKnown = false;
  #measures = false;

  /** Whether the worker of the current task knows segments. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** The next task. */
  enter(group: TaskEvents): void {
    this.#isKnown = hasMark(group.buildId, 'segments');
    this.#measures = hasMark(group.buildId, 'segments2');
    this.#begun = segmentsBegunIn(group);
  }

  /** Acts now, or after the open segment. */
  *whenFree(act: () => Parts): Parts {
    if (this.#open !== undefined) this.#open.waiting.push(act);
    else yield* act();
  }

  /** Opens one where these commands, which are new, begin one in the current task. */
  open(program: Program, state: RunState, commands: readonly Command[]): void {
    if (!this.#isKnown) return;
    // Asked also where none begins, as the shell does: it may correct the estimate of the state's size.
    const runs = segmentOf(program, state, commands, this.#measures);
    if (runs.length === 0 || this.#begun === 0) return;
    this.#begun--;
    this.#open = { runs, waiting: [] };
  }

  /** Commands of the core. While a list is applied they join its effects, else they may open a segment. */
  issued(program: Program, state: RunState, commands: readonly Command[]): void {
    const left = this.#left;
    if (left === undefined) {
      if (this.#open === undefined) this.open(program, state, commands);
      return;
    }
    for (const command of commands) {
      if (command.type === 'run') left.set(command.id, command);
      else if (command.type === 'cancel') left.delete(command.id);
    }
  }

  /** Begins to apply its list. Answers its effects by id; delete those that end. Undefined where none is open. */
  apply(): Map<string, RunCommand> | undefined {
    if (this.#open === undefined) return undefined;
    this.#left = new Map(this.#open.runs.map((command) => [command.id, command]));
    return this.#left;
  }

  /** After its list, what has waited for it. */
  *close(): Parts {
    const { waiting } = this.#open ?? { waiting: [] };
    this.#open = undefined;
    for (const act of waiting) yield* act();
    this.#left = undefined;
  }
}
