/**
 * Limits the requests in progress that may change something. They queue for Temporal (client/temporal/rpc.ts), and
 * requests over the limit are refused before anything is sent, so that no request waits longer than its caller.
 * A request takes its slot once its body is read, so that a caller who sends slowly holds none.
 */
import type { Response } from 'express';
import { HttpProblem } from '../validation/http-problem.ts';

interface BackpressureLimits {
  readonly slots: number;
  /** Of `slots`: only for callers with keys, where there are several organizations. */
  readonly slotsForKeys: number;
  /** Of `slots`: the most that one organization holds, where there are several. */
  readonly slotsPerOrganization: number;
}

/** Two cores answer some 50 decisions a second, so the last of 1,024 requests is answered after some 20 seconds. */
const LIMITS: BackpressureLimits = { slots: 1_024, slotsForKeys: 256, slotsPerOrganization: 512 };
const RETRY = { headers: { 'retry-after': '2' } };

/** Who holds a slot. */
export interface SlotOwner {
  /** Undefined where the request belongs to none. */
  readonly organizationId?: string | undefined;
  /** False for routes without keys, such as webhooks and links. */
  readonly hasKey: boolean;
}

export class Backpressure {
  readonly #hasSeveralOrganizations: () => boolean;
  readonly #limits: BackpressureLimits;
  readonly #activeByOrganization = new Map<string, number>();
  #active = 0;
  #activeWithoutKey = 0;

  /** `hasSeveralOrganizations` is called only while at least a quarter of the slots is taken. */
  constructor(hasSeveralOrganizations: () => boolean, limits = LIMITS) {
    this.#hasSeveralOrganizations = hasSeveralOrganizations;
    this.#limits = limits;
  }

  /**
   * Counts the request until its answer is sent, or until `releaseRequestSlot`.
   * @throws HttpProblem `gateway_busy`.
   */
  acquire(res: Response, owner: SlotOwner): void {
    this.#demandSlot(owner);
    const { organizationId, hasKey } = owner;
    this.#count(organizationId, hasKey, 1);
    const release = once(() => this.#count(organizationId, hasKey, -1));
    releases.set(res, release);
    // The caller may have disconnected while its body was read.
    if (res.closed) release();
    else res.once('close', release);
  }

  #demandSlot({ organizationId, hasKey }: SlotOwner): void {
    const { slots, slotsForKeys, slotsPerOrganization } = this.#limits;
    if (this.#active >= slots) throw busy(`The gateway works on ${slots} changes already`);
    if (this.#active < slots / 4 || !this.#hasSeveralOrganizations()) return;
    if (!hasKey && this.#activeWithoutKey >= slots - slotsForKeys)
      throw busy(`The gateway works on ${slots - slotsForKeys} requests without a key already`);
    if (organizationId !== undefined && (this.#activeByOrganization.get(organizationId) ?? 0) >= slotsPerOrganization)
      throw busy(`The gateway works on ${slotsPerOrganization} changes of this organization already`);
  }

  #count(organizationId: string | undefined, hasKey: boolean, delta: 1 | -1): void {
    this.#active += delta;
    if (!hasKey) this.#activeWithoutKey += delta;
    if (organizationId === undefined) return;
    const count = (this.#activeByOrganization.get(organizationId) ?? 0) + delta;
    if (count === 0) this.#activeByOrganization.delete(organizationId);
    else this.#activeByOrganization.set(organizationId, count);
  }
}

const busy = (why: string): HttpProblem =>
  new HttpProblem('gateway_busy', `${why}, and this one was not begun. Send it again shortly.`, RETRY);

const releases = new WeakMap<Response, () => void>();

/** Releases the slot early: for requests that have made their change and only wait for a result. */
export const releaseRequestSlot = (res: Response): void => releases.get(res)?.();

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
