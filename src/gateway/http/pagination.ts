/** Pages of lists that are read as a whole. Visibility lists have their own pages (src/client/visibility). */
import { readCursor, writeCursor } from '../../client/visibility/cursor.ts';
import type { Page } from '../../client/visibility/listing.ts';
import type { Gateway } from './context.ts';

interface PageWanted {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/**
 * The cursor is the number of items before it. `list` names the organization and all filters, and the cursor is valid
 * for it alone.
 * @throws ClientError `invalid_cursor`.
 */
export function offsetPage<T>(
  { access }: Gateway,
  list: string,
  items: readonly T[],
  { limit, cursor }: PageWanted,
): Page<T> {
  const { cursors } = access.keys;
  const from = cursor === undefined ? 0 : Number(Buffer.from(readCursor(cursors, list, cursor)).toString());
  const shown = items.slice(from, from + limit);
  const next = from + shown.length;
  return next < items.length
    ? { items: shown, nextCursor: writeCursor(cursors, list, Buffer.from(String(next))) }
    : { items: shown };
}

/**
 * The cursor is the key of the last item before it. `items` are sorted so that `follows` a key what comes after it.
 * @throws ClientError `invalid_cursor`.
 */
export function keysetPage<T>(
  { access }: Gateway,
  list: string,
  items: readonly T[],
  keyOf: (item: T) => string,
  follows: (key: string, last: string) => boolean,
  { limit, cursor }: PageWanted,
): Page<T> {
  const { cursors } = access.keys;
  const last = cursor === undefined ? undefined : Buffer.from(readCursor(cursors, list, cursor)).toString();
  const rest = last === undefined ? items : items.filter((item) => follows(keyOf(item), last));
  const shown = rest.slice(0, limit);
  const end = shown.at(-1);
  if (rest.length === shown.length || end === undefined) return { items: shown };
  return { items: shown, nextCursor: writeCursor(cursors, list, Buffer.from(keyOf(end))) };
}

/** `items` are sorted by name. @throws ClientError `invalid_cursor`. */
export const namedPage = <T extends { readonly name: string }>(
  gateway: Gateway,
  list: string,
  organizationId: string,
  items: readonly T[],
  wanted: PageWanted,
): Page<T> =>
  keysetPage(
    gateway,
    `${list} ${organizationId}`,
    items,
    ({ name }) => name,
    (name, last) => name > last,
    wanted,
  );
