/**
 * A semaphore with lanes. Work over the number of slots waits in its lane, first in, first out. Freed slots go to the
 * lanes round robin, so that a flood in one lane does not hold up the others.
 */
export class Semaphore {
  readonly #slots: number;
  /** Lanes with waiting work, the next one first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #slotsInUse = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** No slot is in use, so nothing waits either. */
  get isIdle(): boolean {
    return this.#slotsInUse === 0;
  }

  /** Resolves once a slot is free, to a function that releases it. */
  async acquire(lane = ''): Promise<() => void> {
    if (this.#slotsInUse >= this.#slots) await new Promise<void>((resolve) => this.#enqueue(lane, resolve));
    else this.#slotsInUse += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#dequeue();
      if (next) next();
      else this.#slotsInUse -= 1;
    };
  }

  #enqueue(lane: string, grant: () => void): void {
    const queue = this.#waiting.get(lane);
    if (queue) queue.push(grant);
    else this.#waiting.set(lane, [grant]);
  }

  #dequeue(): (() => void) | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [lane, queue] = first;
    const next = queue.shift();
    // The lane moves to the end.
    this.#waiting.delete(lane);
    if (queue.length > 0) this.#waiting.set(lane, queue);
    return next;
  }
}
