/** `/api/executions/bulk`: cancel, terminate or retry all runs of a filter, after a look at how many they are. */

import type { Router } from 'express';
import { z } from 'zod';
import { BULK_ACTIONS, countBulk, readBulk, startBulk } from '../../../client/runs/bulk.ts';
import { defined } from '../../../json/defined.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { idOfKey } from '../../http/request-key.ts';
import { resource } from '../../http/resource.ts';
import { demandNoQuery, pathText } from '../../validation/validation.ts';
import { filterBody, filterOf } from './run-filters.ts';

export const bulkBody = z.strictObject({
  action: z
    .enum(BULK_ACTIONS)
    .describe('`cancel` and `terminate` are for runs that are open; `retry` for those that failed or were terminated.'),
  filter: z.strictObject(filterBody).describe('Members as in the query of the list; `{}` is every run.'),
  preview: z.boolean().optional().describe('Only says how many they are.'),
  reason: z.string().min(1).max(1_000).optional().describe("For readers of the runs' histories."),
});

export function bulkRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(
    router,
    '/api/executions/bulk',
    {
      POST: async (req, res) => {
        demandNoQuery(req);
        const { action, filter: given, preview, reason } = bodyAs(req, bulkBody);
        const { organizationId } = principalOf(req);
        const filter = filterOf(given);
        if (preview === true) {
          res.json({ action, count: await countBulk(access, organizationId, { action, filter }) });
          return;
        }
        const requestId = idOfKey(req);
        const operation = await startBulk(access, organizationId, {
          action,
          filter,
          reason: reason ?? `${action} in bulk through the API`,
          ...defined({ requestId }),
        });
        res.setHeader('location', `/api/executions/bulk/${encodeURIComponent(operation.operationId)}`);
        res.status(202).json(operation);
      },
    },
    // A run that was started by hand may have this id.
    { open: true },
  );

  resource(router, '/api/executions/bulk/:operation', {
    GET: async (req, res) => {
      demandNoQuery(req);
      res.json(await readBulk(access, principalOf(req).organizationId, pathText(req, 'operation')));
    },
  });
}
