import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributeUpdatePair } from '@temporalio/common';
import { ATTRIBUTES } from '../../src/contract/search-attributes.ts';
import type { SearchAttributes } from '../actors/actor.ts';

const { KEYWORD, KEYWORD_LIST } = SearchAttributeType;

/** Search attributes by name, in the SDK's form. Tags are a list; the others that actors have are keywords. */
export function attributePairs(values: SearchAttributes): SearchAttributeUpdatePair[] {
  return Object.entries(values).map(([name, value]) =>
    name === ATTRIBUTES.tags
      ? { key: defineSearchAttributeKey(name, KEYWORD_LIST), value: value === null ? null : [value].flat() }
      : { key: defineSearchAttributeKey(name, KEYWORD), value: value as string | null },
  );
}
