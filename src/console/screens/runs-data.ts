/** What the run list loads: its pages, which are polled, and the counts of its tabs. */
import { get } from '../data/api.ts';
import { type Pages, type Polling, usePages } from '../data/pages.ts';
import { useResource } from '../data/resource.ts';
import type { Execution, ExecutionCounts } from '../data/types.ts';
import { queryText } from '../routes.ts';
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
  const counts = useResource(
    given['errorCode'] === undefined ? `counts${queryText(filters)}` : undefined,
    (signal) => get<ExecutionCounts>('/api/executions/counts', { query: filters, signal }),
    { pollMs: POLL_MS },
  );
  return given['errorCode'] === undefined && counts.isCurrent ? counts.data : undefined;
}
