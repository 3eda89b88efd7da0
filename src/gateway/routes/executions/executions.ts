/** `/api/executions`: runs, started inline, listed and read (ARCHITECTURE.md §5). */

import { z } from 'zod';
import { countRuns } from '../../../client/runs/run-counts.ts';
import { describeRun, readResult, readRun } from '../../../client/runs/run-read.ts';
import { listRunRows } from '../../../client/runs/run-rows.ts';
import { readSnapshot, readState } from '../../../client/runs/run-state.ts';
import { EXCLUDED_MEMBERS, readTrace, STEP_STATUSES } from '../../../client/runs/trace.ts';
import { readCursor, writeCursor } from '../../../client/visibility/cursor.ts';
import { agentOpsNames } from '../../../compat/agent-ops/server/event-names.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import {
  execution,
  executionCounts,
  executionDefinition,
  executionPage,
  executionState,
  noResult,
  result,
  stepPage,
} from '../../answers/executions.ts';
import { abortOnDisconnect } from '../../http/abort-on-disconnect.ts';
import { ok, route } from '../../http/route.ts';
import { waitSeconds } from '../../input/starts.ts';
import { LIST_PROBLEMS } from '../../validation/problem-codes.ts';
import { commaSeparated, pageQuery, pathName } from '../../validation/validation.ts';
import { runCountQuery, runListQuery } from './execution-list.ts';
import { runWithResumeTokens, withResumeTokens } from './resume-tokens.ts';

const executionQuery = z.strictObject({
  exclude: z
    .string()
    .regex(/^[a-z]+(,[a-z]+)*$/, 'Expected parts divided by commas.')
    .optional()
    .describe('Parts to leave out: input, output.'),
});

const stepsQuery = z.strictObject({
  ...pageQuery(1_000, 10_000),
  status: commaSeparated(STEP_STATUSES)
    .optional()
    .describe(`Only visits of these statuses, separated by commas: ${STEP_STATUSES.join(', ')}.`),
  attempts: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: one row for each attempt of a step, the last with its end. `limit` counts visits.'),
  step: pathName.optional().describe('Only visits of this step: its slug, or the path of one visit.'),
  names: agentOpsNames
    .optional()
    .describe('002: `step` may also be the id of a step in agent-ops, such as step[0].then[1].'),
  under: pathName
    .optional()
    .describe('Only visits in this iteration, branch or tick, at any depth: the `frame` of a step.'),
  order: z.enum(['asc', 'desc']).default('asc').describe('By start. desc: the newest first. Default: asc.'),
  exclude: commaSeparated(EXCLUDED_MEMBERS)
    .optional()
    .describe(`Members to leave out, separated by commas: ${EXCLUDED_MEMBERS.join(', ')}.`),
});
const resultQuery = z.strictObject({ wait: waitSeconds.describe('Seconds. Default: 0.') });

const params = { id: pathName };

