/**
 * Values of lists (tags, searchable state, who is waited for) as a filter means them. SQLite's index, by which Temporal searches
 * lists, takes upper and lower case for one, and `♡` for the end of a value; so what a row itself holds decides.
 */
import { attributeValue, type ListsWanted, listValue, modelValue } from '../../contract/search-attributes.ts';
import type { Access } from '../temporal/access.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';
import { type BareRow, listBare, listPage, type Page, type PageRequest, type Row } from './listing.ts';
import { pagesOf } from './pages.ts';

const ROWS = 1_000;

export interface ListFilter {
  readonly tag?: string;
  readonly state?: { readonly [key: string]: string };
  readonly waiting?: readonly string[];
  /** One that the run has asked. */
  readonly model?: string;
}

export const stateValue = (key: string, value: string): string => `${key}=${value}`;

export const listsWanted = ({ tag, state = {}, waiting = [], model }: ListFilter): ListsWanted => [
  ...(model === undefined ? [] : ([['state', listValue(modelValue(model)), attributeValue(model)]] as const)),
  ...(tag === undefined ? [] : ([['tags', listValue(attributeValue(tag))]] as const)),
  ...Object.entries(state).map(([key, value]) => ['state', listValue(stateValue(key, value))] as const),
  ...waiting.map((who) => ['waiting', listValue(who)] as const),
];

export const holdsAll = ({ attributes }: Pick<Row, 'attributes'>, wanted: ListsWanted): boolean =>
  wanted.every(
    ([list, value, model]) =>
      attributes.get(searchAttributes[list])?.includes(value) === true ||
      (model !== undefined && attributes.get(searchAttributes.model) === model),
  );

/** As listBare, of the rows alone that hold what is wanted. */
export async function listBareExact(
  access: Access,
  query: string,
  wanted: ListsWanted,
  request: PageRequest,
): Promise<Page<BareRow>> {
  if (wanted.length === 0) return listBare(access, query, request);
  const page = await listPage(access, query, request);
  return { ...page, items: page.items.filter((row) => holdsAll(row, wanted)) };
}

/** The ids of the rows that hold what is wanted; undefined where all of the query's do. */
export async function idsAmongOthers(
  access: Access,
  query: string,
  wanted: ListsWanted,
): Promise<readonly string[] | undefined> {
  if (wanted.length === 0) return undefined;
  const ids: string[] = [];
  let others = 0;
  for await (const rows of pagesOf(ROWS, (request) => listPage(access, query, request))) {
    const exact = rows.filter((row) => holdsAll(row, wanted));
    ids.push(...exact.map(({ workflowId }) => workflowId));
    others += rows.length - exact.length;
  }
  return others === 0 ? undefined : ids;
}
