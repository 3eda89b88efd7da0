/** Lists whose order Visibility does not know: the runs are read in parts, and each part is in that order. */

import { defined } from '../../json/defined.ts';
import type { Access } from '../temporal/access.ts';
import { readCursor, writeCursor } from './cursor.ts';
import type { Page, PageRequest } from './listing.ts';

/** Parts without an item that are passed before an empty page is answered. */
const PATIENCE = 20;

/** Where a page begins: in which part of the runs, and after which item of it. */
interface Position {
  readonly from?: string;
  readonly after?: string;
}

/**
 * A page. `list` names list and filter. `partFrom` answers the items of a part. Those with the greatest places come
 * first; `placeOf` is different for each item.
 * @throws ClientError `invalid_cursor`.
 */
export async function newestOfParts<T>(
  access: Access,
  list: string,
  { cursor, limit }: PageRequest,
  partFrom: (from: string | undefined) => Promise<Page<T>>,
  placeOf: (item: T) => string,
): Promise<Page<T>> {
  const { cursors } = access.keys;
  let { from, after }: Position =
    cursor === undefined ? {} : JSON.parse(Buffer.from(readCursor(cursors, list, cursor)).toString());
  for (let passed = 0; ; passed++) {
    const part = await partFrom(from);
    const wanted = part.items
      .filter((item) => after === undefined || placeOf(item) < after)
      .sort((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1));
    if (wanted.length > 0 || part.nextCursor === undefined || passed === PATIENCE) {
      const items = wanted.slice(0, limit);
      const last = items.at(-1);
      const next: Position | undefined =
        last !== undefined && wanted.length > items.length
          ? { ...defined({ from }), after: placeOf(last) }
          : part.nextCursor === undefined
            ? undefined
            : { from: part.nextCursor };
      return next === undefined
        ? { items }
        : { items, nextCursor: writeCursor(cursors, list, Buffer.from(JSON.stringify(next))) };
    }
    from = part.nextCursor;
    after = undefined;
  }
}
