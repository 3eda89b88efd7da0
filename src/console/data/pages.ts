/** A list whose further pages are loaded one by one, below what is shown. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { get, withQuery } from './api.ts';
import type { ApiProblem } from './problem.ts';
import { type Resource, useAction, useGet } from './resource.ts';

export interface UnreadableRow {
  readonly slug?: string | undefined;
  readonly id?: string | undefined;
  readonly message: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** The rows of the page that cannot be decoded. */
  readonly unreadable?: readonly UnreadableRow[] | undefined;
  readonly nextCursor?: string | undefined;
}

/** The state of the button that loads the next page. */
export interface LoadMoreState {
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** Why the next page could not be loaded. */
  readonly problem: ApiProblem | undefined;
  loadMore(): void;
}

export interface Pages<T> extends LoadMoreState {
  readonly first: Resource<Page<T>>;
  /** Of all pages that are loaded. */
  readonly items: readonly T[];
  /** Rows of a newer first page that wait to be shown, where the list is merged. */
  readonly unseen: number;
  showUnseen(): void;
}

/** How polled data is merged into the rows that are shown. */
export interface PagePolling<T> {
  readonly pollMs?: number | undefined;
  /** Merges a polled first page into the rows by id. Default: a newer first page replaces all pages. */
  readonly merge?: {
    readonly idOf: (row: T) => string;
    readonly after: (shown: readonly T[], page: Page<T>) => { readonly rows: readonly T[]; readonly unseen: number };
  };
  /** Default: polling pauses while later pages are shown, since the list would jump. */
  readonly isPaused?: () => boolean;
}

interface ShownPages<T> {
  readonly key: string | undefined;
  readonly rows: readonly T[];
  readonly cursor: string | undefined;
  /** The first page that the rows contain. */
  readonly page: Page<T>;
  readonly unseen: number;
  readonly hasLaterPages: boolean;
}

/** Loads the first page of a list, polls it every `pollMs`, and loads later pages on request. No path: no requests. */
export function usePages<T>(
  path: string | undefined,
  query: { readonly [name: string]: string | number | undefined },
  { pollMs, merge, isPaused }: PagePolling<T> = {},
): Pages<T> {
  const [shown, setShown] = useState<ShownPages<T>>();
  const key = path === undefined ? undefined : withQuery(path, query);
  const first: Resource<Page<T>> = useGet<Page<T>>(key, {
    pollMs,
    isPaused: isPaused ?? ((): boolean => current?.hasLaterPages === true),
  });
  const { data, isCurrent } = first;
  const current: ShownPages<T> | undefined =
    data !== undefined && isCurrent ? withPolledPage(shown, key, data, merge) : shown;
  useEffect(() => {
    if (current !== shown) setShown(current);
  });
  const nextPage = useAction(async () => {
    const page = await get<Page<T>>(path ?? '', { query: { ...query, cursor: current?.cursor } });
    // The list may have changed during the request.
    setShown((last) =>
      last && last.key === key && (merge || last.page === current?.page) ? withNextPage(last, page, merge) : last,
    );
  });
  return {
    first,
    items: current?.rows ?? [],
    unseen: current?.unseen ?? 0,
    hasMore: isCurrent && current?.cursor !== undefined,
    isLoadingMore: nextPage.isRunning,
    problem: nextPage.problem,
    loadMore: () => void nextPage.run(),
    showUnseen: useCallback(() => setShown((last) => last && firstPageOnly(last.key, last.page)), []),
  };
}

const firstPageOnly = <T>(key: string | undefined, page: Page<T>): ShownPages<T> => ({
  key,
  rows: page.items,
  cursor: page.nextCursor,
  page,
  unseen: 0,
  hasLaterPages: false,
});

/** The shown rows after a first page has come. */
function withPolledPage<T>(
  shown: ShownPages<T> | undefined,
  key: string | undefined,
  page: Page<T>,
  merge: PagePolling<T>['merge'],
): ShownPages<T> {
  if (shown === undefined || shown.key !== key) return firstPageOnly(key, page);
  if (shown.page === page) return shown;
  if (merge === undefined || shown.rows.length === 0) return firstPageOnly(key, page);
  return { ...shown, ...merge.after(shown.rows, page), page };
}

/** The shown rows and those of the page that follows them. */
function withNextPage<T>(last: ShownPages<T>, page: Page<T>, merge: PagePolling<T>['merge']): ShownPages<T> {
  const known = new Set(merge === undefined ? [] : last.rows.map(merge.idOf));
  const rows = [...last.rows, ...page.items.filter((row) => merge === undefined || !known.has(merge.idOf(row)))];
  return { ...last, rows, cursor: page.nextCursor, hasLaterPages: true };
}
