/**
 * Reads what callers use again and again, before it is too old for them: so none of them waits for Temporal. What is
 * used now and then is read by its caller.
 */

/** Two uses within this time are steady, and their subject is read again until its last use is this long ago. */
const STEADY_MS = 3_000;
/** Subjects that are read again at the same time: some 30 reads a second where each is fresh for a second. */
const MOST_STEADY = 20;
const MOST_REMEMBERED = 1_000;

export class SteadyUse {
  readonly #everyMs: number;
  /** When a subject was last used, the oldest first. */
  readonly #usedAt = new Map<string, number>();
  readonly #steady = new Set<string>();

  /** `freshMs`: how old what was read may be. */
  constructor(freshMs: number) {
    this.#everyMs = freshMs * 0.75;
  }

  /**
   * The subject is used. `readAgain` reads it and keeps what it has read. Where it fails, the next caller finds out.
   */
  note(subject: string, readAgain: () => Promise<unknown>): void {
    const now = performance.now();
    const before = this.#usedAt.get(subject) ?? Number.NEGATIVE_INFINITY;
    this.#usedAt.delete(subject);
    this.#usedAt.set(subject, now);
    if (this.#usedAt.size > MOST_REMEMBERED) this.#usedAt.delete(this.#usedAt.keys().next().value ?? '');
    if (now - before > STEADY_MS || this.#steady.size >= MOST_STEADY || this.#steady.has(subject)) return;
    this.#steady.add(subject);
    const timer = setInterval(() => {
      const last = this.#usedAt.get(subject) ?? Number.NEGATIVE_INFINITY;
      if (performance.now() - last <= STEADY_MS) void readAgain().catch(() => undefined);
      else {
        clearInterval(timer);
        this.#steady.delete(subject);
      }
    }, this.#everyMs).unref();
  }
}
