/**
 * Requests that may change something, and are worked on at once. They queue for Temporal (client/temporal/rpc.ts), and
 * what comes beyond the bound is refused before anything is sent, so that no request waits longer than its caller.
 */
import type { Response } from 'express';
import { HttpProblem } from '../validation/http-problem.ts';

/** Two cores answer some 50 decisions a second, so the last of a full crowd is answered after some 20 seconds. */
const MOST_AT_ONCE = 1_024;

export class Crowd {
  readonly #most: number;
  #inside = 0;

  constructor(most = MOST_AT_ONCE) {
    this.#most = most;
  }

  /**
   * Counts the request until its answer is sent, or until `leaveCrowd`.
   * @throws HttpProblem `gateway_busy`.
   */
  enter(res: Response): void {
    if (this.#inside >= this.#most) {
      throw new HttpProblem(
        'gateway_busy',
        `The gateway works on ${this.#most} changes already, and this one was not begun. Send it again shortly.`,
        { headers: { 'retry-after': '2' } },
      );
    }
    this.#inside += 1;
    const leave = once(() => {
      this.#inside -= 1;
    });
    leaving.set(res, leave);
    res.once('close', leave);
  }
}

const leaving = new WeakMap<Response, () => void>();

/** For requests that have made their change, and only wait for something. */
export const leaveCrowd = (res: Response): void => leaving.get(res)?.();

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
