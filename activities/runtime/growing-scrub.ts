/**
 * The scrubber of one activity. Values can be added while the activity runs, because some secrets are read late. An
 * error while scrubbing could repeat a secret, so it is replaced by a fixed message.
 */

import { MOST_SECRET_BYTES_PER_STEP, MOST_SECRETS_PER_STEP } from '../../src/definition/document/limits.ts';
import type { Json } from '../../src/json/json.ts';
import { ActivityError } from './failure.ts';
import { type Scrub, scrubOf } from './scrub.ts';

/** Replaces a text that could not be scrubbed. */
const WITHHELD = '[withheld: secrets could not be removed from this text]';

export interface GrowingScrub {
  /** @throws ActivityError `scrub_failed`, and no other error */
  readonly scrub: Scrub;
  /** Scrubs only secrets. */
  readonly scrubSecrets: Pick<Scrub, 'json'>;
  /** For failures, which must always be reported: a text that cannot be scrubbed is replaced by a fixed one. */
  readonly forced: Pick<Scrub, 'text' | 'json'>;
  hide(...values: readonly string[]): void;
  /** Hides secrets and counts them. @throws ActivityError `too_many_secrets` */
  hideSecrets(...values: readonly string[]): void;
}

/** Tests pass a `make` that fails. */
export function growingScrub(make: (values: readonly string[]) => Scrub = scrubOf): GrowingScrub {
  const hidden = new Set<string>();
  const secrets = new Set<string>();
  let made: Scrub | undefined;
  const current = (): Scrub => {
    // Several secrets are often read in a row, and preparing for a long one takes a while.
    made ??= make([...hidden]);
    return made;
  };
  const hide = (...values: readonly string[]): void => {
    const known = hidden.size;
    for (const value of values) hidden.add(value);
    if (hidden.size > known) made = undefined;
  };
  return {
    scrub: {
      text: (text) => guarded(() => current().text(text)),
      json: (value) => guarded(() => current().json(value)),
      beginning: (text) => guarded(() => current().beginning(text)),
    },
    scrubSecrets: { json: (value) => guarded(() => make([...secrets]).json(value)) },
    forced: {
      text: (text) => or(WITHHELD, () => current().text(text)),
      json: (value) => or<Json>(WITHHELD, () => current().json(value)),
    },
    hide,
    hideSecrets(...values) {
      for (const value of values) secrets.add(value);
      const bytes = [...secrets].reduce((sum, value) => sum + Buffer.byteLength(value), 0);
      const isWithin = secrets.size <= MOST_SECRETS_PER_STEP && bytes <= MOST_SECRET_BYTES_PER_STEP;
      if (isWithin) return hide(...values);
      throw new ActivityError(
        'too_many_secrets',
        `The step uses ${secrets.size} secrets of ${bytes} bytes in total; the limit is ` +
          `${MOST_SECRETS_PER_STEP} secrets of ${MOST_SECRET_BYTES_PER_STEP} bytes. Divide it into several steps.`,
        {
          details: {
            secrets: secrets.size,
            bytes,
            limit: MOST_SECRETS_PER_STEP,
            limitBytes: MOST_SECRET_BYTES_PER_STEP,
          },
        },
      );
    },
  };
}

function guarded<T>(scrub: () => T): T {
  try {
    return scrub();
  } catch {
    throw new ActivityError(
      'scrub_failed',
      'Secrets could not be removed from the result of the step, so it is withheld. Request less data, or ' +
        'split the request.',
    );
  }
}

function or<T>(instead: T, scrub: () => T): T {
  try {
    return scrub();
  } catch {
    return instead;
  }
}
