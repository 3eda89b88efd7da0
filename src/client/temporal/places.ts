/** Places for work that is under way at once. Further work waits in the order in which it came. */
export class Places {
  readonly #atOnce: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Nobody is inside or waits. */
  get isEmpty(): boolean {
    return this.#inside === 0;
  }

  /** Resolves when there is a place, to a function that frees it. */
  async enter(): Promise<() => void> {
    if (this.#inside >= this.#atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inside += 1;
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#inside -= 1;
    };
  }
}
