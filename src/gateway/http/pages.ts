/** Pages of lists that are read as a whole. Visibility lists have their own pages (src/client/visibility). */
import { readCursor, writeCursor } from '../../client/visibility/cursor.ts';
import type { Page } from '../../client/visibility/listing.ts';
import type { Gateway } from './context.ts';

/**
 * The cursor is the number of items before it. `list` names the organization and all filters, and the cursor is valid
 * for it alone.
 * @throws ClientError `invalid_cursor`.
 */
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

/**
 * `items` are sorted by name, and the cursor is the last name. It is valid for its list and organization.
 * @throws ClientError `invalid_cursor`.
 */
export function namedPage<T extends { readonly name: string }>(
  { access }: Gateway,
  list: string,
  organizationId: string,
  items: readonly T[],
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Page<T> {
  const { cursors } = access.keys;
  const place = `${list} ${organizationId}`;
  const after = cursor === undefined ? '' : Buffer.from(readCursor(cursors, place, cursor)).toString();
  const rest = items.filter(({ name }) => name > after);
  const shown = rest.slice(0, limit);
  const last = shown.at(-1);
  if (rest.length === shown.length || last === undefined) return { items: shown };
  return { items: shown, nextCursor: writeCursor(cursors, place, Buffer.from(last.name)) };
}
