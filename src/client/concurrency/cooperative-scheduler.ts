/** Splits long work of this process into time slices, and serves other requests between them. */
import { setImmediate } from 'node:timers/promises';
import type { Chunks } from '../../steps/chunks.ts';

/** Other requests wait for one slice and the rest of the chunk in which it ended, however many callers there are. */
const TIME_SLICE_MS = 20;

/** Resolves when the next time slice may begin. */
let lastYield: Promise<unknown> = Promise.resolve();

/** One instance for each piece of work, since the work between two events may take almost no time. */
export class CooperativeScheduler {
  readonly #sliceMs: number;
  /** Many pieces may begin in one round of the event loop, so the first chunk of each is followed by a yield. */
  #sliceStartedAt = Number.NEGATIVE_INFINITY;

  constructor(sliceMs = TIME_SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  async run<T>(chunks: Chunks<T>): Promise<T> {
    for (;;) {
      const chunk = chunks.next();
      if (chunk.done === true) return chunk.value;
      if (this.#isSliceOver()) await this.#yield();
    }
  }

  /**
   * Yields if the time slice is over. Simultaneous callers continue one by one, with the network served in between.
   */
  async yieldIfDue(): Promise<void> {
    if (this.#isSliceOver()) await this.#yield();
  }

  #isSliceOver(): boolean {
    return performance.now() - this.#sliceStartedAt >= this.#sliceMs;
  }

  async #yield(): Promise<void> {
    lastYield = lastYield.then(() => setImmediate());
    await lastYield;
    this.#sliceStartedAt = performance.now();
  }
}
