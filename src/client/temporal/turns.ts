/** Long work of this process in turns: other requests are served in between. */
import { setImmediate } from 'node:timers/promises';
import type { Parts } from '../../steps/parts.ts';

/** What others wait for at most, however many read: one turn, and the rest of the part in which it ended. */
const TURN_MS = 20;

/** The turn after which the next one may be taken. */
let last: Promise<unknown> = Promise.resolve();

/** One for each piece of work, since what lies between its events may take no time at all. */
export class Turns {
  readonly #turnMs: number;
  /** Many may begin in one round of the event loop: the first part of each is followed by a rest. */
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
   * Lets other work run, if it is time. Simultaneous callers continue one by one, with the network served in between.
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
