import type { Further } from '../data/pages.ts';
import { Button } from './button.tsx';
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
