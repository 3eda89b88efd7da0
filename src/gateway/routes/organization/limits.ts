/** `/api/limits`: how many runs of an organization, and of each user in it, may be active simultaneously. */
import { z } from 'zod';
import { deleteLimit, effectiveLimits, putLimit, readLimits } from '../../../client/organization/limits.ts';
import { DEFAULT_LIMITS, LIMIT_SCOPES } from '../../../contract/limits/limits.ts';
import { OVERFLOWS } from '../../../definition/document/types.ts';
import { limitEntry, limits } from '../../answers/organization.ts';
import { createdOrOk, ok, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { WRITE_PROBLEMS } from '../../validation/problem-codes.ts';

const limitScope = z.enum(LIMIT_SCOPES);
const limitBody = z.strictObject({
  limit: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe(`Concurrent runs. Default: ${DEFAULT_LIMITS.user} of a user, ${DEFAULT_LIMITS.organization} in all.`),
  overflow: z.enum(OVERFLOWS).optional().describe('What happens to runs over the limit. Default: queue.'),
});

const putAnswer = z.object({ scope: limitScope, ...limitEntry.shape });

export const limitRoutes = [
  route({
    method: 'GET',
    path: '/api/limits',
    role: 'viewer',
    id: 'getLimits',
    summary: "Reads the organization's own limits, and the effective ones with the host's.",
    description:
      '`own` are those that were set here. `effective` are those that apply: the lower ones of these and the ' +
      "host's.",
    answers: { 200: { text: 'The limits.', schema: limits } },
    handle: async ({ access, principal: { organizationId } }) => {
      const [own, effective] = await Promise.all([
        readLimits(access, organizationId),
        effectiveLimits(access, organizationId),
      ]);
      return ok({ own, effective });
    },
  }),
  route({
    method: 'PUT',
    path: '/api/limits/:scope',
    role: 'admin',
    id: 'putLimit',
    summary: 'Limits how many runs of the organization, or of each user in it, are active simultaneously.',
    description:
      'It takes effect within five seconds, for runs that start from then on. Active runs count towards it. ' +
      "The host's own limit applies if it is lower.",
    params: { scope: limitScope },
    body: jsonOf(limitBody),
    answers: {
      201: { text: 'Set; there was no limit before.', schema: putAnswer },
      200: { text: 'Set.', schema: putAnswer },
    },
    problems: [...WRITE_PROBLEMS, 'too_many', 'too_large'],
    handle: async ({ access, principal: { organizationId }, params: { scope }, body }) => {
      const { limit = DEFAULT_LIMITS[scope], overflow = 'queue' } = body;
      const { created, entry } = await putLimit(access, organizationId, scope, { limit, overflow });
      return createdOrOk(created, { scope, ...entry });
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/limits/:scope',
    role: 'admin',
    id: 'deleteLimit',
    summary: 'Removes a limit.',
    description: "The host's own limit stays, where it has one.",
    params: { scope: limitScope },
    answers: { 204: { text: 'Removed.' } },
    problems: [...WRITE_PROBLEMS, 'not_found'],
    handle: async ({ access, principal: { organizationId }, params: { scope } }) => {
      await deleteLimit(access, organizationId, scope);
      return { status: 204 };
    },
  }),
];
