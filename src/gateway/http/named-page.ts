/** A page of a list that is read as a whole, sorted by name: secrets, models, servers. The cursor is the last name. */
import { readCursor, writeCursor } from '../../client/visibility/cursor.ts';
import type { Page } from '../../client/visibility/listing.ts';
import type { Gateway } from './context.ts';

/** `items` are sorted by name. A cursor is valid for its list and organization. @throws ClientError `invalid_cursor`. */
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
