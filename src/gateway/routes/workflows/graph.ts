/** `GET /api/workflows/:slug/graph`: nodes and edges of a definition, for those who draw it. */
import type { Router } from 'express';
import { z } from 'zod';
import { readDefinition } from '../../../client/versions/definition-head.ts';
import { readVersion } from '../../../client/versions/versions.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { resource } from '../../http/resource.ts';
import { graphIn } from '../../input/in-threads.ts';
import { pathSlug, queryAs } from '../../validation/validation.ts';

export const graphQuery = z.strictObject({
  hash: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, 'Expected sha256: and 64 hexadecimal digits.')
    .optional()
    .describe('Of a version. Default: the current one.'),
});

export function graphRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(router, '/api/workflows/:slug/graph', {
    GET: async (req, res) => {
      const { hash } = queryAs(req, graphQuery);
      const { organizationId } = principalOf(req);
      const slug = pathSlug(req);
      const current = await readDefinition(access, organizationId, slug);
      if (current === undefined) throw new HttpProblem('not_found', `There is no workflow called ${slug}.`);
      const definition =
        hash === undefined ? current.definition : await readVersion(access, organizationId, slug, hash);
      if (definition === undefined)
        throw new HttpProblem('version_not_found', `Workflow ${slug} never had the version ${hash}.`);
      const result = await graphIn(gateway, organizationId, definition);
      if ('problems' in result)
        throw new HttpProblem('invalid_definition', 'This version cannot be walked any more.', result);
      res.json({ slug, hash: hash ?? current.head.hash, ...result.graph });
    },
  });
}
