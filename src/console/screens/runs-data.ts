/** Loads the run list: its first page, which is polled, and further pages. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../data/api.ts';
import type { Further } from '../data/pages.ts';
import { type ApiProblem, asApiProblem } from '../data/problem.ts';
import { type Resource, useResource } from '../data/resource.ts';
import type { Execution, ExecutionCounts, ExecutionPage } from '../data/types.ts';
import { queryText } from '../routes.ts';
import { filtersIn, listQuery, merged } from './runs-filter.ts';

type Given = { readonly [name: string]: string };

const LIMIT = 50;
const POLL_MS = 5_000;
/** Up to here, in pixels, the page is at its top. */
const TOP = 400;

/** Who reads further down is not disturbed. */
const isFarDown = (): boolean => scrollY > TOP;

const load = (query: Given, signal: AbortSignal, cursor?: string): Promise<ExecutionPage> =>
  get('/api/executions', { query: { ...query, limit: LIMIT, cursor, include: 'workflowName,error' }, signal });

export interface RunList extends Further {
  readonly rows: readonly Execution[];
  readonly first: Resource<ExecutionPage>;
  /** New runs that wait to be shown. */
  readonly unseen: number;
  showUnseen(): void;
}

interface Shown {
  readonly key: string;
  readonly rows: readonly Execution[];
  readonly cursor: string | undefined;
  /** The first page that was taken into the rows. */
  readonly page: ExecutionPage;
  readonly unseen: number;
}

/** The list of an address. Rows do not move under the reader: a poll renews them, and new runs wait. */
export function useRunList(given: Given): RunList {
  const query = listQuery(given);
  const key = queryText(query);
  const first = useResource(`runs${key}`, (signal) => load(query, signal), { pollMs: POLL_MS, isPaused: isFarDown });
  const [shown, setShown] = useState<Shown>();
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  const wanted = useRef(key);
  wanted.current = key;

  const { data, isCurrent } = first;
  const now = data !== undefined && isCurrent ? advanced(shown, key, data) : shown;
  useEffect(() => {
    if (now !== shown) setShown(now);
  });

  const showUnseen = useCallback(() => {
    setShown((last) => (last === undefined ? last : { ...whole(last.key, last.page) }));
    scrollTo(0, 0);
  }, []);
  const more = async (): Promise<void> => {
    if (now?.cursor === undefined || isLoadingMore) return;
    setLoadingMore(true);
    setProblem(undefined);
    try {
      const page = await load(query, new AbortController().signal, now.cursor);
      setShown((last) => (last?.key !== wanted.current || last.key !== key ? last : withPage(last, page)));
    } catch (thrown) {
      setProblem(asApiProblem(thrown));
    } finally {
      setLoadingMore(false);
    }
  };
  return {
    rows: now?.rows ?? [],
    first,
    unseen: now?.unseen ?? 0,
    hasMore: now?.cursor !== undefined,
    isLoadingMore,
    problem,
    showUnseen,
    more: () => void more(),
  };
}

const whole = (key: string, page: ExecutionPage): Shown => ({
  key,
  rows: page.items,
  cursor: page.nextCursor,
  page,
  unseen: 0,
});

/** The shown rows after a page has come: all of it for another list, and what is known of it after a poll. */
function advanced(shown: Shown | undefined, key: string, page: ExecutionPage): Shown {
  if (shown === undefined || shown.key !== key) return whole(key, page);
  if (shown.page === page) return shown;
  if (shown.rows.length === 0) return whole(key, page);
  const { rows, unseen } = merged(shown.rows, page.items, page.nextCursor !== undefined);
  return { ...shown, rows, unseen, page };
}

function withPage(last: Shown, page: ExecutionPage): Shown {
  const known = new Set(last.rows.map(({ id }) => id));
  const rows = [...last.rows, ...page.items.filter(({ id }) => !known.has(id))];
  return { ...last, rows, cursor: page.nextCursor };
}

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
