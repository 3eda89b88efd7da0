/**
 * Reads what callers use again and again, shortly before it is too old for them: so none of them waits for Temporal.
 * What is used now and then is read by its caller.
 */
import { BoundedMap } from '../../json/bounded-map.ts';

/** Two uses within this time are steady, and their subject is read again until its last use is this long ago. */
const STEADY_MS = 3_000;
/** Subjects that are read again at the same time: some 22 reads a second where each is fresh for a second. */
const MOST_STEADY = 20;
const MOST_REMEMBERED = 1_000;

interface Reading {
  /** How long ago what is known was read, in milliseconds. Undefined where nothing is known. */
  age(): number | undefined;
  /** Reads it, and keeps what it has read. Where it fails, the next caller finds out. */
  readAgain(): Promise<unknown>;
}

export class SteadyUse {
  readonly #dueMs: number;
  readonly #shortestMs: number;
  /** When a subject was last used, the oldest first. */
  readonly #usedAt = new BoundedMap<string, number>(MOST_REMEMBERED);
  readonly #steady = new Set<string>();

  /** `freshMs`: how old what was read may be. */
  constructor(freshMs: number) {
    this.#dueMs = freshMs * 0.9;
    this.#shortestMs = freshMs * 0.1;
  }

  /** The subject is used. */
  note(subject: string, reading: Reading): void {
    const now = performance.now();
    const before = this.#usedAt.get(subject) ?? Number.NEGATIVE_INFINITY;
    this.#usedAt.set(subject, now);
    if (now - before > STEADY_MS || this.#steady.size >= MOST_STEADY || this.#steady.has(subject)) return;
    this.#steady.add(subject);
    this.#wait(subject, reading);
  }

  /** A caller may have read it, too: then it is due later. A clock that was set back makes its age negative. */
  #wait(subject: string, reading: Reading): void {
    const age = Math.max(0, reading.age() ?? 0);
    const inMs = Math.max(this.#shortestMs, this.#dueMs - age);
    setTimeout(() => void this.#look(subject, reading), inMs).unref();
  }

  async #look(subject: string, reading: Reading): Promise<void> {
    const usedAt = this.#usedAt.get(subject) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - usedAt > STEADY_MS) {
      this.#steady.delete(subject);
      return;
    }
    const age = reading.age();
    if (age === undefined || age < this.#dueMs) {
      this.#wait(subject, reading);
      return;
    }
    await reading.readAgain().catch(() => undefined);
    // Not by its age, which a reading that failed leaves as it was.
    setTimeout(() => void this.#look(subject, reading), this.#dueMs).unref();
  }
}
