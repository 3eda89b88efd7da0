/** The routes of the manual (`/docs`) and of the JSON Schema for editors (`/schema.json`). */
import type { Express, Response, Router } from 'express';
import type { HostActions } from '../../actions/load.ts';
import { defined } from '../../json/defined.ts';
import { HttpProblem } from '../http/problem.ts';
import { resource } from '../http/resource.ts';
import { pathText, queryAs } from '../validation/validation.ts';
import { type Manual, manual, pageOf } from './manual.ts';
import { addressOf, type Page } from './page.ts';
import { type Menu, PAGE_POLICY, pageHtml, searchHtml } from './page-html.ts';
import { languageSchema } from './schema-json.ts';
import { docsQuery, searchManual } from './search.ts';

const MARKDOWN = '.md';

/** Redirects a browser from `/` to the manual. A program gets the answer of any unknown address. */
export function leadToDocs(app: Express): void {
  app.get('/', (req, res, next) => {
    if (req.accepts(['json', 'html']) === 'html') res.redirect(302, '/docs');
    else next();
  });
}

/** `actions` are the host's own. The manual and the schema are generated at their first request. */
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

/** The front page, then the pages by group. */
function menus(pages: Manual): Menu[] {
  const all = [...pages.values()];
  const link = ({ name, title }: Page) => ({ href: addressOf(name), text: title });
  const groups = [...new Set(all.map(({ group }) => group))];
  return groups.map((title) => defined({ title, links: all.filter(({ group }) => group === title).map(link) }));
}
