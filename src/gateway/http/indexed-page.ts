/** A page of an ordered list that is read as a whole and whose items have no names. The cursor counts earlier items. */
import { readCursor, writeCursor } from '../../client/visibility/cursor.ts';
import type { Page } from '../../client/visibility/listing.ts';
import type { Gateway } from './context.ts';

/** `list` names the organization and all filters; a cursor is valid for it alone. @throws ClientError `invalid_cursor`. */
export function indexedPage<T>(
  { access }: Gateway,
  list: string,
  items: readonly T[],
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Page<T> {
  const { cursors } = access.keys;
  const from = cursor === undefined ? 0 : Number(Buffer.from(readCursor(cursors, list, cursor)).toString());
  const shown = items.slice(from, from + limit);
  const next = from + shown.length;
  return next < items.length
    ? { items: shown, nextCursor: writeCursor(cursors, list, Buffer.from(String(next))) }
    : { items: shown };
}
