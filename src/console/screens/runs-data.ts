/** What the run list loads: its pages, which are polled, and the counts of its tabs. */
import { type PagePolling, type Pages, usePages } from '../data/pages.ts';
import { useGet } from '../data/resource.ts';
import type { Execution, ExecutionCounts } from '../data/types.ts';
import { filtersIn, listQuery, mergePolledPage } from './runs-filter.ts';

type QueryParams = { readonly [name: string]: string };

const LIMIT = 50;
const POLL_MS = 5_000;
/** Up to this scroll position the page counts as scrolled to its top. */
const TOP_SCROLL_PX = 400;

/** Rows do not move while polling: a poll updates them, and new runs wait. Scrolled down, polling pauses. */
const POLLING: PagePolling<Execution> = {
  pollMs: POLL_MS,
  isPaused: () => scrollY > TOP_SCROLL_PX,
  merge: {
    idOf: ({ id }) => id,
    after: (shown, { items, nextCursor }) => mergePolledPage(shown, items, nextCursor !== undefined),
  },
};

/** The list of an address. */
export const useRunList = (query: QueryParams): Pages<Execution> =>
  usePages('/api/executions', { ...listQuery(query), limit: LIMIT, include: 'workflowName,error' }, POLLING);

/** The counts of the tabs, with the filters of the address. */
export function useRunCounts(query: QueryParams): ExecutionCounts | undefined {
  const { errorCode: _errorCode, ...filters } = filtersIn(query);
  const isCounted = query['errorCode'] === undefined;
  const counts = useGet<ExecutionCounts>(isCounted ? '/api/executions/counts' : undefined, {
    query: filters,
    pollMs: POLL_MS,
  });
  return isCounted && counts.isCurrent ? counts.data : undefined;
}
