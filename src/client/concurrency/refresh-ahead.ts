/**
 * Refreshes cached readings that are used regularly shortly before they expire, so that no caller waits for Temporal.
 * A reading that is used rarely is refreshed by its caller.
 */
import { BoundedMap } from '../../json/bounded-map.ts';

/** A subject is refreshed after two uses within this time, and until its last use is this long ago. */
const USE_WINDOW_MS = 3_000;
/** Subjects that are refreshed at the same time: some 22 reads a second where each is fresh for a second. */
const MAX_REFRESHED = 20;
const MAX_TRACKED = 1_000;

interface CachedReading {
  /** Milliseconds since the cached value was read. Undefined where nothing is cached. */
  age(): number | undefined;
  /** Reads the value and caches it. Where it fails, the next caller gets the error. */
  readAgain(): Promise<unknown>;
}

export class RefreshAhead {
  readonly #refreshAfterMs: number;
  readonly #minDelayMs: number;
  /** When a subject was last used, the oldest first. */
  readonly #lastUsedAt = new BoundedMap<string, number>(MAX_TRACKED);
  readonly #refreshed = new Set<string>();

  /** `freshMs`: how old a cached value may be. */
  constructor(freshMs: number) {
    this.#refreshAfterMs = freshMs * 0.9;
    this.#minDelayMs = freshMs * 0.1;
  }

  /** Records a use of the subject. */
  recordUse(subject: string, reading: CachedReading): void {
    const now = performance.now();
    const previousUse = this.#lastUsedAt.get(subject) ?? Number.NEGATIVE_INFINITY;
    this.#lastUsedAt.set(subject, now);
    if (now - previousUse > USE_WINDOW_MS || this.#refreshed.size >= MAX_REFRESHED || this.#refreshed.has(subject))
      return;
    this.#refreshed.add(subject);
    this.#scheduleRefresh(subject, reading);
  }

  /** A caller may have refreshed it, too: then it is due later. A clock that was set back makes its age negative. */
  #scheduleRefresh(subject: string, reading: CachedReading): void {
    const age = Math.max(0, reading.age() ?? 0);
    const inMs = Math.max(this.#minDelayMs, this.#refreshAfterMs - age);
    setTimeout(() => void this.#refreshIfUsed(subject, reading), inMs).unref();
  }

  async #refreshIfUsed(subject: string, reading: CachedReading): Promise<void> {
    const usedAt = this.#lastUsedAt.get(subject) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - usedAt > USE_WINDOW_MS) {
      this.#refreshed.delete(subject);
      return;
    }
    const age = reading.age();
    if (age === undefined || age < this.#refreshAfterMs) {
      this.#scheduleRefresh(subject, reading);
      return;
    }
    await reading.readAgain().catch(() => undefined);
    // Not by its age, which a reading that failed leaves as it was.
    setTimeout(() => void this.#refreshIfUsed(subject, reading), this.#refreshAfterMs).unref();
  }
}
