/** Pages of the manual as HTML: one document each, without scripts, without anything to load. */
import { Marked } from 'marked';
import { escapeHtml } from '../../template/escape-html.ts';
import { htmlPage } from '../http/html-page.ts';
import { addressOf, anchorOf, type Page } from './page.ts';
import { type Hit, MAX_QUERY, wordsOf } from './search.ts';

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.55 system-ui,sans-serif;margin:0;display:flex;flex-wrap:wrap}
nav{flex:0 0 13rem;padding:1.5rem;box-sizing:border-box;font-size:.9rem;line-height:1.7}nav a{display:block}nav b{display:block;margin-top:1rem}
main{flex:1 1 30rem;max-width:60rem;padding:1.5rem;box-sizing:border-box;min-width:0}a{color:#2563c9;text-decoration:none}a:hover{text-decoration:underline}
a[aria-current]{font-weight:bold;color:inherit}h1{margin-top:0}pre{overflow:auto;padding:1rem;background:#8881;border-radius:6px}code{font:.9em ui-monospace,monospace}
nav form{display:flex;gap:.4rem;margin-bottom:1rem}input,button{font:inherit;padding:.3rem .5rem;box-sizing:border-box;min-width:0}input{flex:1}dt{margin-top:1rem}dd{margin:0}mark{background:#fd07;color:inherit}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;border-bottom:1px solid #8884}
@media(prefers-color-scheme:dark){a{color:#7db0ff}}`;

const marked = new Marked({
  gfm: true,
  renderer: {
    // A tag in a page is shown as text.
    html: ({ text }) => escapeHtml(text),
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${escapeHtml(anchorOf(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
  },
});

interface Link {
  readonly href: string;
  readonly text: string;
}
export interface Menu {
  readonly title?: string;
  readonly links: readonly Link[];
}

/** The page as a whole HTML document, with `menus` beside it. */
export function pageHtml(page: Page, menus: readonly Menu[]): string {
  const content = marked.parse(page.markdown, { async: false });
  return documentOf(page.title, content, menus, { own: addressOf(page.name) });
}

/** The results of a search as a page. */
export function searchHtml(query: string, hits: readonly Hit[], menus: readonly Menu[]): string {
  const words = wordsOf(query);
  const entry = ({ page, heading, excerpt }: Hit): string => {
    const address = addressOf(page.name);
    const href = heading === undefined ? address : `${address}#${anchorOf(heading)}`;
    const name = heading === undefined ? page.title : `${page.title} · ${heading}`;
    return `<dt><a href="${escapeHtml(href)}">${escapeHtml(name)}</a></dt>\n<dd>${marking(excerpt, words)}</dd>`;
  };
  const found = hits.length === 0 ? '<p>Nothing was found. Try fewer or shorter words.</p>' : '';
  const list = hits.length === 0 ? '' : `<dl>\n${hits.map(entry).join('\n')}\n</dl>`;
  return documentOf(`Search: ${query}`, `${found}${list}\n`, menus, { query });
}

/** The text with the words marked. */
function marking(text: string, words: readonly string[]): string {
  const quoted = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return text
    .split(new RegExp(`(${quoted.join('|')})`, 'i'))
    .map((part, n) => (n % 2 === 1 ? `<mark>${escapeHtml(part)}</mark>` : escapeHtml(part)))
    .join('');
}

function documentOf(
  title: string,
  content: string,
  menus: readonly Menu[],
  { own, query = '' }: { own?: string; query?: string },
): string {
  const item = ({ href, text }: Link): string =>
    `<a href="${escapeHtml(href)}"${href === own ? ' aria-current="page"' : ''}>${escapeHtml(text)}</a>`;
  const menu = menus
    .map(({ title, links }) => `${title === undefined ? '' : `<b>${escapeHtml(title)}</b>`}${links.map(item).join('')}`)
    .join('\n');
  const head = `<title>${escapeHtml(own === '/docs' ? title : `${title} · Signalbox`)}</title>`;
  return htmlPage(
    head,
    STYLE,
    `<nav>
<form action="/docs" role="search"><input type="search" name="q" maxlength="${MAX_QUERY}" placeholder="Search" aria-label="Search the manual" value="${escapeHtml(query)}"><button>Search</button></form>
${menu}
</nav>
<main>
<h1>${escapeHtml(title)}</h1>
${content}</main>`,
  );
}
