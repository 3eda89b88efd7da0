/** `/api/triggers`: what starts runs, apart from the definitions that most of them are written in (ARCHITECTURE.md §5). */

import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { readStatus } from '../../../client/runs/run-read.ts';
import { fireTrigger, ORCHESTRATOR } from '../../../client/triggers/firing.ts';
import { backfillSchedule, readSchedule } from '../../../client/triggers/schedules.ts';
import { firingOf, recordFiring, refusalOf } from '../../../client/triggers/trigger-records.ts';
import {
  changeTrigger,
  createTrigger,
  deleteTrigger,
  demandTrigger,
  listTriggers,
  noteBackfill,
  type TriggerView,
} from '../../../client/triggers/triggers.ts';
import { readHead } from '../../../client/versions/definition-head.ts';
import type { Trigger } from '../../../contract/trigger.ts';
import { mergePatch } from '../../../definition/document/merge-patch.ts';
import { TRIGGER_TYPES } from '../../../definition/document/types.ts';
import { defined } from '../../../json/defined.ts';
import type { JsonObject } from '../../../json/json.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { idOfKey } from '../../http/request-key.ts';
import { resource } from '../../http/resource.ts';
import { answerStarted, startKeyOf } from '../../http/starts.ts';
import { storing } from '../../input/definition-input.ts';
import { checkTrigger, triggerBody, triggerPatch, typeOf } from '../../input/trigger-input.ts';
import { webhookUrl } from '../../input/webhook-path.ts';
import {
  anyJson,
  demandNoQuery,
  nameText,
  pageQuery,
  pathText,
  queryAs,
  slugText,
} from '../../validation/validation.ts';
import { givenInput } from './manual-run.ts';

export const triggerListQuery = z.strictObject({
  ...pageQuery(),
  workflowId: slugText.optional().describe('Only those of the workflow.'),
  type: z.enum(TRIGGER_TYPES).optional().describe('Only those of the type.'),
  enabled: z.enum(['true', 'false']).optional().describe('Only those that are, or are not.'),
});

export const triggerRunBody = z
  .strictObject({
    input: anyJson
      .optional()
      .describe('What its mapping reads as the body; without a mapping, the input. Default: {}.'),
    variables: anyJson.optional().describe('Another name of input.'),
    clientRequestId: nameText(200).optional().describe('The same id again is the same run.'),
  })
  .refine(
    (body) => body.input === undefined || body.variables === undefined,
    'Give `input` or `variables`, not both: they are the same.',
  );

