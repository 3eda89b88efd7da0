/** Divides long work of this process into turns, so that other requests are served in between. */
import { setImmediate } from 'node:timers/promises';
import type { Parts } from '../../steps/parts.ts';

/** The longest wait of others, however many callers read: one turn, and the rest of the part in which it ended. */
const TURN_MS = 20;

/** Resolves when the next turn may begin. */
let last: Promise<unknown> = Promise.resolve();

/** One instance for each piece of work, since the work between two events may take almost no time. */
export class Turns {
  readonly #turnMs: number;
  /** Many may begin in one round of the event loop, so a pause follows the first part of each. */
  #since = Number.NEGATIVE_INFINITY;

  constructor(turnMs = TURN_MS) {
    this.#turnMs = turnMs;
  }

  async take<T>(parts: Parts<T>): Promise<T> {
    for (;;) {
      const part = parts.next();
      if (part.done === true) return part.value;
      if (this.#isOver()) await this.#give();
    }
  }

  /**
   * Lets other work run, if it is due. Simultaneous callers continue one by one, with the network served in between.
   */
  async rest(): Promise<void> {
    if (this.#isOver()) await this.#give();
  }

  #isOver(): boolean {
    return performance.now() - this.#since >= this.#turnMs;
  }

  async #give(): Promise<void> {
    last = last.then(() => setImmediate());
    await last;
    this.#since = performance.now();
  }
}
