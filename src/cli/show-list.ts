/** Lists that a command prints: as a table for people, as JSON for programs. */

import type { Page } from '../client/visibility/listing.ts';
import { pagesOf } from '../client/visibility/pages.ts';
import { defined } from '../json/defined.ts';
import { CliError, EXIT } from './exit.ts';
import type { Terminal } from './terminal.ts';
import { pretty, table } from './text-layout.ts';

/** The most items that the gateway puts on a page. */
const PAGE = 1_000;

type PageQuery = { readonly limit: string; readonly cursor?: string };

/**
 * The items of all pages of a list. `tellUnread` hears of those that the gateway cannot read.
 * @throws CliError where there are such, and nobody hears of them.
 */
export async function allItems<T>(
  list: (page: PageQuery) => Promise<{ readonly body: Page<T> & { readonly unreadable?: readonly Unread[] } }>,
  tell: (words: string) => void = refuse,
): Promise<T[]> {
  const items: T[] = [];
  const pages = pagesOf<T>(PAGE, async ({ limit, cursor }) => {
    const { body } = await list({ limit: String(limit), ...defined({ cursor }) });
    for (const { slug, id = slug, message } of body.unreadable ?? []) tell(`${id} cannot be read: ${message}`);
    return body;
  });
  for await (const some of pages) items.push(...some);
  return items;
}

interface Unread {
  readonly slug?: string;
  readonly id?: string;
  readonly message: string;
}

function refuse(words: string): never {
  throw new CliError(EXIT.broken, words);
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
  if (json === true) terminal.out(pretty(items));
  else if (items.length === 0) terminal.err(none);
  else for (const line of table(head, items.map(cells))) terminal.out(line);
}
