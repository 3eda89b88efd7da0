/**
 * Decides which commands are dispatched at the limit (E10; LANGUAGE.md §12: at most 500 open commands, the rest
 * queued). Effects end within minutes. Children and timers may stay open for months, so they never use all slots:
 *
 * - Timers use free slots, and free them again for effects and children: the timer that is due last is recalled into
 *   the backlog. The timers that are due first are always open, so none is late.
 * - Ten slots are reserved for timers, and a hundred are never used by children.
 */

import { assert } from '../../json/assert.ts';
import { jsonBytes } from '../../json/bytes.ts';
import type { Core } from './core.ts';
import { MAX_ACTIVATION_BYTES, MAX_OPEN_CHILDREN, MAX_OPEN_COMMANDS, MAX_OPEN_EFFECTS } from './limits.ts';
import type { OpenCommand, RunState } from './state.ts';

const OVERHEAD = 300;

/** Sends a command, or recalls a sent command into the backlog. */
interface Sender {
  send(id: string, command: OpenCommand): void;
  recall(id: string): void;
}

/** Sends queued commands while slots are free. Returns whether the byte limit of this activation stopped it. */
export function dispatchBacklog(core: Core, sender: Sender): boolean {
  const { state } = core;
  if (state.backlog.length === 0) return false;
  // If all queued commands fit, they are sent in order.
  if (state.sentCount + state.backlog.length <= MAX_OPEN_CHILDREN) return new Dispatcher(core, sender).inOrder();
  return new Dispatcher(core, sender).byRank();
}

/** Counts the slots that the open commands of a state use. */
export function countCommands(state: RunState): RunState['commandCounts'] {
  const waiting = new Set(state.backlog);
  const counts = { timers: 0, children: 0, waitingTimers: 0 };
  for (const [id, command] of Object.entries(state.openCommands)) {
    if (waiting.has(id)) counts.waitingTimers += isTimer(command) ? 1 : 0;
    else if (isTimer(command)) counts.timers++;
    else if (command.type === 'child') counts.children++;
  }
  return counts;
}

export function isTimer(command: OpenCommand): command is OpenCommand & { readonly at: number } {
  return command.type === 'timer' || command.type === 'deadline';
}

class Dispatcher {
  readonly #state: RunState;
  readonly #sender: Sender;
  /** Sent timers by due time, the latest last. Computed when the first timer is recalled. */
  #sent: string[] | undefined;
  readonly #recalled: string[] = [];
  #isHeld = false;

  constructor(core: Core, sender: Sender) {
    this.#state = core.state;
    this.#sender = sender;
  }

  inOrder(): boolean {
    const { backlog } = this.#state;
    let done = 0;
    while (done < backlog.length && this.#send(backlog[done]!)) done++;
    backlog.splice(0, done);
    return this.#isHeld;
  }

  byRank(): boolean {
    const state = this.#state;
    const { backlog, commandCounts: slots } = state;
    const stillQueued: string[] = [];
    const timersWaited = slots.waitingTimers;
    let timers = timersWaited;
    let i = 0;
    for (; i < backlog.length && !this.#isHeld; i++) {
      const id = backlog[i]!;
      const command = this.#queued(id);
      if (isTimer(command)) timers--;
      else if (this.#hasSlot(command) && this.#freeSlot() && this.#send(id)) continue;
      else if (timers === 0 && state.sentCount - slots.timers >= MAX_OPEN_EFFECTS) break;
      stillQueued.push(id);
    }
    state.backlog = stillQueued.length === 0 ? backlog.slice(i) : [...stillQueued, ...backlog.slice(i)];
    if (timersWaited > 0 && !this.#isHeld) this.#sendTimers();
    state.backlog.push(...this.#recalled);
    return this.#isHeld;
  }

  #hasSlot(command: OpenCommand): boolean {
    const { sentCount: openCount, commandCounts: slots } = this.#state;
    if (command.type === 'child' && slots.children >= MAX_OPEN_CHILDREN) return false;
    return openCount - slots.timers < MAX_OPEN_EFFECTS;
  }

  #freeSlot(): boolean {
    const { sentCount: openCount } = this.#state;
    if (openCount < MAX_OPEN_COMMANDS) return true;
    const last = this.#sentTimers().pop();
    if (last === undefined) return false;
    this.#recall(last);
    return true;
  }

  /** Sends queued timers, the earliest first. An earlier timer replaces an open timer that is due later. */
  #sendTimers(): void {
    const state = this.#state;
    const waiting = state.backlog
      .filter((id) => isTimer(this.#queued(id)))
      .sort((a, b) => this.#dueAt(a) - this.#dueAt(b));
    const sent = new Set<string>();
    for (const id of waiting) {
      if (state.sentCount >= MAX_OPEN_COMMANDS) {
        const last = this.#sentTimers().at(-1);
        if (last === undefined || this.#dueAt(last) <= this.#dueAt(id)) break;
        this.#sentTimers().pop();
        this.#recall(last);
      }
      if (!this.#send(id)) break;
      sent.add(id);
    }
    if (sent.size > 0) state.backlog = state.backlog.filter((id) => !sent.has(id));
  }

  #sentTimers(): string[] {
    if (this.#sent === undefined) {
      const waiting = new Set(this.#state.backlog);
      this.#sent = Object.entries(this.#state.openCommands)
        .filter(([id, command]) => isTimer(command) && !waiting.has(id))
        .map(([id]) => id)
        .sort((a, b) => this.#dueAt(a) - this.#dueAt(b));
    }
    return this.#sent;
  }

  #recall(id: string): void {
    const state = this.#state;
    state.sentCount--;
    state.commandCounts.timers--;
    state.commandCounts.waitingTimers++;
    this.#recalled.push(id);
    this.#sender.recall(id);
  }

  #send(id: string): boolean {
    const { activation, commandCounts: slots } = this.#state;
    const command = this.#queued(id);
    const bytes = sizeOf(command);
    if (activation.bytes > 0 && activation.bytes + bytes > MAX_ACTIVATION_BYTES) {
      this.#isHeld = true;
      return false;
    }
    activation.bytes += bytes;
    this.#state.sentCount++;
    if (command.type === 'child') slots.children++;
    if (isTimer(command)) {
      slots.timers++;
      slots.waitingTimers--;
    }
    this.#sender.send(id, command);
    return true;
  }

  #dueAt(id: string): number {
    const command = this.#queued(id);
    return isTimer(command) ? command.at : 0;
  }

  #queued(id: string): OpenCommand {
    const command = this.#state.openCommands[id];
    assert(command !== undefined, 'A command that ends leaves the backlog.');
    return command;
  }
}

function sizeOf(command: OpenCommand): number {
  switch (command.type) {
    case 'run':
    case 'rollback':
      return OVERHEAD + jsonBytes(command.command.config);
    case 'child':
      return OVERHEAD + jsonBytes(command.child.input);
    default:
      return OVERHEAD;
  }
}
