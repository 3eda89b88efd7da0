/** Finds the command of the core that a history event answers, by the earlier event to which it refers. */

import type { Outbound } from '../engine/runner.ts';
import { childRunId } from '../engine/state/child-run.ts';
import type { RunState } from '../engine/state/state.ts';
import type { TaskEvents } from './task-events.ts';

export class OpenCommands {
  /** The id of the event that opened a command → the id of the command. */
  readonly #ids = new Map<number, string>();
  /** The id of a command → the id of the event that opened it last. */
  readonly #events = new Map<string, number>();
  /** The workflow ids of children → the ids of their commands. */
  readonly #children = new Map<string, string>();

  /** The commands that were open when this run took over. */
  inherit({ genesis, openCommands: open }: RunState): void {
    for (const [id, command] of Object.entries(open))
      if (command.type === 'child') this.#children.set(childRunId(genesis, id, command.child.workflow), id);
  }

  /**
   * Records a command of the core: a child by its workflow id, as in history. A cancelled command has no answer (E4).
   */
  note(command: Outbound): void {
    if (command.type === 'cancel') this.#events.delete(command.id);
    else if (command.type === 'child') this.#children.set(command.executionId, command.id);
  }

  /** Records the commands of a task. `opened` gets each with the id of its event. */
  issued(events: TaskEvents['issued'], opened?: (id: string, eventId: number) => void): void {
    for (const event of events) {
      const id = this.#commandOf(event);
      if (id === undefined) continue;
      this.#ids.set(event.id, id);
      this.#events.set(id, event.id);
      opened?.(id, event.id);
    }
  }

  /** Whether an event of the history has opened this command, and none has answered it. */
  has(id: string): boolean {
    return this.#events.has(id);
  }

  /** The command that this event opened, if it is still open. A cancelled command is not (E4). */
  answered(openedBy: number): string | undefined {
    const id = this.#ids.get(openedBy);
    this.#ids.delete(openedBy);
    if (id === undefined || this.#events.get(id) !== openedBy) return undefined;
    this.#events.delete(id);
    return id;
  }

  #commandOf(event: TaskEvents['issued'][number]): string | undefined {
    switch (event.type) {
      case 'activityScheduled':
        return event.activityId;
      case 'timerStarted':
        return event.summary;
      case 'childInitiated':
        return this.#children.get(event.executionId);
    }
  }
}
