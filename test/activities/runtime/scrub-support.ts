import { type Scrub, scrubOf } from '../../../activities/runtime/scrub.ts';
import { scrubTableOf } from '../../../activities/runtime/scrub-table.ts';
import { HASH_BASES } from '../../../activities/runtime/scrub-tables.ts';
import { MIN_SECRET_CHARACTERS } from '../../../src/definition/document/limits.ts';

/** The scrubber of these secrets, with tables that are built now. */
export function scrubOfTexts(values: readonly string[]): Scrub {
  const secrets = values.filter((value) => value.length >= MIN_SECRET_CHARACTERS);
  return scrubOf(
    secrets.map((value) => scrubTableOf(value, HASH_BASES)),
    HASH_BASES,
  );
}
