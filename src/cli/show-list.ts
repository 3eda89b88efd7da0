/** Lists that a command prints: as a table for people, as JSON for programs. */

import type { Page } from '../client/visibility/listing.ts';
import { pagesOf } from '../client/visibility/pages.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { CliError, EXIT } from './exit.ts';
import type { Terminal } from './terminal.ts';
import { formatJson, table } from './text-layout.ts';

/** The most items that the gateway puts on a page. */
const PAGE_SIZE = 1_000;

type PageQuery = { readonly limit: string; readonly cursor?: string };

/**
 * The items of all pages of a list. `reportUnreadable` receives a message for each one that the gateway cannot read.
 * @throws CliError where there are unreadable items, and no `reportUnreadable`.
 */
export async function allItems<T>(
  list: (page: PageQuery) => Promise<{ readonly body: Page<T> & { readonly unreadable?: readonly UnreadableItem[] } }>,
  reportUnreadable: (words: string) => void = throwUnreadable,
): Promise<T[]> {
  const items: T[] = [];
  const pages = pagesOf<T>(PAGE_SIZE, async ({ limit, cursor }) => {
    const { body } = await list({ limit: String(limit), ...omitUndefined({ cursor }) });
    for (const { slug, id = slug, message } of body.unreadable ?? [])
      reportUnreadable(`${id} cannot be read: ${message}`);
    return body;
  });
  for await (const some of pages) items.push(...some);
  return items;
}

interface UnreadableItem {
  readonly slug?: string;
  readonly id?: string;
  readonly message: string;
}

function throwUnreadable(words: string): never {
  throw new CliError(EXIT.internal, words);
}

export interface ListLayout<T> {
  readonly head: readonly string[];
  readonly cells: (item: T) => readonly string[];
  /** What people read if the list is empty. */
  readonly none: string;
}

export function showList<T>(
  terminal: Terminal,
  items: readonly T[],
  json: boolean | undefined,
  { head, cells, none }: ListLayout<T>,
): void {
  if (json === true) terminal.out(formatJson(items));
  else if (items.length === 0) terminal.err(none);
  else for (const line of table(head, items.map(cells))) terminal.out(line);
}
