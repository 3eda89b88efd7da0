/** Retry policies as the other documents write them. */

import type { JsonObject } from '../../json/json.ts';
import { below } from '../document/pointer.ts';
import type { Import } from './imported.ts';

const CANONICAL: ReadonlySet<string> = new Set([
  'maxAttempts',
  'initialInterval',
  'backoffCoefficient',
  'maximumInterval',
  'nonRetryable',
]);

/** Other names of members, which mean the same but for `maxRetries`. */
const SPELLINGS: { readonly [written: string]: string } = {
  maxRetries: 'maxAttempts',
  backoffMs: 'initialInterval',
  initialDelayMs: 'initialInterval',
  maxBackoffMs: 'maximumInterval',
  backoffMultiplier: 'backoffCoefficient',
};

/**
 * `{maxRetries, backoffMs}` of 000 counts retries after the first attempt, `{maxAttempts, backoffMs}` of 001 all attempts;
 * canonical members pass. What is neither is reported at its place.
 */
export function retryFrom(written: JsonObject, at: string, into: Import): JsonObject {
  const retry: JsonObject = {};
  for (const [key, value] of Object.entries(written)) {
    if (value === null) continue;
    const spelt = Object.hasOwn(SPELLINGS, key) ? SPELLINGS[key] : undefined;
    if (key === 'maxRetries') retry['maxAttempts'] = typeof value === 'number' ? value + 1 : value;
    else if (spelt !== undefined) retry[spelt] = value;
    else if (CANONICAL.has(key)) retry[key] = value;
    else into.lost(below(at, key), `"${key.slice(0, 80)}" of a retry policy has no counterpart and is left out.`);
  }
  return retry;
}

/** Where the members of the canonical policy at `to` stand in the policy at `from`: pairs for `Import.moved`. */
export function* retryPlaces(written: JsonObject, to: string, from: string): Iterable<readonly [string, string]> {
  for (const [key, canonical] of Object.entries(SPELLINGS))
    if (written[key] !== undefined) yield [`${to}/${canonical}`, `${from}/${key}`];
}