export const backfillBody = z
  .strictObject({
    start: z.iso.datetime({ offset: true }).describe('ISO 8601; times from here on.'),
    end: z.iso.datetime({ offset: true }).describe('ISO 8601; up to here.'),
    overlap: z
      .enum(['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'terminate_other', 'allow_all'])
      .optional()
      .describe('How its runs meet one that still goes. Default: allow_all, whatever the schedule says.'),
  })
  .refine(
    ({ start, end }) => Date.parse(start) >= 0 && Date.parse(start) <= Date.parse(end),
    'Expected `start` before `end`, and not before 1970.',
  );

export function triggerRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(router, '/api/triggers', {
    GET: async (req, res) => {
      const { enabled, workflowId, type, limit, cursor } = queryAs(req, triggerListQuery);
      const { organizationId } = principalOf(req);
      const page = await listTriggers(access, organizationId, {
        limit,
        ...defined({ cursor, workflowId, type }),
        ...(enabled === undefined ? {} : { enabled: enabled === 'true' }),
      });
      res.json({ ...page, items: page.items.map((view) => shownTrigger(gateway, organizationId, view)) });
    },
    POST: async (req, res) => {
      demandNoQuery(req);
      const body = bodyAs(req, triggerBody);
      const { organizationId, id: by } = principalOf(req);
      const { workflowId, name, type: _type, ...given } = body;
      const workflow = workflowId ?? (body.config?.['target'] === 'orchestrator' ? ORCHESTRATOR : undefined);
      if (workflow === undefined)
        throw new HttpProblem('invalid_request', 'Say which workflow the trigger starts: `workflowId` is missing.');
      const { spec, secrets } = checkTrigger(workflow, { type: typeOf(body), name }, given);
      if (typeof workflowId === 'string' && (await readHead(access, organizationId, workflowId)) === undefined)
        throw new HttpProblem('workflow_not_found', `There is no workflow called ${workflowId}. Store it first.`);
      const key = idOfKey(req);
      const trigger = await createTrigger(access, organizationId, workflow, spec, {
        along: storing(gateway, organizationId, workflow, secrets),
        ...defined({ key, by }),
      });
      res.setHeader('location', `/api/triggers/${encodeURIComponent(trigger.id)}`);
      res.status(201);
      await answerTrigger(res, organizationId, trigger.id);
    },
  });

  resource(router, '/api/triggers/:id', {
    GET: async (req, res) => {
      demandNoQuery(req);
      await answerTrigger(res, principalOf(req).organizationId, pathText(req, 'id'));
    },
    PATCH: async (req, res) => {
      demandNoQuery(req);
      const { config, ...others } = bodyAs(req, triggerPatch);
      const { organizationId, id: by } = principalOf(req);
      const { trigger } = await demandTrigger(access, organizationId, pathText(req, 'id'));
      const given =
        config === undefined ? others : { ...others, config: mergePatch(trigger.config ?? {}, config as JsonObject) };
      const { spec, secrets } = checkTrigger(trigger.workflow, trigger, given);
      const change = Object.fromEntries(
        Object.keys(given).map((member) => [member, spec[member as keyof typeof spec] ?? null]),
      );
      await changeTrigger(access, organizationId, trigger, change, {
        along: storing(gateway, organizationId, trigger.workflow, secrets),
        ...defined({ by }),
      });
      await answerTrigger(res, organizationId, trigger.id);
    },
    DELETE: async (req, res) => {
      demandNoQuery(req);
      const { organizationId } = principalOf(req);
      const { trigger } = await demandTrigger(access, organizationId, pathText(req, 'id'));
      await deleteTrigger(access, organizationId, trigger.id);
      res.status(204).end();
    },
  });

  resource(router, '/api/triggers/:id/enable', { POST: (req, res) => turn(req, res, true) });
  resource(router, '/api/triggers/:id/disable', { POST: (req, res) => turn(req, res, false) });

  resource(router, '/api/triggers/:id/run', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const body = bodyAs(req, triggerRunBody);
      const { organizationId, id: by } = principalOf(req);
      const id = pathText(req, 'id');
      const key = startKeyOf(req, body, `trigger ${id}`);
      const [at, given] = givenInput(body);
      try {
        const started = await fireTrigger(access, organizationId, {
          triggerId: id,
          read: async () => (await demandTrigger(access, organizationId, id)).trigger,
          parts: { body: given, query: {}, headers: {}, params: {}, now: Date.now() },
          type: 'manual',
          at,
          ...defined({ initiator: by, key }),
        });
        recordFiring(access, organizationId, id, firingOf(started));
        answerStarted(res, started);
      } catch (error) {
        const refused = refusalOf(error);
        if (refused !== undefined) recordFiring(access, organizationId, id, refused);
        throw error;
      }
    },
  });

  resource(router, '/api/triggers/:id/backfill', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const { start, end, overlap } = bodyAs(req, backfillBody);
      const { organizationId, id: by } = principalOf(req);
      const { trigger } = await demandTrigger(access, organizationId, pathText(req, 'id'));
      if (trigger.type !== 'schedule')
        throw new HttpProblem('refused', `The trigger ${trigger.id} is no schedule: it has no times to make up for.`);
      if (by !== undefined)
        await noteBackfill(access, organizationId, trigger.id, { start, end, at: new Date().toISOString(), by });
      const times = await backfillSchedule(access, organizationId, trigger.id, {
        start: new Date(start),
        end: new Date(end),
        ...defined({ overlap }),
      });
      res.status(202).json({ id: trigger.id, start, end, times });
    },
  });

  async function turn(req: Request, res: Response, enabled: boolean): Promise<void> {
    demandNoQuery(req);
    const { organizationId, id: by } = principalOf(req);
    const { trigger } = await demandTrigger(access, organizationId, pathText(req, 'id'));
    await changeTrigger(access, organizationId, trigger, { enabled }, by === undefined ? {} : { by });
    await answerTrigger(res, organizationId, trigger.id);
  }

  /** The trigger with its next times and how its last run goes. */
  async function answerTrigger(res: Response, org: string, id: string): Promise<void> {
    const view = await demandTrigger(access, org, id);
    const { lastExecutionId } = view.fired;
    const [schedule, status] = await Promise.all([
      view.trigger.type === 'schedule' ? readSchedule(access, org, id) : undefined,
      lastExecutionId === undefined ? undefined : readStatus(access, org, lastExecutionId),
    ]);
    res.json({
      ...shownTrigger(gateway, org, view),
      ...defined({ schedule }),
      ...(status === undefined ? {} : { lastRun: { executionId: lastExecutionId, status } }),
    });
  }
}

function shownTrigger(gateway: Gateway, org: string, { trigger, fired }: TriggerView): object {
  const { workflow, source, revision: _revision, config = {}, ...rest } = trigger;
  const { lastRunAt, last, lastExecutionId: _lastExecutionId, ...counts } = fired;
  return {
    ...rest,
    workflowId: workflow,
    source: source.of,
    config,
    ...webhookOf(gateway, org, trigger),
    counts,
    ...defined({ lastRunAt, last }),
  };
}

const webhookOf = (gateway: Gateway, org: string, { type, config }: Trigger): { webhookUrl?: string } =>
  type === 'webhook' ? { webhookUrl: webhookUrl(gateway, org, String(config?.['path'])) } : {};
