/** Run lists of document 004: `/api/organizations/:org/workflows/runs/`, those of one workflow, and one run. */
import type { Router } from 'express';
import { listOfWorkflow } from '../../../client/runs/run-list.ts';
import { listRuns004, readRun004 } from '../../../client/runs/runs-004.ts';
import type { Gateway } from '../../http/context.ts';
import { demandOrganization } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { resource } from '../../http/resource.ts';
import { demandNoQuery, pathSlug, pathText, queryAs } from '../../validation/validation.ts';
import { fullListQuery } from './execution-list.ts';

export function runs004Routes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(
    router,
    '/api/organizations/:org/workflows/runs',
    {
      GET: async (req, res) => {
        const { organizationId } = demandOrganization(req, pathText(req, 'org'));
        res.json(await listRuns004(access, organizationId, queryAs(req, fullListQuery)));
      },
    },
    { open: true },
  );

  resource(
    router,
    '/api/organizations/:org/workflows/:slug/runs',
    {
      GET: async (req, res) => {
        const { organizationId } = demandOrganization(req, pathText(req, 'org'));
        const slug = pathSlug(req);
        res.json(await listOfWorkflow(access, organizationId, slug, queryAs(req, fullListQuery), listRuns004));
      },
    },
    // POST starts a run.
    { open: true },
  );

  resource(router, '/api/organizations/:org/workflows/:slug/runs/:run', {
    GET: async (req, res) => {
      const { organizationId } = demandOrganization(req, pathText(req, 'org'));
      demandNoQuery(req);
      const run = await readRun004(access, organizationId, pathText(req, 'run'));
      if (run.workflow_id !== pathSlug(req)) throw new HttpProblem('not_found', 'This workflow has no run of that id.');
      res.json(run);
    },
  });
}
