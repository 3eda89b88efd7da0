/** `GET /api/workflows/:slug/graph`: nodes and edges of a definition, for drawing it. */
import { z } from 'zod';
import { readDefinition } from '../../../client/versions/definition-head.ts';
import { readVersion } from '../../../client/versions/versions.ts';
import { graph } from '../../answers/workflows.ts';
import { type Route, route } from '../../http/route.ts';
import { graphIn } from '../../input/in-threads.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { slugText } from '../../validation/validation.ts';

const graphQuery = z.strictObject({
  hash: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, 'Expected sha256: and 64 hexadecimal digits.')
    .optional()
    .describe('The hash of a version. Default: the current version.'),
});

export const graphRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/workflows/:slug/graph',
    role: 'viewer',
    id: 'getGraph',
    tag: 'workflows',
    summary: 'Reads the nodes and edges of a definition.',
    params: { slug: slugText },
    query: graphQuery,
    answers: { 200: { text: 'The graph.', schema: graph } },
    problems: ['not_found', 'version_missing', 'version_not_found', 'invalid_definition'],
    handle: async ({ gateway, access, principal: { organizationId }, params: { slug }, query: { hash } }) => {
      const current = await readDefinition(access, organizationId, slug);
      if (current === undefined) throw new HttpProblem('not_found', `There is no workflow called ${slug}.`);
      const definition =
        hash === undefined ? current.definition : await readVersion(access, organizationId, slug, hash);
      if (definition === undefined)
        throw new HttpProblem('version_not_found', `Workflow ${slug} never had the version ${hash}.`);
      const result = await graphIn(gateway, organizationId, definition);
      if ('problems' in result)
        throw new HttpProblem('invalid_definition', 'This version cannot be walked any more.', result);
      return { status: 200, body: { slug, hash: hash ?? current.head.hash, ...result.graph } };
    },
  }),
];
