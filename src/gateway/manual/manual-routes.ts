/** The routes of the manual (`/docs`), of the API's document, and of the JSON Schema for editors (`/schema.json`). */
import { omitUndefined } from '../../json/omit-undefined.ts';
import { anyObject, text } from '../answers/named.ts';
import { perGateway } from '../http/context.ts';
import { PAGE_HEADERS } from '../http/html-page.ts';
import { ok, type Route, route } from '../http/route.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { anyQuery, pathName } from '../validation/validation.ts';
import { languageSchema } from './language-schema.ts';
import { type Manual, manual, pageOf } from './manual.ts';
import { openApiDocument } from './openapi-document.ts';
import { addressOf, type Page } from './page.ts';
import { type Menu, pageHtml, searchHtml } from './page-html.ts';
import { docsQuery, searchManual } from './search.ts';

const MARKDOWN = '.md';

const manualOf = perGateway(({ actions }, routes: readonly Route[]) => manual(routes, actions));
const schemaOf = perGateway(({ actions }) => JSON.stringify(languageSchema(actions), null, 2));

/** The manual and the schema are generated at their first request. */
export const docsRoutes = [
  route({
    method: 'GET',
    path: '/openapi.json',
    role: 'public',
    asksTemporal: false,
    id: 'openapi',
    summary: 'This document.',
    description:
      'Made from the routes that this gateway serves, with the codes of their problems and the roles that they ' +
      'need.',
    query: anyQuery,
    answers: { 200: { text: 'OpenAPI 3.1.', schema: anyObject } },
    handle: ({ routes }) => ok(openApiDocument(routes)),
  }),
  route({
    method: 'GET',
    path: '/schema.json',
    role: 'public',
    asksTemporal: false,
    id: 'schema',
    summary: 'The definition language as a JSON Schema, for editors.',
    description: 'Language servers for YAML complete and check definitions by it. It has the actions of this host.',
    query: anyQuery,
    answers: { 200: { text: 'A JSON Schema.', schema: anyObject, media: ['application/schema+json'] } },
    handle: ({ gateway }) => ({ status: 200, type: 'application/schema+json', text: schemaOf(gateway) }),
  }),
  route({
    method: 'GET',
    path: '/docs',
    role: 'public',
    asksTemporal: false,
    id: 'docs',
    summary: 'The manual.',
    description: 'The first page, with a search over all of them.',
    query: docsQuery,
    answers: { 200: { text: 'Its front page, or what a search found.', schema: text, media: ['text/html'] } },
    handle: ({ gateway, routes, query: { q = '' } }) => {
      const pages = manualOf(gateway, routes);
      const query = q.trim();
      if (query === '') return pageAnswer(pages, '');
      return htmlAnswer(searchHtml(query, searchManual(pages.values(), query), menus(pages)));
    },
  }),
  route({
    method: 'GET',
    path: '/docs/:page',
    role: 'public',
    asksTemporal: false,
    id: 'docsPage',
    summary: 'A page of the manual: a step kind, or a topic. With `.md` at its end, in Markdown.',
    description: 'Pages of step kinds are made from the kinds of this version, so they say what it does.',
    params: { page: pathName },
    query: anyQuery,
    answers: { 200: { text: 'The page.', schema: text, media: ['text/html', 'text/markdown'] } },
    problems: ['not_found'],
    handle: ({ gateway, routes, params }) => pageAnswer(manualOf(gateway, routes), params.page),
  }),
];

/** @throws HttpProblem `not_found`. */
function pageAnswer(pages: Manual, address: string) {
  const isMarkdown = address.endsWith(MARKDOWN);
  const name = isMarkdown ? address.slice(0, -MARKDOWN.length) : address;
  const found = pageOf(pages, name === 'index' ? '' : name);
  if (found === undefined) throw new HttpProblem('not_found', 'The manual has no such page. /docs lists all of them.');
  if (!isMarkdown) return htmlAnswer(pageHtml(found, menus(pages)));
  const text = `# ${found.title}\n\n${found.markdown}`;
  return { status: 200, type: 'text/markdown; charset=utf-8', text } as const;
}

const htmlAnswer = (text: string) => ({ status: 200, type: 'html', text, headers: PAGE_HEADERS }) as const;

/** The front page, then the pages by group. */
function menus(pages: Manual): Menu[] {
  const all = [...pages.values()];
  const link = ({ name, title }: Page) => ({ href: addressOf(name), text: title });
  const groups = [...new Set(all.map(({ group }) => group))];
  return groups.map((title) => omitUndefined({ title, links: all.filter(({ group }) => group === title).map(link) }));
}
