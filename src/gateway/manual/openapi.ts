/** `/openapi.json`: the API for clients and tools. */
import { anyObject } from '../answers/named.ts';
import { ok, route } from '../http/route.ts';
import { anyQuery } from '../validation/validation.ts';
import { openApiDocument } from './openapi-document.ts';

export const openApiRoutes = [
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
];
