/** `/api/executions`: runs, started inline, listed and read (ARCHITECTURE.md §5). */

import type { Router } from 'express';
import { z } from 'zod';
import { listRuns } from '../../../client/runs/run-list.ts';
import { describeRun, readResult, readRun } from '../../../client/runs/run-read.ts';
import { readSnapshot, readState } from '../../../client/runs/run-state.ts';
import { readTrace, STEP_STATUSES } from '../../../client/runs/trace.ts';
import { readCursor, writeCursor } from '../../../client/visibility/cursor.ts';
import { defined } from '../../../json/defined.ts';
import { callerGone } from '../../http/caller-gone.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { resource } from '../../http/resource.ts';
import { demandNoQuery, pageQuery, pathName, pathText, queryAs, wholeNumber } from '../../validation/validation.ts';
import { runListQuery } from './execution-list.ts';
import { startInline } from './inline-run.ts';
import { shownRun, shownWaits } from './shown-waits.ts';

const LONGEST_WAIT_SECONDS = 60;

export const executionQuery = z.strictObject({
  exclude: z
    .string()
    .regex(/^[a-z]+(,[a-z]+)*$/, 'Expected parts divided by commas.')
    .optional()
    .describe('Parts that are left out: input, output.'),
});
const statusList = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(STEP_STATUSES, { error: `Expected statuses out of ${STEP_STATUSES.join(', ')}.` })))
  .meta({ type: 'string', pattern: `^(${STEP_STATUSES.join('|')})(,(${STEP_STATUSES.join('|')}))*$` });

export const stepsQuery = z.strictObject({
  ...pageQuery(1_000, 10_000),
  status: statusList
    .optional()
    .describe(`Only visits of these statuses, divided by commas: ${STEP_STATUSES.join(', ')}.`),
  attempts: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: a row for every attempt of a step, the last one with its end. `limit` counts visits.'),
  step: pathName.optional().describe('Only visits of this step: its slug, or the path of one visit.'),
});
export const resultQuery = z.strictObject({
  wait: wholeNumber(0, LONGEST_WAIT_SECONDS).default(0).describe('Seconds. Default: 0.'),
});

export function executionRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(router, '/api/executions', {
    GET: async (req, res) => {
      const page = await listRuns(access, principalOf(req).organizationId, queryAs(req, runListQuery));
      res.json({ ...page, items: page.items.map((run) => shownRun(access, req, run)) });
    },
    POST: (req, res) => startInline(gateway, req, res),
  });

  resource(router, '/api/executions/:id', {
    GET: async (req, res) => {
      const { exclude } = queryAs(req, executionQuery);
      const { organizationId } = principalOf(req);
      const run = await readRun(access, organizationId, pathText(req, 'id'), new Set(exclude?.split(',')));
      res.json(shownRun(access, req, run));
    },
  });

  resource(router, '/api/executions/:id/steps', {
    GET: async (req, res) => {
      const { limit, cursor, status: statuses, step, attempts } = queryAs(req, stepsQuery);
      const id = pathText(req, 'id');
      await describeRun(access, principalOf(req).organizationId, id);
      const list = `steps ${id}`;
      const position =
        cursor === undefined ? undefined : Buffer.from(readCursor(access.keys.cursors, list, cursor)).toString();
      const page = await readTrace(access, id, {
        limit,
        ...defined({ statuses, step }),
        ...(attempts === 'true' ? { attempts: true } : {}),
        ...defined({ cursor: position }),
      });
      const next =
        page.nextCursor === undefined
          ? {}
          : { nextCursor: writeCursor(access.keys.cursors, list, Buffer.from(page.nextCursor)) };
      res.json({ ...page, ...next });
    },
  });

  resource(router, '/api/executions/:id/state', {
    GET: async (req, res) => {
      demandNoQuery(req);
      res.json(await readState(access, principalOf(req).organizationId, pathText(req, 'id')));
    },
  });

  resource(router, '/api/executions/:id/definition', {
    GET: async (req, res) => {
      demandNoQuery(req);
      res.json(await readSnapshot(access, principalOf(req).organizationId, pathText(req, 'id')));
    },
  });

  resource(router, '/api/executions/:id/result', {
    GET: async (req, res) => {
      const { wait } = queryAs(req, resultQuery);
      const signal = AbortSignal.any([callerGone(res).signal, gateway.closing]);
      const id = pathText(req, 'id');
      const { organizationId } = principalOf(req);
      const { ended, ...result } = await readResult(access, organizationId, id, wait * 1000, signal);
      if ('waitingFor' in result)
        res.status(202).json({ ...result, waitingFor: shownWaits(access, req, id, result.waitingFor) });
      else res.status(ended ? 200 : 202).json(result);
    },
  });
}
