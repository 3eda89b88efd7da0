/**
 * Places for work that is under way at once. Further work waits in lanes, each in the order in which it came. The lanes
 * take free places in turns, so that a crowd in one lane does not hold up the others.
 */
export class Places {
  readonly #atOnce: number;
  /** Lanes where work waits, the next one first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #inside = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Nobody is inside or waits. */
  get isEmpty(): boolean {
    return this.#inside === 0;
  }

  /** Resolves when there is a place, to a function that frees it. */
  async enter(lane = ''): Promise<() => void> {
    if (this.#inside >= this.#atOnce) await new Promise<void>((resolve) => this.#join(lane, resolve));
    else this.#inside += 1;
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      const next = this.#next();
      if (next) next();
      else this.#inside -= 1;
    };
  }

  #join(lane: string, enters: () => void): void {
    const before = this.#waiting.get(lane);
    if (before) before.push(enters);
    else this.#waiting.set(lane, [enters]);
  }

  #next(): (() => void) | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [lane, waiting] = first;
    const next = waiting.shift();
    // It is another lane's turn.
    this.#waiting.delete(lane);
    if (waiting.length > 0) this.#waiting.set(lane, waiting);
    return next;
  }
}
