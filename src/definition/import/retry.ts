/** Converts the retry policies of the dialects. */

import type { JsonObject } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { type ImportContext, memberNames } from './import-context.ts';

const CANONICAL_MEMBERS = memberNames('maxAttempts initialInterval backoffCoefficient maximumInterval nonRetryable');

/** Aliases of members, which are equal in meaning except `maxRetries`. */
const ALIASES: { readonly [written: string]: string } = {
  maxRetries: 'maxAttempts',
  backoffMs: 'initialInterval',
  initialDelayMs: 'initialInterval',
  maxBackoffMs: 'maximumInterval',
  backoffMultiplier: 'backoffCoefficient',
};

/**
 * The canonical policy. `maxRetries` of tale counts the attempts after the first, `maxAttempts` of mesh all attempts.
 * Canonical members are kept, unknown members are reported.
 */
export function importRetry(written: JsonObject, at: string, context: ImportContext): JsonObject {
  const retry: JsonObject = {};
  for (const [key, value] of Object.entries(written)) {
    if (value === null) continue;
    const canonical = Object.hasOwn(ALIASES, key) ? ALIASES[key] : undefined;
    if (key === 'maxRetries') retry['maxAttempts'] = typeof value === 'number' ? value + 1 : value;
    else if (canonical !== undefined) retry[canonical] = value;
    else if (CANONICAL_MEMBERS.has(key)) retry[key] = value;
    else
      context.warnDropped(
        childPointer(at, key),
        `"${key.slice(0, 80)}" of a retry policy has no counterpart and is left out.`,
      );
  }
  return retry;
}

/** Where the members of the canonical policy at `to` are in the policy at `from`: pairs for `mapOrigins`. */
export function* retryOrigins(written: JsonObject, to: string, from: string): Iterable<readonly [string, string]> {
  for (const [key, canonical] of Object.entries(ALIASES))
    if (written[key] !== undefined) yield [`${to}/${canonical}`, `${from}/${key}`];
}
