/** Limits wrong keys at the login: five a minute from one address. */

import type { Request } from 'express';
import { BoundedMap } from '../../../json/bounded-map.ts';
import { addressOf } from '../../http/rate-limits.ts';
import { HttpProblem } from '../../validation/http-problem.ts';

const MAX_FAILED_LOGINS = 5;
const WINDOW_MS = 60_000;
/** Beyond it the address that failed longest ago is forgotten. */
const MAX_ADDRESSES = 10_000;

export class FailedLogins {
  /** Times of attempts that failed or are under way, oldest first, in milliseconds of the monotonic clock. */
  readonly #attempts = new BoundedMap<string, readonly number[]>(MAX_ADDRESSES);

  /**
   * Counts an attempt as failed before its key is looked at, so that parallel attempts count too. Call the returned
   * function when the key was right. @throws HttpProblem `rate_limited`.
   */
  countAttempt(req: Request, now = performance.now()): () => void {
    const address = addressOf(req);
    const recent = this.#recent(address, now);
    const [oldest = now] = recent;
    if (recent.length >= MAX_FAILED_LOGINS) {
      throw new HttpProblem(
        'rate_limited',
        `There were ${MAX_FAILED_LOGINS} wrong keys from your address within a minute, so this one was not looked at.`,
        { headers: { 'retry-after': String(Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1_000))) } },
      );
    }
    this.#store(address, [...recent, now]);
    return () => {
      const others = [...(this.#attempts.get(address) ?? [])];
      const own = others.indexOf(now);
      if (own >= 0) others.splice(own, 1);
      this.#store(address, others);
    };
  }

  #recent(address: string, now: number): readonly number[] {
    return (this.#attempts.get(address) ?? []).filter((at) => at > now - WINDOW_MS);
  }

  #store(address: string, attempts: readonly number[]): void {
    if (attempts.length > 0) this.#attempts.set(address, attempts);
    else this.#attempts.delete(address);
  }
}
