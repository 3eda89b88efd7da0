/** Run lists of alloy: those of an organization, those of one workflow, and one run. */

import { listRunsOfWorkflow } from '../../../client/runs/run-list.ts';
import { demandOrganization } from '../../../gateway/http/principal.ts';
import { ok, route } from '../../../gateway/http/route.ts';
import { HttpProblem } from '../../../gateway/validation/http-problem.ts';
import { LIST_PROBLEMS } from '../../../gateway/validation/problem-codes.ts';
import { nameText, pathName, slugText } from '../../../gateway/validation/validation.ts';
import { alloyListQuery } from './list-query.ts';
import { alloyRun, alloyRunPage } from './run-answers.ts';
import { listAlloyRuns, readAlloyRun } from './runs.ts';

const WORKFLOWS = '/api/organizations/:org/workflows';
const PAGES = 'A page holds at most 100 runs, even if `limit` is higher. `nextCursor` leads to the next page.';
const org = nameText(200).describe('The organization of the key.');

export const alloyRunRoutes = [
  route({
    method: 'GET',
    path: `${WORKFLOWS}/runs`,
    role: 'viewer',
    id: 'listOrganizationRuns',
    summary: "Lists an organization's runs with flow and state; with `exclude`, compressed.",
    description: PAGES,
    params: { org },
    query: alloyListQuery,
    answers: { 200: { text: 'A page of runs.', schema: alloyRunPage } },
    problems: [...LIST_PROBLEMS, 'not_found'],
    handle: async ({ access, req, params, query }) => {
      const { organizationId } = demandOrganization(req, params.org);
      return ok(await listAlloyRuns(access, organizationId, query));
    },
  }),
  route({
    method: 'GET',
    path: `${WORKFLOWS}/:slug/runs`,
    role: 'viewer',
    id: 'listWorkflowRuns',
    summary: "Lists a workflow's runs with flow and state; with `exclude`, compressed.",
    description: PAGES,
    params: { org, slug: slugText },
    query: alloyListQuery,
    answers: { 200: { text: 'A page of runs.', schema: alloyRunPage } },
    problems: [...LIST_PROBLEMS, 'not_found'],
    handle: async ({ access, req, params, query }) => {
      const { organizationId } = demandOrganization(req, params.org);
      const page = await listRunsOfWorkflow(access, organizationId, params.slug, query, listAlloyRuns);
      return ok(page);
    },
  }),
  route({
    method: 'GET',
    path: `${WORKFLOWS}/:slug/runs/:run`,
    role: 'viewer',
    id: 'getWorkflowRun',
    summary: 'Reads a run as alloy (004) shows it.',
    description: "The organization in the address is the caller's own; any other is 404.",
    params: { org, slug: slugText, run: pathName },
    answers: { 200: { text: 'The run.', schema: alloyRun } },
    problems: ['not_found'],
    handle: async ({ access, req, params }) => {
      const { organizationId } = demandOrganization(req, params.org);
      const run = await readAlloyRun(access, organizationId, params.run);
      if (run.workflow_id !== params.slug) throw new HttpProblem('not_found', 'This workflow has no run of that id.');
      return ok(run);
    },
  }),
];
