/** `GET /api/audit`: who changed what, and when, the latest first (ARCHITECTURE.md §4). */

import type { Router } from 'express';
import { z } from 'zod';
import { listAudit } from '../../../client/organization/audit-list.ts';
import { defined } from '../../../json/defined.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { resource } from '../../http/resource.ts';
import { nameText, pageQuery, queryAs } from '../../validation/validation.ts';

export const auditQuery = z.strictObject({
  ...pageQuery(),
  by: nameText(100).optional().describe('Only what this person did.'),
  action: nameText(200).optional().describe('Only this: a method and a route, such as `PUT /api/workflows/:slug`.'),
});

export function auditRoutes(router: Router, { access }: Gateway): void {
  resource(router, '/api/audit', {
    GET: async (req, res) => {
      const { limit, cursor, by, action } = queryAs(req, auditQuery);
      const page = await listAudit(access, principalOf(req).organizationId, {
        limit,
        ...defined({ cursor, by, action }),
      });
      res.json(page);
    },
  });
}
