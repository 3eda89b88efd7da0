/**
 * Looks up what is at public addresses. Everybody can make up addresses, so those where nothing has been found yet are
 * looked up at a bounded rate: made-up ones neither cost many calls to Temporal nor hold up the others.
 */
import { BoundedMap } from '../../json/bounded-map.ts';
import { Buckets, type Rate } from '../http/rate-limits.ts';
import { HttpProblem } from '../validation/http-problem.ts';

/** A process that has just started knows none, and may get deliveries for hundreds of addresses. */
const NEW: Rate = { perSecond: 50, burst: 200 };
const MOST_KNOWN = 10_000;

export class KnownAddresses {
  readonly #now: () => number;
  readonly #new = new Buckets(NEW);
  /** The order is that of their last use. */
  readonly #known = new BoundedMap<string, true>(MOST_KNOWN);
  readonly #asking = new Map<string, Promise<unknown>>();

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /**
   * What `look` finds at the address. Calls for the same unknown address wait for the first of them.
   * @throws HttpProblem `gateway_busy`; the errors of `look`.
   */
  async find<Found>(address: string, look: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const asking = this.#asking.get(address);
    if (asking !== undefined) {
      await asking;
      if (!this.#known.has(address)) return undefined;
    }
    if (this.#known.has(address)) return this.#noted(address, await look());
    const waitMs = this.#new.take('', this.#now());
    if (waitMs !== undefined)
      throw new HttpProblem(
        'gateway_busy',
        'Many addresses are called at which nothing was found, and this one was not looked up. Send it again shortly.',
        { headers: { 'retry-after': '2' } },
      );
    const found = look();
    const asked = found.then(
      (what) => this.#noted(address, what),
      () => undefined,
    );
    this.#asking.set(address, asked);
    await asked;
    this.#asking.delete(address);
    return found;
  }

  #noted<Found>(address: string, found: Found | undefined): Found | undefined {
    if (found === undefined) this.#known.delete(address);
    else this.#known.set(address, true);
    return found;
  }
}
