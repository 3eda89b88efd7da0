/** `/api/executions/bulk`: cancels, terminates or retries all runs that match a filter, or previews their number. */

import { z } from 'zod';
import { BULK_ACTIONS, countBulk, readBulk, startBulk } from '../../../client/runs/bulk.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { named, time } from '../../answers/named.ts';
import { idempotentId } from '../../http/idempotency-key.ts';
import { ok, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { pathName } from '../../validation/validation.ts';
import { errorCodes, filterBody, filterOf } from './run-filters.ts';

const bulkBody = z
  .strictObject({
    action: z
      .enum(BULK_ACTIONS)
      .describe('`cancel` and `terminate` apply to open runs, `retry` to runs that failed or were terminated.'),
    filter: z
      .strictObject({ ...filterBody, errorCode: errorCodes.optional() })
      .describe('The filters of the run list; `{}` matches every run. `errorCode` is for `retry` alone.'),
    preview: z.boolean().optional().describe('Only counts the runs.'),
    reason: z.string().min(1).max(1_000).optional().describe("For readers of the runs' histories."),
  })
  .refine(({ action, filter }) => action === 'retry' || filter.errorCode === undefined, {
    path: ['filter', 'errorCode'],
    error: 'Expected with the action retry alone: open runs have no error.',
  });

const BULK = '/api/executions/bulk';
const bulkCount = named('BulkCount', z.object({ action: z.string(), count: z.int() }));
const bulkOperation = named(
  'BulkOperation',
  z.object({
    operationId: z.string(),
    action: z.enum(BULK_ACTIONS),
    status: z.enum(['running', 'completed', 'failed']),
    total: z.int().optional().describe('Runs that match the filter. Absent until they are counted.'),
    done: z.int(),
    failed: z.int(),
    startedAt: time,
    completedAt: time.optional(),
  }),
);

export const bulkRoutes = [
  route({
    method: 'POST',
    path: BULK,
    role: 'editor',
    id: 'runBulk',
    summary: 'Cancels, terminates or retries all runs that match a filter; with `preview`, only counts them.',
    description:
      'The operation goes on after the answer; `Location` is where its progress is read. The filter is that of ' +
      'the list of runs.',
    body: jsonOf(bulkBody),
    answers: {
      202: { text: 'Begun.', schema: bulkOperation, headers: { Location: 'The address of the operation.' } },
      200: { text: 'The preview.', schema: bulkCount },
    },
    problems: [...WRITE_PROBLEMS, 'invalid_query', 'bulk_busy'],
    handle: async ({ access, principal: { organizationId }, req, body }) => {
      const { action, preview, reason } = body;
      const filter = { ...filterOf(body.filter), ...omitUndefined({ errorCode: body.filter.errorCode }) };
      if (preview === true) {
        const count = await countBulk(access, organizationId, { action, filter });
        return ok({ action, count });
      }
      const operation = await startBulk(access, organizationId, {
        action,
        filter,
        reason: reason ?? `${action} in bulk through the API`,
        ...omitUndefined({ requestId: idempotentId(req) }),
      });
      const location = `${BULK}/${encodeURIComponent(operation.operationId)}`;
      return { status: 202, body: operation, headers: { location } };
    },
  }),
  route({
    method: 'GET',
    path: `${BULK}/:operation`,
    role: 'viewer',
    id: 'getBulk',
    summary: 'Reads the progress of a bulk operation.',
    description: 'How many runs are done, how many failed, and whether the operation has ended.',
    params: { operation: pathName },
    answers: { 200: { text: 'The operation.', schema: bulkOperation } },
    problems: ['not_found'],
    handle: async ({ access, principal: { organizationId }, params: { operation } }) =>
      ok(await readBulk(access, organizationId, operation)),
  }),
];
