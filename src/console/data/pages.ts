/** A list whose further pages are loaded one by one, below what is shown. */
import { useState } from 'preact/hooks';
import { get, withQuery } from './api.ts';
import type { ApiProblem } from './problem.ts';
import { type Resource, useAction, useResource } from './resource.ts';

export interface Unread {
  readonly slug?: string | undefined;
  readonly id?: string | undefined;
  readonly message: string;
}

interface Page<T> {
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
}

interface Rest<T> extends Page<T> {
  /** The first page that they follow. */
  readonly after: object | undefined;
}

/**
 * Loads the first page of a list, and again every `pollMs`, as long as no further one is on the screen: the list would
 * jump. A first page that is loaded anew drops the others. Without a path nothing is loaded.
 */
export function usePages<T>(
  path: string | undefined,
  query: { readonly [name: string]: string | number | undefined },
  pollMs?: number,
): Pages<T> {
  const [rest, setRest] = useState<Rest<T>>();
  const first: Resource<Page<T>> = useResource<Page<T>>(
    path === undefined ? undefined : withQuery(path, query),
    (signal) => get<Page<T>>(path ?? '', { query, signal }),
    { pollMs, isPaused: (): boolean => further !== undefined },
  );
  const { data } = first;
  const further: Rest<T> | undefined = rest?.after === data ? rest : undefined;
  const shown = [...(data?.items ?? []), ...(further?.items ?? [])];
  const cursor = (further ?? data)?.nextCursor;
  const next = useAction(async () => {
    const page = await get<Page<T>>(path ?? '', { query: { ...query, cursor } });
    setRest({ ...page, items: [...(further?.items ?? []), ...page.items], after: data });
  });
  return {
    first,
    items: shown,
    hasMore: first.isCurrent && cursor !== undefined,
    isLoadingMore: next.isRunning,
    problem: next.problem,
    more: () => void next.run(),
  };
}
