/** The filters of the run list: in the address, in requests, and as people read them. */
import { isObject } from '../../json/json.ts';
import { parseJsonInput } from '../data/parse-json-input.ts';
import { WAIT_KINDS, waitText } from '../data/run-text.ts';
import type { Execution } from '../data/types.ts';
import type { Query } from '../routes.ts';

type QueryParams = { readonly [name: string]: string };

export const TABS = [
  { name: 'all', label: 'All', statuses: [] },
  { name: 'failed', label: 'Failed', statuses: ['failed', 'aborted'] },
  { name: 'waiting', label: 'Waiting', statuses: ['waiting'] },
  { name: 'running', label: 'Running', statuses: ['pending', 'running', 'rolling_back'] },
] as const;
export type TabName = (typeof TABS)[number]['name'];

/** A `status` in the address that is no tab is a filter of its own. */
export const tabOf = ({ status }: QueryParams): TabName | undefined =>
  TABS.find((tab) => tab.statuses.join(',') === (status ?? '') || tab.name === status)?.name;

/** The query that a tab sets. */
export const statusOf = (name: TabName): string | undefined => {
  const statuses: readonly string[] = TABS.find((tab) => tab.name === name)?.statuses ?? [];
  return statuses.length === 0 ? undefined : statuses.join(',');
};

export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: 'date';
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
}

const selectOptions = (values: readonly string[]) => values.map((value) => ({ value, label: value }));

export const FILTERS: readonly Filter[] = [
  { name: 'workflowId', label: 'Workflow', hint: 'The slug of the workflow.' },
  {
    name: 'waitingFor',
    label: 'Waits for',
    choices: WAIT_KINDS.map((kind) => ({ value: kind, label: waitText(kind) })),
  },
  { name: 'errorCode', label: 'Error code', hint: 'Such as http_status. Runs that failed with it.' },
  { name: 'started[gte]', label: 'Started from', type: 'date' },
  { name: 'started[lt]', label: 'Started before', type: 'date' },
  {
    name: 'triggerType',
    label: 'Started by',
    choices: selectOptions(['manual', 'webhook', 'schedule', 'event', 'inline', 'subworkflow', 'temporal']),
  },
  { name: 'tag', label: 'Tag', hint: 'A tag of the workflow.' },
  { name: 'executionId', label: 'Run', hint: 'The id of one run.' },
];

/** Further filters of the gateway, for addresses that people enter. */
const UNLISTED_FILTERS = ['triggerId', 'conversationId', 'channel', 'model'];
const FILTER_NAMES: ReadonlySet<string> = new Set([...FILTERS.map(({ name }) => name), ...UNLISTED_FILTERS]);

const isStateFilter = (name: string): boolean => /^state\[.+\]$/.test(name);

/** The filters in an address, without the status. Unknown members are dropped. */
export const filtersIn = (query: QueryParams): QueryParams =>
  Object.fromEntries(Object.entries(query).filter(([name]) => FILTER_NAMES.has(name) || isStateFilter(name)));

/** The query of a request for the list. */
export function listQuery(query: QueryParams): QueryParams {
  const tab = tabOf(query);
  const status = tab === undefined ? query['status'] : statusOf(tab);
  return { ...filtersIn(query), ...(status === undefined ? {} : { status }) };
}

interface Chip {
  readonly name: string;
  readonly text: string;
}

/** The filters that are set, to be shown and removed. */
export function chipsOf(query: QueryParams): readonly Chip[] {
  const filters = Object.entries(filtersIn(query)).map(([name, value]) => {
    const filter = FILTERS.find((one) => one.name === name);
    const label = filter?.choices?.find((choice) => choice.value === value)?.label ?? value;
    return { name, text: `${filter?.label ?? name}: ${label}` };
  });
  return tabOf(query) === undefined ? [{ name: 'status', text: `Status: ${query['status']}` }, ...filters] : filters;
}

/** The query change that removes all filters. */
export const clearedFilters = (query: QueryParams): Query =>
  Object.fromEntries(chipsOf(query).map(({ name }) => [name, undefined]));

/** The filters as the body of a bulk operation has them. */
export function bulkFilter(query: QueryParams): { readonly [name: string]: unknown } {
  const filter: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(listQuery(query))) {
    const [, group, member] = /^(\w+)\[(.+)\]$/.exec(name) ?? [];
    if (group === undefined || member === undefined) filter[name] = value;
    else filter[group] = { ...(filter[group] as object | undefined), [member]: value };
  }
  return filter;
}

interface MergedRows {
  readonly rows: readonly Execution[];
  /** Runs of the newer page that are not shown yet. */
  readonly unseen: number;
}

/**
 * The rows after a poll. Rows that are shown are renewed and come in the newer order; new ones wait until the user asks
 * for them. A row that the newer page lacks stays only while it may be on a later page.
 */
export function mergePolledPage(
  shown: readonly Execution[],
  newer: readonly Execution[],
  hasMore: boolean,
): MergedRows {
  const known = new Set(shown.map(({ id }) => id));
  const found = new Set(newer.map(({ id }) => id));
  const renewed = newer.filter(({ id }) => known.has(id));
  const rest = hasMore ? shown.filter(({ id }) => !found.has(id)) : [];
  return { rows: [...renewed, ...rest], unseen: newer.length - renewed.length };
}

export interface SavedView {
  readonly name: string;
  /** The query of the address. */
  readonly query: QueryParams;
}

/** Parses the saved views in localStorage. Invalid entries are dropped. */
export function parseViews(text: string | null): readonly SavedView[] {
  const { value } = parseJsonInput(text ?? '');
  return Array.isArray(value) ? value.filter(isSavedView) : [];
}

const isSavedView = (value: unknown): value is SavedView =>
  isObject(value) &&
  typeof value['name'] === 'string' &&
  isObject(value['query']) &&
  Object.values(value['query']).every((member) => typeof member === 'string');
