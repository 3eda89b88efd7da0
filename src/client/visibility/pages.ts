/** Does not depend on Temporal, so the command line can use it without loading the client. */
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { Page, PageRequest } from './listing.ts';

/** The items of all pages, one page after another. `limit` applies to each page. */
export async function* pagesOf<T>(
  limit: number,
  list: (request: PageRequest) => Promise<Page<T>>,
): AsyncGenerator<readonly T[]> {
  let cursor: string | undefined;
  do {
    const page = await list({ limit, ...omitUndefined({ cursor }) });
    yield page.items;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}
