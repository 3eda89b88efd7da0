/**
 * Exact comparison of list values (tags, searchable state, waits). Temporal searches lists by the index of SQLite,
 * which ignores upper and lower case, and takes `♡` for the end of a value. So the values of the row decide.
 */
import { attributeValue, type ListAttributeFilters, listValue, modelValue } from '../../contract/search-attributes.ts';
import { searchAttributes } from '../search-attributes/keys.ts';
import type { Access } from '../temporal/access.ts';
import { type BareRow, listBare, listPage, type Page, type PageRequest, type Row } from './listing.ts';
import { pagesOf } from './pages.ts';

const ROWS = 1_000;

interface ListFilter {
  readonly tag?: string;
  readonly state?: { readonly [key: string]: string };
  readonly waiting?: readonly string[];
  /** A model that the run has called. */
  readonly model?: string;
}

export const stateValue = (key: string, value: string): string => `${key}=${value}`;

export const listFiltersOf = ({ tag, state = {}, waiting = [], model }: ListFilter): ListAttributeFilters => [
  ...(model === undefined ? [] : ([['state', listValue(modelValue(model)), attributeValue(model)]] as const)),
  ...(tag === undefined ? [] : ([['tags', listValue(attributeValue(tag))]] as const)),
  ...Object.entries(state).map(([key, value]) => ['state', listValue(stateValue(key, value))] as const),
  ...waiting.map((who) => ['waiting', listValue(who)] as const),
];

export const matchesListFilters = ({ attributes }: Pick<Row, 'attributes'>, wanted: ListAttributeFilters): boolean =>
  wanted.every(
    ([list, value, model]) =>
      attributes.get(searchAttributes[list])?.includes(value) === true ||
      (model !== undefined && attributes.get(searchAttributes.model) === model),
  );

/** As listBare, without rows that lack the wanted values. */
export async function listBareExact(
  access: Access,
  query: string,
  wanted: ListAttributeFilters,
  request: PageRequest,
): Promise<Page<BareRow>> {
  if (wanted.length === 0) return listBare(access, query, request);
  const page = await listPage(access, query, request);
  return { ...page, items: page.items.filter((row) => matchesListFilters(row, wanted)) };
}

/** The ids of the rows that have the wanted values. Undefined where all rows of the query have them. */
export async function exactMatchIds(
  access: Access,
  query: string,
  wanted: ListAttributeFilters,
): Promise<readonly string[] | undefined> {
  if (wanted.length === 0) return undefined;
  const ids: string[] = [];
  let others = 0;
  for await (const rows of pagesOf(ROWS, (request) => listPage(access, query, request))) {
    const exact = rows.filter((row) => matchesListFilters(row, wanted));
    ids.push(...exact.map(({ workflowId }) => workflowId));
    others += rows.length - exact.length;
  }
  return others === 0 ? undefined : ids;
}
