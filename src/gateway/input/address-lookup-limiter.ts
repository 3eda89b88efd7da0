/**
 * Looks up what is at public addresses. Everybody can make up addresses, so those where nothing has been found yet are
 * looked up at a bounded rate: made-up ones neither cost many calls to Temporal nor hold up the others.
 */
import { BoundedMap } from '../../json/bounded-map.ts';
import { type Rate, TokenBuckets } from '../http/rate-limits.ts';
import { HttpProblem } from '../validation/http-problem.ts';

/** A process that has just started knows none, and may get deliveries for hundreds of addresses. */
const UNKNOWN_ADDRESS_RATE: Rate = { perSecond: 50, burst: 200 };
const MAX_KNOWN = 10_000;

export class AddressLookupLimiter {
  readonly #now: () => number;
  readonly #unknownBuckets = new TokenBuckets(UNKNOWN_ADDRESS_RATE);
  /** The order is that of their last use. */
  readonly #known = new BoundedMap<string, true>(MAX_KNOWN);
  readonly #pending = new Map<string, Promise<unknown>>();

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /**
   * What `lookUp` finds at the address. Calls for the same unknown address wait for the first of them.
   * @throws HttpProblem `gateway_busy`; the errors of `lookUp`.
   */
  async find<Found>(address: string, lookUp: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const pending = this.#pending.get(address);
    if (pending !== undefined) {
      await pending;
      if (!this.#known.has(address)) return undefined;
    }
    if (this.#known.has(address)) return this.#remember(address, await lookUp());
    const waitMs = this.#unknownBuckets.take('', this.#now());
    if (waitMs !== undefined)
      throw new HttpProblem(
        'gateway_busy',
        'Many addresses are called at which nothing was found, and this one was not looked up. Send it again shortly.',
        { headers: { 'retry-after': '2' } },
      );
    const found = lookUp();
    const settled = found.then(
      (what) => this.#remember(address, what),
      () => undefined,
    );
    this.#pending.set(address, settled);
    await settled;
    this.#pending.delete(address);
    return found;
  }

  #remember<Found>(address: string, found: Found | undefined): Found | undefined {
    if (found === undefined) this.#known.delete(address);
    else this.#known.set(address, true);
    return found;
  }
}
