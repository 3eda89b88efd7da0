/**
 * Values of lists (tags, searchable state, who is waited for) as a filter means them. SQLite's index, by which Temporal searches
 * lists, takes upper and lower case for one, and `♡` for the end of a value; so what a row itself holds decides.
 */
import { attributeValue, listValue } from '../definition/attributes.ts';
import type { Row } from './listing.ts';
import { searchAttributes } from './search-attributes.ts';

/** What each of the lists must hold. JSON. */
export type ListsWanted = readonly (readonly [list: 'tags' | 'state' | 'waiting', value: string])[];

export interface ListFilter {
  readonly tag?: string;
  readonly state?: { readonly [key: string]: string };
  readonly waiting?: readonly string[];
}

export const stateValue = (key: string, value: string): string => `${key}=${value}`;

export const listsWanted = ({ tag, state = {}, waiting = [] }: ListFilter): ListsWanted => [
  ...(tag === undefined ? [] : ([['tags', listValue(attributeValue(tag))]] as const)),
  ...Object.entries(state).map(([key, value]) => ['state', listValue(stateValue(key, value))] as const),
  ...waiting.map((who) => ['waiting', listValue(who)] as const),
];

export const holdsAll = ({ attributes }: Pick<Row, 'attributes'>, wanted: ListsWanted): boolean =>
  wanted.every(([list, value]) => attributes.get(searchAttributes[list])?.includes(value) === true);
