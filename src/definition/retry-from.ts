/** Retry policies as the other documents write them. */
import type { Import } from './imported.ts';
import { below } from './pointer.ts';
import type { JsonObject } from './types.ts';

const CANONICAL: ReadonlySet<string> = new Set([
  'maxAttempts',
  'initialInterval',
  'backoffCoefficient',
  'maximumInterval',
  'nonRetryable',
]);

/**
 * `{maxRetries, backoffMs}` of 000 counts retries after the first attempt, `{maxAttempts, backoffMs}` of 001 all attempts;
 * canonical members pass. What is neither is reported at its place.
 */
export function retryFrom(written: JsonObject, at: string, into: Import): JsonObject {
  const retry: JsonObject = {};
  for (const [key, value] of Object.entries(written)) {
    if (value === null) continue;
    if (key === 'maxRetries') retry['maxAttempts'] = typeof value === 'number' ? value + 1 : value;
    else if (key === 'backoffMs' || key === 'initialDelayMs') retry['initialInterval'] = value;
    else if (key === 'maxBackoffMs') retry['maximumInterval'] = value;
    else if (key === 'backoffMultiplier') retry['backoffCoefficient'] = value;
    else if (CANONICAL.has(key)) retry[key] = value;
    else into.lost(below(at, key), `"${key.slice(0, 80)}" of a retry policy has no counterpart and is left out.`);
  }
  return retry;
}
