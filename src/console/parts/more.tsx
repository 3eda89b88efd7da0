import type { ComponentChildren } from 'preact';
import type { Further, Pages, Unread } from '../data/pages.ts';
import { Button } from './button.tsx';
import { Empty, Loaded } from './loading.tsx';
import { Problem } from './problem.tsx';

/** Loads the next page of a list, where there is one. */
export const More = ({ list }: { readonly list: Further }) => (
  <>
    <Problem problem={list.problem} />
    {list.hasMore ? (
      <div>
        <Button onClick={list.more} isBusy={list.isLoadingMore}>
          More
        </Button>
      </div>
    ) : null}
  </>
);

const UnreadNotice = ({ rows = [] }: { readonly rows?: readonly Unread[] | undefined }) =>
  rows.length === 0 ? null : (
    <p class="notice" role="note">
      {rows.map(({ slug, id }) => id ?? slug).join(', ')} cannot be read: {rows[0]?.message}
    </p>
  );

interface ListedProps<T> {
  readonly list: Pages<T>;
  /** `the questions`. */
  readonly what: string;
  /** What stands there while nothing does. */
  readonly empty: ComponentChildren;
  readonly children: (items: readonly T[]) => ComponentChildren;
}

/** A list of pages, in all its states. */
export const Listed = <T,>({ list, what, empty, children }: ListedProps<T>) => (
  <>
    <UnreadNotice rows={list.first.data?.unreadable} />
    <Loaded resource={list.first} what={what}>
      {() => (list.items.length === 0 ? <Empty>{empty}</Empty> : children(list.items))}
    </Loaded>
    <More list={list} />
  </>
);
