/**
 * The scrub of one effect: it takes out what it is told to hide, from then on, since some secrets are read while the effect
 * runs. What goes wrong while it scrubs could repeat a secret, so its error says nothing but that.
 */

import { MOST_SECRET_BYTES_PER_STEP, MOST_SECRETS_PER_STEP } from '../../src/definition/document/limits.ts';
import type { Json } from '../../src/json/json.ts';
import { ActivityError } from './failure.ts';
import { type Scrub, scrubOf } from './scrub.ts';

/** In place of a text that could not be scrubbed. */
const WITHHELD = '[withheld: secrets could not be taken out of this text]';

export interface GrowingScrub {
  /** Throws ActivityError `scrub_failed`, never another error. */
  readonly scrub: Scrub;
  /** Of the secrets alone. */
  readonly scrubSecrets: Pick<Scrub, 'json'>;
  /** Of failures, which must be told in any case: what cannot be scrubbed is replaced by a fixed text. */
  readonly forced: Pick<Scrub, 'text' | 'json'>;
  hide(...values: readonly string[]): void;
  /** Hides secrets, which are counted. @throws ActivityError `too_many_secrets` */
  hideSecrets(...values: readonly string[]): void;
}

/** `make` is what scrubs; tests give one that fails. */
export function growingScrub(make: (values: readonly string[]) => Scrub = scrubOf): GrowingScrub {
  const hidden = new Set<string>();
  const secrets = new Set<string>();
  let made: Scrub | undefined;
  const current = (): Scrub => {
    // Several secrets are often read in a row, and a long one takes a while.
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
        `The step uses ${secrets.size} secrets of ${bytes} bytes; at most ${MOST_SECRETS_PER_STEP} of ${MOST_SECRET_BYTES_PER_STEP} bytes together can be kept out of its result. Divide it into several steps.`,
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
      'Secrets could not be taken out of what the step gave, so it is withheld. Ask for less, or in parts.',
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
