import type { ComponentChildren } from 'preact';
import type { LoadMoreState, Pages, UnreadableRow } from '../data/pages.ts';
import { Button } from './button.tsx';
import { EmptyState, ResourceView } from './loading.tsx';
import { Problem } from './problem.tsx';

/** Loads the next page of a list, where there is one. */
export const LoadMore = ({ list }: { readonly list: LoadMoreState }) => (
  <>
    <Problem problem={list.problem} />
    {list.hasMore ? (
      <div>
        <Button onClick={list.loadMore} isBusy={list.isLoadingMore}>
          More
        </Button>
      </div>
    ) : null}
  </>
);

const UnreadableNotice = ({ rows = [] }: { readonly rows?: readonly UnreadableRow[] | undefined }) =>
  rows.length === 0 ? null : (
    <p class="notice" role="note">
      {rows.map(({ slug, id }) => id ?? slug).join(', ')} cannot be read: {rows[0]?.message}
    </p>
  );

interface PagedListProps<T> {
  readonly list: Pages<T>;
  /** `the questions`. */
  readonly what: string;
  /** Shown if the list is empty. */
  readonly empty: ComponentChildren;
  readonly children: (items: readonly T[]) => ComponentChildren;
}

/** A paged list with its loading, empty and error states. */
export const PagedList = <T,>({ list, what, empty, children }: PagedListProps<T>) => (
  <>
    <UnreadableNotice rows={list.first.data?.unreadable} />
    <ResourceView resource={list.first} what={what}>
      {() => (list.items.length === 0 ? <EmptyState>{empty}</EmptyState> : children(list.items))}
    </ResourceView>
    <LoadMore list={list} />
  </>
);
