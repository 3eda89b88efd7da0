/** Rows of a list that cannot be read, and why. */
import type { Unread } from '../data/pages.ts';

export const UnreadNotice = ({ rows = [] }: { readonly rows?: readonly Unread[] | undefined }) =>
  rows.length === 0 ? null : (
    <p class="notice" role="note">
      {rows.map(({ slug, id }) => id ?? slug).join(', ')} cannot be read: {rows[0]?.message}
    </p>
  );
