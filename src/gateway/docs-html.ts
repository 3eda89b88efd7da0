/** Pages of the manual as HTML: one file each, nothing loaded from anywhere, no script. */
import { Marked } from 'marked';
import type { Page } from './docs-words.ts';
import { escaped } from './escaped.ts';

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.55 system-ui,sans-serif;margin:0;display:flex;flex-wrap:wrap}
nav{flex:0 0 13rem;padding:1.5rem;box-sizing:border-box;font-size:.9rem;line-height:1.7}nav a{display:block}nav b{display:block;margin-top:1rem}
main{flex:1 1 30rem;max-width:60rem;padding:1.5rem;box-sizing:border-box;min-width:0}a{color:#2563c9;text-decoration:none}a:hover{text-decoration:underline}
a[aria-current]{font-weight:bold;color:inherit}h1{margin-top:0}pre{overflow:auto;padding:1rem;background:#8881;border-radius:6px}code{font:.9em ui-monospace,monospace}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;border-bottom:1px solid #8884}
@media(prefers-color-scheme:dark){a{color:#7db0ff}}`;

/** Nothing but the style above is let in: the pages work without scripts, pictures or other hosts. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const marked = new Marked({
  gfm: true,
  renderer: {
    // Tags in the texts are texts.
    html: ({ text }) => escaped(text),
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${escaped(anchor(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
  },
});

export interface Link {
  readonly href: string;
  readonly text: string;
}
export interface Menu {
  readonly title?: string;
  readonly links: readonly Link[];
}

/** The page as a whole HTML document, with `menus` beside it. */
export function pageHtml(page: Page, menus: readonly Menu[]): string {
  const own = page.name === '' ? '/docs' : `/docs/${page.name}`;
  const item = ({ href, text }: Link): string =>
    `<a href="${escaped(href)}"${href === own ? ' aria-current="page"' : ''}>${escaped(text)}</a>`;
  const menu = menus
    .map(({ title, links }) => `${title === undefined ? '' : `<b>${escaped(title)}</b>`}${links.map(item).join('')}`)
    .join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.name === '' ? page.title : `${page.title} · Signalbox`)}</title>
<style>${STYLE}</style>
</head>
<body>
<nav>
${menu}
</nav>
<main>
<h1>${escaped(page.title)}</h1>
${marked.parse(page.markdown, { async: false })}</main>
</body>
</html>
`;
}

const anchor = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
