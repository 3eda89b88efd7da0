/** What a run and its check do otherwise for a definition that a dialect was converted from (LANGUAGE.md §9). */

import type { DialectNumber } from './dialect-names.ts';

interface DialectTraits {
  /** Whether the keys of the input are read without a prefix, as variables are. */
  readonly readsInputKeys?: true;
  /** The visits of a run, where the definition sets no limit of its own. */
  readonly maxSteps?: number;
  /** How its authors filter the items of an iteration, for hints. */
  readonly filterHint?: string;
}

const TRAITS: { readonly [dialect in DialectNumber]: DialectTraits } = {
  '000': { readsInputKeys: true },
  '001': { filterHint: 'Filter the items in a code step before this one, and refer to that step in forEach.ref.' },
  '002': { maxSteps: 50 },
  '004': {},
};
const NONE: DialectTraits = {};

/**
 * Those of a definition's member `dialect`. A canonical definition has none, nor has one of a dialect that there is
 * not: a run that is started by hand holds any value.
 */
export const traitsOf = (dialect: DialectNumber | undefined): DialectTraits =>
  dialect !== undefined && Object.hasOwn(TRAITS, dialect) ? TRAITS[dialect] : NONE;
