/** Limits how many scripts run concurrently; the others wait in the order of arrival. */
export class ConcurrencyLimit {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves when a slot is free; the caller must release it. Rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#busy < this.#max) {
      this.#busy++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        this.#busy++;
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal.reason);
      };
      this.#waiting.push(begin);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  release(): void {
    this.#busy--;
    this.#waiting.shift()?.();
  }
}
