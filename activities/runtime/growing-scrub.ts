/**
 * The scrubber of one activity. Values can be added while the activity runs, because some secrets are read late. An
 * error while scrubbing could repeat a secret, so it is replaced by a fixed message.
 */

import { MAX_SECRET_BYTES_PER_STEP, MAX_SECRETS_PER_STEP } from '../../src/definition/document/limits.ts';
import type { Json } from '../../src/json/json.ts';
import { ActivityError, transientError } from './failure.ts';
import { type Scrub, scrubOf } from './scrub.ts';
import type { ScrubTable } from './scrub-table.ts';
import { HASH_BASES, ScrubTables } from './scrub-tables.ts';

/** Of all activities of this process. */
const SHARED_TABLES = new ScrubTables();

/** Replaces a text that could not be scrubbed. */
const WITHHELD = '[withheld: secrets could not be removed from this text]';

interface GrowingScrub {
  /** @throws ActivityError `scrub_failed`, and no other error */
  readonly scrub: Scrub;
  /** Scrubs only secrets. */
  readonly scrubSecrets: Pick<Scrub, 'json'>;
  /** For failures, which must always be reported: a text that cannot be scrubbed is replaced by a fixed one. */
  readonly infallible: Pick<Scrub, 'text' | 'jsonInSlices'>;
  /** Resolves once the values are scrubbed; they must not be used before. @throws ActivityError `scrub_failed` */
  hide(...values: readonly string[]): Promise<void>;
  /** Hides secrets and counts them. @throws ActivityError `too_many_secrets`, `scrub_failed` */
  hideSecrets(...values: readonly string[]): Promise<void>;
}

interface ScrubParts {
  readonly tables?: Pick<ScrubTables, 'of'>;
  /** Tests give one that fails. */
  readonly scrubOf?: (tables: readonly ScrubTable[]) => Scrub;
}

/** `organizationId`: whose secrets they are. */
export function growingScrub(organizationId: string, parts: ScrubParts = {}): GrowingScrub {
  const { tables: tablesOf = SHARED_TABLES, scrubOf: build = (tables) => scrubOf(tables, HASH_BASES) } = parts;
  const hidden = new Set<ScrubTable>();
  const secrets = new Set<string>();
  const tablesOfSecrets = new Set<ScrubTable>();
  let cachedScrub: Scrub | undefined;
  const current = (): Scrub => {
    cachedScrub ??= build([...hidden]);
    return cachedScrub;
  };
  const tables = async (values: readonly string[]): Promise<ScrubTable[]> => {
    try {
      return await tablesOf.of(values, organizationId);
    } catch {
      throw transientError('scrub_failed', 'The worker could not prepare to remove the secrets from results.');
    }
  };
  const add = (found: readonly ScrubTable[]): void => {
    for (const table of found) hidden.add(table);
    cachedScrub = undefined;
  };
  const inSlices = async (value: Json): Promise<Json> => current().jsonInSlices(value);
  return {
    scrub: {
      text: (text) => withFallback(throwScrubFailed, () => current().text(text)),
      json: (value) => withFallback(throwScrubFailed, () => current().json(value)),
      jsonInSlices: (value) => inSlices(value).catch(throwScrubFailed),
      beginning: (text) => withFallback(throwScrubFailed, () => current().beginning(text)),
    },
    scrubSecrets: { json: (value) => withFallback(throwScrubFailed, () => build([...tablesOfSecrets]).json(value)) },
    infallible: {
      text: (text) =>
        withFallback(
          () => WITHHELD,
          () => current().text(text),
        ),
      jsonInSlices: (value) => inSlices(value).catch(() => WITHHELD),
    },
    async hide(...values) {
      add(await tables(values));
    },
    async hideSecrets(...values) {
      for (const value of values) secrets.add(value);
      const bytes = [...secrets].reduce((sum, value) => sum + Buffer.byteLength(value), 0);
      const isWithin = secrets.size <= MAX_SECRETS_PER_STEP && bytes <= MAX_SECRET_BYTES_PER_STEP;
      if (isWithin) {
        const found = await tables(values);
        for (const table of found) tablesOfSecrets.add(table);
        return add(found);
      }
      throw new ActivityError(
        'too_many_secrets',
        `The step uses ${secrets.size} secrets of ${bytes} bytes in total; the limit is ` +
          `${MAX_SECRETS_PER_STEP} secrets of ${MAX_SECRET_BYTES_PER_STEP} bytes. Divide it into several steps.`,
        {
          details: {
            secrets: secrets.size,
            bytes,
            limit: MAX_SECRETS_PER_STEP,
            limitBytes: MAX_SECRET_BYTES_PER_STEP,
          },
        },
      );
    },
  };
}

function throwScrubFailed(): never {
  throw new ActivityError(
    'scrub_failed',
    'Secrets could not be removed from the result of the step, so it is withheld. Request less data, or ' +
      'split the request.',
  );
}

function withFallback<T>(fallback: () => T, scrub: () => T): T {
  try {
    return scrub();
  } catch {
    return fallback();
  }
}
