/** `/api/limits`: how many runs of an organization, and of each user in it, may go at once. */
import type { Router } from 'express';
import { z } from 'zod';
import { deleteLimit, effectiveLimits, putLimit, readLimits } from '../../../client/organization/limits.ts';
import { DEFAULT_LIMITS, LIMIT_SCOPES } from '../../../contract/limits.ts';
import { OVERFLOWS } from '../../../definition/document/types.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { resource } from '../../http/resource.ts';
import { checked, demandNoQuery } from '../../validation/validation.ts';

export const limitScope = z.enum(LIMIT_SCOPES);
export const limitBody = z.strictObject({
  limit: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe(`Runs at once. Default: ${DEFAULT_LIMITS.user} of a user, ${DEFAULT_LIMITS.organization} in all.`),
  overflow: z.enum(OVERFLOWS).optional().describe('What becomes of one too many. Default: queue.'),
});

export function limitRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(router, '/api/limits', {
    GET: async (req, res) => {
      demandNoQuery(req);
      const { organizationId } = principalOf(req);
      const [own, effective] = await Promise.all([
        readLimits(access, organizationId),
        effectiveLimits(access, organizationId),
      ]);
      res.json({ own, effective });
    },
  });

  resource(router, '/api/limits/:scope', {
    PUT: async (req, res) => {
      demandNoQuery(req);
      const scope = checked(limitScope, req.params['scope'], 'path');
      const { limit = DEFAULT_LIMITS[scope], overflow = 'queue' } = bodyAs(req, limitBody);
      const { created, entry } = await putLimit(access, principalOf(req).organizationId, scope, { limit, overflow });
      res.status(created ? 201 : 200).json({ scope, ...entry });
    },
    DELETE: async (req, res) => {
      demandNoQuery(req);
      await deleteLimit(access, principalOf(req).organizationId, checked(limitScope, req.params['scope'], 'path'));
      res.status(204).end();
    },
  });
}
