/** `/docs`, the manual, and `/schema.json`, the language for editors: both are made from the code that runs. */
import type { Response, Router } from 'express';
import { kinds } from '../steps/table.ts';
import { type Menu, PAGE_POLICY, pageHtml } from './docs-html.ts';
import { manual, pageOf } from './docs-pages.ts';
import type { Page } from './docs-words.ts';
import { pathText } from './door.ts';
import { HttpProblem } from './problem.ts';
import { resource } from './resource.ts';
import { languageSchema } from './schema-json.ts';

const MARKDOWN = '.md';

export function docsRoutes(router: Router): void {
  resource(router, '/schema.json', {
    GET: (_req, res) => {
      res.type('application/schema+json').send(JSON.stringify(languageSchema(), null, 2));
    },
  });
  resource(router, '/docs', { GET: (_req, res) => sendPage(res, '') });
  resource(router, '/docs/:page', { GET: (req, res) => sendPage(res, pathText(req, 'page')) });
}

/** @throws HttpProblem `not_found`. */
function sendPage(res: Response, address: string): void {
  const isMarkdown = address.endsWith(MARKDOWN);
  const name = isMarkdown ? address.slice(0, -MARKDOWN.length) : address;
  const page = name === 'index' ? pageOf('') : pageOf(name);
  if (page === undefined) throw new HttpProblem('not_found', 'The manual has no such page. /docs lists all of them.');
  if (isMarkdown) {
    res.type('text/markdown; charset=utf-8').send(`# ${page.title}\n\n${page.markdown}`);
    return;
  }
  res.setHeader('content-security-policy', PAGE_POLICY);
  res.type('html').send(pageHtml(page, menus()));
}

function menus(): Menu[] {
  const types: ReadonlySet<string> = new Set(kinds.map(({ type }) => type));
  const link = ({ name, title }: Page) => ({ href: name === '' ? '/docs' : `/docs/${name}`, text: title });
  const pages = [...manual().values()];
  return [
    { links: pages.filter(({ name }) => !types.has(name)).map(link) },
    { title: 'Step kinds', links: pages.filter(({ name }) => types.has(name)).map(link) },
  ];
}
