/**
 * Rate limits of this process, as token buckets. They are checked before a body is read and before Temporal is asked.
 * Routes without an API key are limited per caller address. All other routes are limited per key and per organization,
 * after the key is checked. A gateway without keys does not limit callers on its own machine. By hand: a bucket is two
 * numbers, and packages bring stores and middleware of their own.
 */

import type { Request, RequestHandler } from 'express';
import type { ApiKeyCache } from '../../client/organization/api-key-cache.ts';
import type { Config } from '../../config/config.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { needsKeys } from './auth.ts';
import type { Clock } from './body-reader.ts';
import { isForwarded } from './loopback.ts';
import type { PublicAddresses } from './path-pattern.ts';
import { KEYLESS, type Principal, principalOf } from './principal.ts';

/**
 * The most buckets of each kind. Beyond it the least recently used bucket is dropped, and later starts full again.
 */
const MAX_BUCKETS = 10_000;

/**
 * Tokens are counted in thousandths and time in whole milliseconds. With whole tokens per second, all of it is whole
 * numbers, so nothing is lost in sums of fractions: a caller who waits for the time in Retry-After finds a token.
 */
const MILLITOKENS_PER_TOKEN = 1_000;

/** Whole numbers. */
export interface Rate {
  /** Tokens per second, which are millitokens per millisecond; 0 means unlimited. */
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  millitokens: number;
  /** Whole milliseconds of the monotonic clock. */
  refilledAtMs: number;
}

/** One bucket for each name, full at first. */
export class TokenBuckets {
  readonly #rate: Rate;
  readonly #buckets: BoundedMap<string, Bucket>;

  constructor(rate: Rate, maxBuckets = MAX_BUCKETS) {
    this.#rate = { ...rate, burst: Math.max(1, rate.burst) };
    this.#buckets = new BoundedMap(maxBuckets);
  }

  get size(): number {
    return this.#buckets.size;
  }

  /**
   * Takes a token. If the bucket is empty, returns the milliseconds until its next token.
   *
   * @param now Milliseconds of the monotonic clock.
   */
  take(name: string, now: number): number | undefined {
    const { perSecond, burst } = this.#rate;
    if (perSecond === 0) return undefined;
    const refilledAtMs = Math.floor(now);
    const bucket = this.#buckets.get(name) ?? { millitokens: burst * MILLITOKENS_PER_TOKEN, refilledAtMs };
    const gained = Math.max(0, refilledAtMs - bucket.refilledAtMs) * perSecond;
    const millitokens = Math.min(burst * MILLITOKENS_PER_TOKEN, bucket.millitokens + gained);
    const hasToken = millitokens >= MILLITOKENS_PER_TOKEN;
    this.#buckets.set(name, {
      millitokens: hasToken ? millitokens - MILLITOKENS_PER_TOKEN : millitokens,
      refilledAtMs,
    });
    return hasToken ? undefined : Math.ceil((MILLITOKENS_PER_TOKEN - millitokens) / perSecond);
  }
}

/** For public routes except probes. Mount it before any call to Temporal. */
export function limitAddresses(
  config: Config,
  keyring: ApiKeyCache,
  addresses: PublicAddresses,
  { now }: Pick<Clock, 'now'>,
): RequestHandler {
  const buckets = new TokenBuckets(config.rates.address);
  return async (req, _res, next) => {
    if (!addresses.isPublic(req.path) || addresses.isProbe(req.path)) return next();
    if (await isLocalCaller(req, config, keyring)) return next();
    demandToken(buckets, addressOf(req), now(), 'your address');
    next();
  };
}

/** For all other routes. Mount it after the key check and before the body is read. */
export function limitPrincipals(
  config: Config,
  addresses: PublicAddresses,
  { now }: Pick<Clock, 'now'>,
): RequestHandler {
  const keys = new TokenBuckets(config.rates.key);
  const organizations = new TokenBuckets(config.rates.organization);
  return (req, _res, next) => {
    const principal = addresses.isPublic(req.path) ? undefined : principalOf(req);
    if (principal === undefined || principal === KEYLESS) return next();
    demandToken(keys, nameOf(principal), now(), 'your key');
    demandToken(organizations, principal.organizationId, now(), 'your organization');
    next();
  };
}

/** The key of the environment has no id. */
const nameOf = ({ organizationId, keyId, id }: Principal): string =>
  JSON.stringify([organizationId, keyId ?? null, id]);

/** Whether a caller of a gateway without keys is on this machine. Requests through a proxy do not count. */
async function isLocalCaller(req: Request, config: Config, keyring: ApiKeyCache): Promise<boolean> {
  return !isForwarded(req) && !(await needsKeys(config, keyring));
}

/** The address that is limited. An IPv6 caller owns a whole network, so only the first 64 bits count. */
export function addressOf(req: Request): string {
  const address = req.ip ?? 'unknown';
  if (!address.includes(':') || /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  if (tail !== undefined) while (groups.length < 4) groups.push('0');
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** @throws HttpProblem `rate_limited`. */
function demandToken(buckets: TokenBuckets, name: string, now: number, whose: string): void {
  const waitMs = buckets.take(name, now);
  if (waitMs === undefined) return;
  throw new HttpProblem(
    'rate_limited',
    `There were too many requests from ${whose}, and this one was not looked at. Send it again later, and fewer ` +
      'at once.',
    { headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) } },
  );
}
