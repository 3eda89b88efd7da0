/** `GET /api/executions/:id/summary`: what a run did, in an answer of bounded size. */
import { z } from 'zod';
import { describeRun } from '../../../client/runs/run-read.ts';
import { readSummary } from '../../../client/runs/run-summary.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { runSummary } from '../../answers/run-trace.ts';
import { ok, route } from '../../http/route.ts';
import { pathName, wholeNumber } from '../../validation/validation.ts';

const RANGES = 24;
const MAX_RANGES = 200;

const summaryQuery = z
  .strictObject({
    within: pathName
      .optional()
      .describe('Only what is in this iteration, branch or tick, at any depth: the `frame` of a step.'),
    ranges: wholeNumber(1, MAX_RANGES)
      .default(RANGES)
      .describe(`The most ranges for the iterations of a container. Default: ${RANGES}.`),
    container: pathName
      .optional()
      .describe("Only the container whose visit has this path; `from` and `to` choose some of the visit's iterations."),
    from: wholeNumber(0, 1_000_000_000).optional().describe('With `container`: the first ordinal. Default: 0.'),
    to: wholeNumber(0, 1_000_000_000).optional().describe('With `container`: the last ordinal. Default: the last one.'),
  })
  .refine(({ container, from, to }) => container !== undefined || (from === undefined && to === undefined), {
    message: 'from and to need a container.',
    path: ['container'],
  })
  .refine(({ from = 0, to = from }) => from <= to, { message: 'to is less than from.', path: ['to'] });

export const summaryRoutes = [
  route({
    method: 'GET',
    path: '/api/executions/:id/summary',
    role: 'viewer',
    id: 'getExecutionSummary',
    summary: 'Sums up what a run did.',
    description:
      'Each visited step with counts by status and port, retries and times; each container with its iterations, in ' +
      'ranges with their worst status. The answer does not grow with the number of visits: the visits themselves ' +
      'are in `steps`. Calls of an agent, and rollbacks, count as parts of an iteration but not as visits of a step. ' +
      '`lastEventId` is where the events go on: `/events?after=`.',
    params: { id: pathName },
    query: summaryQuery,
    answers: { 200: { text: 'The summary.', schema: runSummary } },
    problems: ['not_found'],
    handle: async ({ access, principal, params: { id }, query: { within, ranges, container, from, to } }) => {
      await describeRun(access, principal.organizationId, id);
      const query = { ranges, ...omitUndefined({ within, container, from, to }) };
      return ok(await readSummary(access, id, query));
    },
  }),
];