export const executionRoutes = [
  route({
    method: 'GET',
    path: '/api/executions',
    role: 'viewer',
    id: 'listExecutions',
    summary: 'Lists runs.',
    description:
      'Open runs come first, the latest start first, then ended runs, the latest end first. Lists may ' +
      'lag behind by a second; reading a run by its id does not. Each execution is listed once, as it is now; a ' +
      'page may hold fewer than `limit` where executions were retried, and with `errorCode`; `nextCursor` tells ' +
      'whether more follow.',
    query: runListQuery,
    answers: { 200: { text: 'A page of runs.', schema: executionPage } },
    problems: LIST_PROBLEMS,
    handle: async ({ access, principal, query }) => {
      const { include, ...filter } = query;
      const page = await listRunRows(access, principal.organizationId, filter, include);
      return ok({ ...page, items: page.items.map((run) => runWithResumeTokens(access, principal, run)) });
    },
  }),
  route({
    method: 'GET',
    path: '/api/executions/counts',
    role: 'viewer',
    id: 'countExecutions',
    summary: 'Counts the runs of each status.',
    description: 'With the filters of the list. Counts may lag behind by a second.',
    query: runCountQuery,
    answers: { 200: { text: 'The counts.', schema: executionCounts } },
    problems: ['invalid_query'],
    handle: async ({ access, principal, query }) => ok(await countRuns(access, principal.organizationId, query)),
  }),
  route({
    method: 'GET',
    path: '/api/executions/:id',
    role: 'viewer',
    id: 'getExecution',
    summary: 'Reads a run.',
    description:
      'As it is now: its status, what it waits for, its output or error. Unlike lists it does not lag behind. ' +
      '`exclude` leaves out large members.',
    params,
    query: executionQuery,
    answers: { 200: { text: 'The run.', schema: execution } },
    problems: ['not_found'],
    handle: async ({ gateway: { deadWorkers }, access, principal, params: { id }, query: { exclude } }) => {
      const run = await readRun(access, principal.organizationId, id, new Set(exclude?.split(',')), deadWorkers);
      return ok(runWithResumeTokens(access, principal, run));
    },
  }),
  route({
    method: 'GET',
    path: '/api/executions/:id/steps',
    role: 'viewer',
    id: 'listSteps',
    summary: 'Lists the visits of steps, in order of start.',
    description:
      'With `status`, `step` or `under` a page may be short or empty and still have a `nextCursor`: the next page ' +
      'continues. `total` counts all visits.',
    params,
    query: stepsQuery,
    answers: { 200: { text: 'A page of visits.', schema: stepPage } },
    problems: [...LIST_PROBLEMS, 'not_found'],
    handle: async ({ access, principal, params: { id }, query }) => {
      const { limit, cursor, status: statuses, step, names, under, order, exclude, attempts } = query;
      await describeRun(access, principal.organizationId, id);
      const { cursors } = access.keys;
      const list = `steps ${id}${order === 'desc' ? ' desc' : ''}`;
      const position = cursor === undefined ? undefined : Buffer.from(readCursor(cursors, list, cursor)).toString();
      const page = await readTrace(access, id, {
        limit,
        order,
        ...omitUndefined({ statuses, step, names, under, cursor: position }),
        ...(exclude === undefined ? {} : { exclude: new Set(exclude) }),
        ...(attempts === 'true' ? { attempts: true } : {}),
      });
      const { nextCursor: next } = page;
      const nextCursor = next === undefined ? undefined : writeCursor(cursors, list, Buffer.from(next));
      return ok({ ...page, ...omitUndefined({ nextCursor }) });
    },
  }),
  route({
    method: 'GET',
    path: '/api/executions/:id/state',
    role: 'viewer',
    id: 'getExecutionState',
    summary: 'Reads the variables, the state, the outputs and the open steps of a run.',
    description: 'Read from history: the present state of an open run, or the last state of an ended run.',
    params,
    answers: { 200: { text: 'The state.', schema: executionState } },
    problems: ['not_found'],
    handle: async ({ access, principal: { organizationId }, params: { id } }) =>
      ok(await readState(access, organizationId, id)),
  }),
  route({
    method: 'GET',
    path: '/api/executions/:id/definition',
    role: 'viewer',
    id: 'getExecutionDefinition',
    summary: 'Reads the definition of a run, as it was when the run began.',
    description: 'Also for an inline run, and for a run whose workflow was changed or deleted since.',
    params,
    answers: { 200: { text: 'The definition.', schema: executionDefinition } },
    problems: ['not_found'],
    handle: async ({ access, principal: { organizationId }, params: { id } }) =>
      ok(await readSnapshot(access, organizationId, id)),
  }),
  route({
    method: 'GET',
    path: '/api/executions/:id/result',
    role: 'viewer',
    id: 'getResult',
    summary: "Returns the run's result, and waits for it up to `wait` seconds.",
    description:
      'A run that has ended is 200, also if it failed: `status` says so. A run that has not ended in time is ' +
      '202 with what it waits for.',
    params,
    query: resultQuery,
    answers: {
      200: { text: 'The run has ended.', schema: result },
      202: { text: 'The run has not ended.', schema: noResult },
    },
    problems: ['not_found'],
    handle: async ({ gateway, access, principal, res, params: { id }, query: { wait } }) => {
      const signal = abortOnDisconnect(res, gateway.closing).signal;
      const read = await readResult(access, principal.organizationId, id, wait * 1000, signal);
      if (read.ended) {
        const { ended: _ended, ...body } = read;
        return { status: 200, body };
      }
      const { ended: _ended, ...body } = read;
      return { status: 202, body: { ...body, waitingFor: withResumeTokens(access, principal, id, body.waitingFor) } };
    },
  }),
];
