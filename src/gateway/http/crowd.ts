/**
 * Requests that may change something, and are worked on at once. They queue for Temporal (client/temporal/rpc.ts), and
 * what comes beyond the bound is refused before anything is sent, so that no request waits longer than its caller.
 * A request takes its place when its body is read, so that a caller who sends slowly holds none.
 */
import type { Response } from 'express';
import { HttpProblem } from '../validation/http-problem.ts';

interface CrowdLimits {
  readonly places: number;
  /** Of `places`: only for callers with keys, where there are several organizations. */
  readonly placesForKeys: number;
  /** Of `places`: the most that one organization holds, where there are several. */
  readonly placesOfOne: number;
}

/** Two cores answer some 50 decisions a second, so the last of a full crowd is answered after some 20 seconds. */
const LIMITS: CrowdLimits = { places: 1_024, placesForKeys: 256, placesOfOne: 512 };
const RETRY = { headers: { 'retry-after': '2' } };

/** Whom a place is for. */
export interface Occupant {
  /** Undefined where the request belongs to none. */
  readonly organizationId?: string | undefined;
  /** False for routes without keys, such as webhooks and links. */
  readonly hasKey: boolean;
}

export class Crowd {
  readonly #areSeveral: () => boolean;
  readonly #limits: CrowdLimits;
  readonly #ofOrganization = new Map<string, number>();
  #inside = 0;
  #withoutKey = 0;

  /** `areSeveral`: whether several organizations share the gateway; asked while a quarter of the places is taken. */
  constructor(areSeveral: () => boolean, limits = LIMITS) {
    this.#areSeveral = areSeveral;
    this.#limits = limits;
  }

  /**
   * Counts the request until its answer is sent, or until `leaveCrowd`.
   * @throws HttpProblem `gateway_busy`.
   */
  enter(res: Response, occupant: Occupant): void {
    this.#demandPlace(occupant);
    const { organizationId, hasKey } = occupant;
    this.#count(organizationId, hasKey, 1);
    const leave = once(() => this.#count(organizationId, hasKey, -1));
    leaving.set(res, leave);
    // The caller may have gone while its body was read.
    if (res.closed) leave();
    else res.once('close', leave);
  }

  #demandPlace({ organizationId, hasKey }: Occupant): void {
    const { places, placesForKeys, placesOfOne } = this.#limits;
    if (this.#inside >= places) throw busy(`The gateway works on ${places} changes already`);
    if (this.#inside < places / 4 || !this.#areSeveral()) return;
    if (!hasKey && this.#withoutKey >= places - placesForKeys)
      throw busy(`The gateway works on ${places - placesForKeys} requests without a key already`);
    if (organizationId !== undefined && (this.#ofOrganization.get(organizationId) ?? 0) >= placesOfOne)
      throw busy(`The gateway works on ${placesOfOne} changes of this organization already`);
  }

  #count(organizationId: string | undefined, hasKey: boolean, by: 1 | -1): void {
    this.#inside += by;
    if (!hasKey) this.#withoutKey += by;
    if (organizationId === undefined) return;
    const count = (this.#ofOrganization.get(organizationId) ?? 0) + by;
    if (count === 0) this.#ofOrganization.delete(organizationId);
    else this.#ofOrganization.set(organizationId, count);
  }
}

const busy = (why: string): HttpProblem =>
  new HttpProblem('gateway_busy', `${why}, and this one was not begun. Send it again shortly.`, RETRY);

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
