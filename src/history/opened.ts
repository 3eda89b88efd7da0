/** Which command of the core an event of history answers: the one that the event opened to which it points back. */
import { childRunId } from '../engine/state/child-run.ts';
import type { Command } from '../engine/state/protocol.ts';
import type { RunState } from '../engine/state/state.ts';
import type { Group } from './groups.ts';

export class Opened {
  /** Event that opened a command → the command's id. */
  readonly #ids = new Map<number, string>();
  /** Command's id → the event that opened it last. */
  readonly #events = new Map<string, number>();
  /** Workflow ids of children → the ids of their commands. */
  readonly #children = new Map<string, string>();

  /** What a run that takes over has open already. */
  inherit({ genesis, open }: RunState): void {
    for (const [id, command] of Object.entries(open))
      if (command.type === 'child') this.#children.set(childRunId(genesis, id, command.child.workflow), id);
  }

  /** A command of the core: of children only their workflow's id stands in history, and who was cancelled answers no more (E4). */
  heed(command: Command): void {
    if (command.type === 'cancel') this.#events.delete(command.id);
    else if (command.type === 'child') this.#children.set(command.executionId, command.id);
  }

  /** What a task has issued. */
  issued(events: Group['issued']): void {
    for (const event of events) {
      const id = this.#commandOf(event);
      if (id === undefined) continue;
      this.#ids.set(event.id, id);
      this.#events.set(id, event.id);
    }
  }

  /** The command that this event opened, if its answer is still awaited: one that was cancelled meanwhile is not (E4). */
  answered(openedBy: number): string | undefined {
    const id = this.#ids.get(openedBy);
    this.#ids.delete(openedBy);
    if (id === undefined || this.#events.get(id) !== openedBy) return undefined;
    this.#events.delete(id);
    return id;
  }

  #commandOf(event: Group['issued'][number]): string | undefined {
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
