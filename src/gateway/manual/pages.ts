/**
 * Reads the pages that are written by hand: the Markdown files in pages/. They read well in any Markdown viewer, since
 * all that is special about them is written as links:
 *
 * - `[text](other.md#heading)` leads to another page.
 * - `[text](../file.ts "slot: NAME")` is a slot. The gateway puts generated text in its place; a viewer shows a link to
 *   the code that the text is generated from.
 * - `[text](../file.ts "at /path")` leads to a path of the gateway; in a viewer, to the code that answers there.
 * - `[text](../../../../file)` leads to another file of the project. The gateway does not serve that file: it shows the
 *   path instead of a link.
 */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { addressOf, code, type Page } from './page.ts';
import { SLOTS, type SlotContext } from './slots/table.ts';

/** What the generated texts depend on. */
type PageContext = Omit<SlotContext, 'file'>;

/** The folder of the pages, as a path in the project. */
const FOLDER = 'src/gateway/manual/pages';
const FRONT = 'README';
const CODE_BLOCK = /(^```[\s\S]*?^```$)/m;
const LINK = /\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)(?: "([^"]*)")?\)/g;

/** The front page, then the others in the order in which it lists them. */
export function writtenPages(context: PageContext): Page[] {
  const front = readPage(FRONT);
  const pages: Page[] = [{ ...fillPage(front, context), name: '' }];
  let group = '';
  for (const line of front.markdown.split('\n')) {
    group = /^## (.*)/.exec(line)?.[1] ?? group;
    const [, name] = /^\| \[[^\]]*\]\(([\w-]+)\.md\)/.exec(line) ?? [];
    if (name !== undefined) pages.push({ ...fillPage(readPage(name), context), group });
  }
  return pages;
}

/** The file as it is, with links and slots as they are written. */
export function readPage(name: string): Page {
  const text = readFileSync(new URL(`./pages/${name}.md`, import.meta.url), 'utf8');
  const [, title = name] = /^# (.*)\n/.exec(text) ?? [];
  return { name, title, markdown: text.replace(/^# .*\n+/, '') };
}

export interface PageLink {
  readonly text: string;
  readonly href: string;
  /** What follows the address in quotes. */
  readonly title?: string;
}

/** The links and slots of a page, except those inside blocks of code. */
export function linksOf({ markdown }: Page): PageLink[] {
  const links: PageLink[] = [];
  replaceLinks(markdown, (link) => {
    links.push(link);
    return '';
  });
  return links;
}

const fillPage = (page: Page, context: PageContext): Page => ({
  ...page,
  markdown: replaceLinks(page.markdown, (link) => renderLink(link, page, context)),
});

/** The text with `replace(link)` in place of each link outside of blocks of code. */
function replaceLinks(markdown: string, replace: (link: PageLink) => string): string {
  return markdown
    .split(CODE_BLOCK)
    .map((part, n) =>
      n % 2 === 1
        ? part
        : part.replaceAll(LINK, (_link, text: string, href: string, title: string | undefined) =>
            replace(omitUndefined({ text, href, title })),
          ),
    )
    .join('');
}

/** The link as the gateway serves it. */
function renderLink({ text, href, title }: PageLink, page: Page, context: PageContext): string {
  const [kind, rest = ''] = title?.split(/:? (.*)/) ?? [];
  if (kind === 'slot') return fillSlot(rest, { ...context, file: projectPath(href) }, page);
  if (kind === 'at') return `[${text}](${rest})`;
  if (/^(https?:|#)/.test(href)) return `[${text}](${href})`;
  const [, name, fragment = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (name !== undefined) return `[${text}](${addressOf(name === FRONT ? '' : name)}${fragment})`;
  const path = projectPath(href);
  return posix.basename(path) === text ? code(path) : `${text} (${code(path)})`;
}

/** The path in the project that a page's relative link leads to. */
export const projectPath = (href: string): string => posix.normalize(`${FOLDER}/${href}`);

function fillSlot(name: string, context: Parameters<(typeof SLOTS)[string]>[0], page: Page): string {
  const fill = SLOTS[name];
  if (fill === undefined) throw new Error(`pages/${page.name}.md has the slot "${name}", which slots/table.ts lacks.`);
  return fill(context);
}
