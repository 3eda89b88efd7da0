/** What the run list loads: its pages, which are polled, and the counts of its tabs. */
import { type Pages, type Polling, usePages } from '../data/pages.ts';
import { useGet } from '../data/resource.ts';
import type { Execution, ExecutionCounts } from '../data/types.ts';
import { filtersIn, listQuery, merged } from './runs-filter.ts';

type Given = { readonly [name: string]: string };

const LIMIT = 50;
const POLL_MS = 5_000;
/** Up to here, in pixels, the page is at its top. */
const TOP = 400;

/** Rows do not move under the reader: a poll renews them, and new runs wait. Further down nothing is polled. */
const POLLING: Polling<Execution> = {
  pollMs: POLL_MS,
  isPaused: () => scrollY > TOP,
  merge: {
    idOf: ({ id }) => id,
    after: (shown, { items, nextCursor }) => merged(shown, items, nextCursor !== undefined),
  },
};

/** The list of an address. */
export const useRunList = (given: Given): Pages<Execution> =>
  usePages('/api/executions', { ...listQuery(given), limit: LIMIT, include: 'workflowName,error' }, POLLING);

/** The counts of the tabs, with the filters of the address. */
export function useRunCounts(given: Given): ExecutionCounts | undefined {
  const { errorCode: _errorCode, ...filters } = filtersIn(given);
  const isCounted = given['errorCode'] === undefined;
  const counts = useGet<ExecutionCounts>(isCounted ? '/api/executions/counts' : undefined, {
    query: filters,
    pollMs: POLL_MS,
  });
  return isCounted && counts.isCurrent ? counts.data : undefined;
}
