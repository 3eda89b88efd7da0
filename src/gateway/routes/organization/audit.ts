/** `GET /api/audit`: who changed what, and when, the latest first (ARCHITECTURE.md §4). */
import { z } from 'zod';
import { listAudit } from '../../../client/organization/audit-list.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { pageOf } from '../../answers/named.ts';
import { change } from '../../answers/organization.ts';
import { ok, route } from '../../http/route.ts';
import { LIST_PROBLEMS } from '../../validation/problem-codes.ts';
import { nameText, pageQuery } from '../../validation/validation.ts';

const auditQuery = z.strictObject({
  ...pageQuery(),
  by: nameText(100).optional().describe('Only changes by this person.'),
  action: nameText(200)
    .optional()
    .describe('Only changes by this method and route, such as `PUT /api/workflows/:slug`.'),
});
export const auditRoutes = [
  route({
    method: 'GET',
    path: '/api/audit',
    role: 'admin',
    id: 'listAudit',
    summary: 'Lists the audit: who changed what and when, the latest first.',
    description:
      'Each change is recorded before it is made. Starts of runs and messages to runs are not listed: runs ' +
      'record them.',
    query: auditQuery,
    answers: { 200: { text: 'A page of changes.', schema: pageOf(change) } },
    problems: LIST_PROBLEMS,
    handle: async ({ access, principal: { organizationId }, query: { limit, ...filter } }) =>
      ok(await listAudit(access, organizationId, { limit, ...omitUndefined(filter) })),
  }),
];
