/** A list whose further pages are loaded one by one, below what is shown. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { get, withQuery } from './api.ts';
import type { ApiProblem } from './problem.ts';
import { type Resource, useAction, useGet } from './resource.ts';

export interface Unread {
  readonly slug?: string | undefined;
  readonly id?: string | undefined;
  readonly message: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Those of the page that cannot be read. */
  readonly unreadable?: readonly Unread[] | undefined;
  readonly nextCursor?: string | undefined;
}

/** What a button for the next page needs. */
export interface Further {
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** Why the next page could not be loaded. */
  readonly problem: ApiProblem | undefined;
  more(): void;
}

export interface Pages<T> extends Further {
  readonly first: Resource<Page<T>>;
  /** Of all pages that are loaded. */
  readonly items: readonly T[];
  /** Rows of a newer first page that wait to be shown, where the list is merged. */
  readonly unseen: number;
  showUnseen(): void;
}

/** How a list that is shown takes what a poll brings. */
export interface Polling<T> {
  readonly pollMs?: number | undefined;
  /** The rows after a poll, by their ids. Without it a newer first page takes the place of all pages. */
  readonly merge?: {
    readonly idOf: (row: T) => string;
    readonly after: (shown: readonly T[], page: Page<T>) => { readonly rows: readonly T[]; readonly unseen: number };
  };
  /** Without it nothing is polled while a further page is on the screen: the list would jump. */
  readonly isPaused?: () => boolean;
}

interface Shown<T> {
  readonly key: string | undefined;
  readonly rows: readonly T[];
  readonly cursor: string | undefined;
  /** The first page that was taken into the rows. */
  readonly page: Page<T>;
  readonly unseen: number;
  readonly hasFurther: boolean;
}

/** Loads the first page of a list, again every `pollMs`, and further ones when asked. Without a path nothing. */
export function usePages<T>(
  path: string | undefined,
  query: { readonly [name: string]: string | number | undefined },
  { pollMs, merge, isPaused }: Polling<T> = {},
): Pages<T> {
  const [shown, setShown] = useState<Shown<T>>();
  const key = path === undefined ? undefined : withQuery(path, query);
  const first: Resource<Page<T>> = useGet<Page<T>>(key, {
    pollMs,
    isPaused: isPaused ?? ((): boolean => now?.hasFurther === true),
  });
  const { data, isCurrent } = first;
  const now: Shown<T> | undefined = data !== undefined && isCurrent ? advanced(shown, key, data, merge) : shown;
  useEffect(() => {
    if (now !== shown) setShown(now);
  });
  const next = useAction(async () => {
    const page = await get<Page<T>>(path ?? '', { query: { ...query, cursor: now?.cursor } });
    // Meanwhile it may have become another list.
    setShown((last) =>
      last && last.key === key && (merge || last.page === now?.page) ? longer(last, page, merge) : last,
    );
  });
  return {
    first,
    items: now?.rows ?? [],
    unseen: now?.unseen ?? 0,
    hasMore: isCurrent && now?.cursor !== undefined,
    isLoadingMore: next.isRunning,
    problem: next.problem,
    more: () => void next.run(),
    showUnseen: useCallback(() => setShown((last) => last && whole(last.key, last.page)), []),
  };
}

const whole = <T>(key: string | undefined, page: Page<T>): Shown<T> => ({
  key,
  rows: page.items,
  cursor: page.nextCursor,
  page,
  unseen: 0,
  hasFurther: false,
});

/** The shown rows after a first page has come. */
function advanced<T>(
  shown: Shown<T> | undefined,
  key: string | undefined,
  page: Page<T>,
  merge: Polling<T>['merge'],
): Shown<T> {
  if (shown === undefined || shown.key !== key) return whole(key, page);
  if (shown.page === page) return shown;
  if (merge === undefined || shown.rows.length === 0) return whole(key, page);
  return { ...shown, ...merge.after(shown.rows, page), page };
}

/** The shown rows and those of the page that follows them. */
function longer<T>(last: Shown<T>, page: Page<T>, merge: Polling<T>['merge']): Shown<T> {
  const known = new Set(merge === undefined ? [] : last.rows.map(merge.idOf));
  const rows = [...last.rows, ...page.items.filter((row) => merge === undefined || !known.has(merge.idOf(row)))];
  return { ...last, rows, cursor: page.nextCursor, hasFurther: true };
}
