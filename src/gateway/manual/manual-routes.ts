/** `/docs`, the manual, and `/schema.json`, the language for editors: both are made from the code that runs. */
import type { Express, Response, Router } from 'express';
import type { HostActions } from '../../actions/load.ts';
import { kinds } from '../../steps/kinds/table.ts';
import { HttpProblem } from '../http/problem.ts';
import { resource } from '../http/resource.ts';
import { pathText, queryAs } from '../validation/validation.ts';
import { type Manual, manual, pageOf } from './manual.ts';
import { type Menu, PAGE_POLICY, pageHtml, searchHtml } from './page-html.ts';
import { languageSchema } from './schema-json.ts';
import type { Page } from './schema-words.ts';
import { docsQuery, searchManual } from './search.ts';

const MARKDOWN = '.md';

/** People who open the gateway in a browser are led to the manual; programs get the answer of any unknown address. */
export function leadToDocs(app: Express): void {
  app.get('/', (req, res, next) => {
    if (req.accepts(['json', 'html']) === 'html') res.redirect(302, '/docs');
    else next();
  });
}

/** `actions`: the host's own. Manual and schema are made when first asked for. */
export function docsRoutes(router: Router, actions: HostActions): void {
  let pages: Manual | undefined;
  let schema: string | undefined;
  const send = (res: Response, address: string): void => {
    pages ??= manual(actions);
    sendPage(res, pages, address);
  };
  resource(router, '/schema.json', {
    GET: (_req, res) => {
      schema ??= JSON.stringify(languageSchema(actions), null, 2);
      res.type('application/schema+json').send(schema);
    },
  });
  resource(router, '/docs', {
    GET: (req, res) => {
      const query = queryAs(req, docsQuery).q?.trim() ?? '';
      if (query === '') return send(res, '');
      pages ??= manual(actions);
      sendHtml(res, searchHtml(query, searchManual(pages.values(), query), menus(pages)));
    },
  });
  resource(router, '/docs/:page', { GET: (req, res) => send(res, pathText(req, 'page')) });
}

/** @throws HttpProblem `not_found`. */
function sendPage(res: Response, pages: Manual, address: string): void {
  const isMarkdown = address.endsWith(MARKDOWN);
  const name = isMarkdown ? address.slice(0, -MARKDOWN.length) : address;
  const page = pageOf(pages, name === 'index' ? '' : name);
  if (page === undefined) throw new HttpProblem('not_found', 'The manual has no such page. /docs lists all of them.');
  if (isMarkdown) {
    res.type('text/markdown; charset=utf-8').send(`# ${page.title}\n\n${page.markdown}`);
    return;
  }
  sendHtml(res, pageHtml(page, menus(pages)));
}

function sendHtml(res: Response, html: string): void {
  res.setHeader('content-security-policy', PAGE_POLICY);
  res.type('html').send(html);
}

function menus(manual: Manual): Menu[] {
  const types: ReadonlySet<string> = new Set(kinds.map(({ type }) => type));
  const link = ({ name, title }: Page) => ({ href: name === '' ? '/docs' : `/docs/${name}`, text: title });
  const pages = [...manual.values()];
  return [
    { links: pages.filter(({ name }) => !types.has(name)).map(link) },
    { title: 'Step kinds', links: pages.filter(({ name }) => types.has(name)).map(link) },
  ];
}
