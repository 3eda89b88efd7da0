/** Lists in an order that Visibility does not know: the runs are read in chunks, and each chunk is sorted. */

import { omitUndefined } from '../../json/omit-undefined.ts';
import type { Access } from '../temporal/access.ts';
import { readCursor, writeCursor } from './cursor.ts';
import type { Page, PageRequest } from './listing.ts';

/** Chunks without an item that are skipped before an empty page is answered. */
const MAX_EMPTY_CHUNKS = 20;

/** Where a page begins: in which chunk of the runs, and after which item of it. */
interface Position {
  readonly from?: string;
  readonly after?: string;
}

/**
 * A page. `list` names list and filter. `readChunk` answers the items of a chunk. Those with the greatest sort keys
 * come first; `sortKeyOf` is different for each item.
 * @throws ClientError `invalid_cursor`.
 */
export async function pageOfSortedChunks<T>(
  access: Access,
  list: string,
  { cursor, limit }: PageRequest,
  readChunk: (from: string | undefined) => Promise<Page<T>>,
  sortKeyOf: (item: T) => string,
): Promise<Page<T>> {
  const { cursors } = access.keys;
  let { from, after }: Position =
    cursor === undefined ? {} : JSON.parse(Buffer.from(readCursor(cursors, list, cursor)).toString());
  for (let skippedChunks = 0; ; skippedChunks++) {
    const chunk = await readChunk(from);
    const wanted = chunk.items
      .filter((item) => after === undefined || sortKeyOf(item) < after)
      .sort((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? 1 : -1));
    if (wanted.length > 0 || chunk.nextCursor === undefined || skippedChunks === MAX_EMPTY_CHUNKS) {
      const items = wanted.slice(0, limit);
      const last = items.at(-1);
      const next: Position | undefined =
        last !== undefined && wanted.length > items.length
          ? { ...omitUndefined({ from }), after: sortKeyOf(last) }
          : chunk.nextCursor === undefined
            ? undefined
            : { from: chunk.nextCursor };
      return next === undefined
        ? { items }
        : { items, nextCursor: writeCursor(cursors, list, Buffer.from(JSON.stringify(next))) };
    }
    from = chunk.nextCursor;
    after = undefined;
  }
}
