/** `/api/triggers`: triggers in definitions, and triggers made through the API (ARCHITECTURE.md §5). */

import { z } from 'zod';
import { readStatus } from '../../../client/runs/run-read.ts';
import { bodyParts } from '../../../client/starts/prepare-run.ts';
import { fireTrigger, ORCHESTRATOR } from '../../../client/triggers/firing.ts';
import { readRecentFirings } from '../../../client/triggers/recent-firings.ts';
import { backfillSchedule, readSchedule } from '../../../client/triggers/schedules.ts';
import { firingOf, firingRefusalOf, recordFiring } from '../../../client/triggers/trigger-records.ts';
import {
  changeTrigger,
  createTrigger,
  deleteTrigger,
  demandTrigger,
  listTriggers,
  noteBackfill,
  renewScheduleTimes,
  type TriggerView,
} from '../../../client/triggers/triggers.ts';
import { readHead } from '../../../client/versions/definition-head.ts';
import { TRIGGER_TYPES } from '../../../definition/document/types.ts';
import type { JsonObject } from '../../../json/json.ts';
import { mergePatch } from '../../../json/merge-patch.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { started } from '../../answers/executions.ts';
import { firings, trigger, triggerPage } from '../../answers/triggers.ts';
import type { Gateway } from '../../http/context.ts';
import { idempotentId } from '../../http/idempotency-key.ts';
import { ok, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { prepareSecretWrite } from '../../input/definition-input.ts';
import { clientRequestIdField, givenInput, INPUT_OR_VARIABLES, variablesField } from '../../input/start-fields.ts';
import { startedAnswer, startKeyOf } from '../../input/starts.ts';
import { checkTrigger, triggerBody, triggerPatch, typeOf } from '../../input/trigger-input.ts';
import { webhookUrlOf } from '../../input/webhook-path.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { LIST_PROBLEMS, PATH_PROBLEMS, type ProblemCode, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { anyJson, pageQuery, pathName, slugText } from '../../validation/validation.ts';

const triggerListQuery = z.strictObject({
  ...pageQuery(),
  workflowId: slugText.optional().describe('Only triggers of this workflow.'),
  type: z.enum(TRIGGER_TYPES).optional().describe('Only triggers of this type.'),
  enabled: z.enum(['true', 'false']).optional().describe('Only the enabled (true) or the disabled (false).'),
});

const triggerRunBody = z
  .strictObject({
    input: anyJson.optional().describe('The body that its mapping reads; without a mapping, the input. Default: {}.'),
    variables: variablesField,
    clientRequestId: clientRequestIdField,
  })
  .refine(...INPUT_OR_VARIABLES);

const backfillBody = z
  .strictObject({
    start: z.iso.datetime({ offset: true }).describe('ISO 8601. The start of the time span.'),
    end: z.iso.datetime({ offset: true }).describe('ISO 8601. The end of the time span.'),
    overlap: z
      .enum(['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'terminate_other', 'allow_all'])
      .optional()
      .describe('The overlap policy of these runs. Default: allow_all, regardless of the schedule.'),
  })
  .refine(
    ({ start, end }) => Date.parse(start) >= 0 && Date.parse(start) <= Date.parse(end),
    'Expected `start` before `end`, and not before 1970.',
  );

const TRIGGER = { text: 'The trigger.', schema: trigger };
const params = { id: pathName };
const TRIGGER_PROBLEMS: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'invalid_trigger',
  ...PATH_PROBLEMS,
  'payload_too_large',
  'too_many',
  'too_large',
  'not_found',
];

export const triggerRoutes = [
  route({
    method: 'GET',
    path: '/api/triggers/:id/deliveries',
    role: 'viewer',
    id: 'listDeliveries',
    summary: 'Lists the last 20 firings of a trigger with their outcomes, newest first.',
    description:
      'Deliveries of webhooks, ticks of schedules, events, and firings by hand. A webhook delivery whose signature ' +
      'does not fit is not listed, because anyone can send one.',
    params,
    answers: { 200: { text: 'The firings.', schema: firings } },
    problems: ['not_found'],
    handle: async ({ access, principal: { organizationId }, params: { id } }) => {
      const found = await readRecentFirings(access, organizationId, id);
      return ok({ items: found.map(({ count = 1, ...one }) => ({ ...one, count })) });
    },
  }),
  route({
    method: 'GET',
    path: '/api/triggers',
    role: 'viewer',
    id: 'listTriggers',
    summary: 'Lists triggers, in definitions and outside them.',
    description:
      '`source` says whether a trigger is written in a definition or was made here. Secrets are shown by name ' +
      'only. Rows that cannot be read are in `unreadable`.',
    query: triggerListQuery,
    answers: { 200: { text: 'A page of triggers.', schema: triggerPage } },
    problems: LIST_PROBLEMS,
    handle: async ({ gateway, access, principal: { organizationId }, query }) => {
      const { enabled, workflowId, type, limit, cursor } = query;
      const { unreadable, ...page } = await listTriggers(access, organizationId, {
        limit,
        ...omitUndefined({ cursor, workflowId, type, enabled: enabled && enabled === 'true' }),
      });
      const items = page.items.map((view) => shownTrigger(gateway, organizationId, view));
      return ok({ ...page, items, ...(unreadable.length === 0 ? {} : { unreadable }) });
    },
  }),
  route({
    method: 'POST',
    path: '/api/triggers',
    role: 'editor',
    id: 'createTrigger',
    summary: 'Makes a trigger outside the definition.',
    description:
      'For triggers that are kept apart from the definition. They are checked as those of definitions are ' +
      '(`invalid_trigger`). A secret in clear is stored encrypted and never returned.',
    body: jsonOf(triggerBody),
    answers: { 201: { ...TRIGGER, headers: { Location: 'The address of the trigger.' } } },
    problems: [...TRIGGER_PROBLEMS, 'trigger_exists', 'workflow_not_found'],
    handle: async ({ gateway, access, principal: { organizationId, id: by }, req, body }) => {
      const { workflowId, name, type: _type, ...given } = body;
      const workflow = workflowId ?? (body.config?.['target'] === 'orchestrator' ? ORCHESTRATOR : undefined);
      if (workflow === undefined)
        throw new HttpProblem('invalid_request', 'Say which workflow the trigger starts: `workflowId` is missing.');
      const { spec, secrets } = checkTrigger(workflow, { type: typeOf(body), name }, given);
      if (typeof workflowId === 'string' && (await readHead(access, organizationId, workflowId)) === undefined)
        throw new HttpProblem('workflow_not_found', `There is no workflow called ${workflowId}. Store it first.`);
      const { id } = await createTrigger(access, organizationId, workflow, spec, {
        afterWrite: await prepareSecretWrite(access, organizationId, workflow, secrets),
        ...omitUndefined({ key: idempotentId(req), by }),
      });
      const location = `/api/triggers/${encodeURIComponent(id)}`;
      return { status: 201, body: await readTrigger(gateway, organizationId, id), headers: { location } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/triggers/:id',
    role: 'viewer',
    id: 'getTrigger',
    summary: 'Reads a trigger with its next times and its last result.',
    description:
      'A schedule has its next times, a webhook its address. The counts are of its firings since it was made.',
    params,
    answers: { 200: TRIGGER },
    problems: ['not_found'],
    handle: async ({ gateway, principal: { organizationId }, params: { id } }) =>
      ok(await readTrigger(gateway, organizationId, id)),
  }),
  route({
    method: 'PATCH',
    path: '/api/triggers/:id',
    role: 'editor',
    id: 'changeTrigger',
    summary: 'Changes a trigger. In a definition, only `enabled` can be changed.',
    description:
      '`config` is a JSON merge patch. Other members replace what was there, and members that are left out ' +
      'stay. A trigger of a definition is changed with it (`trigger_of_definition`).',
    params,
    body: jsonOf(triggerPatch),
    answers: { 200: TRIGGER },
    problems: [...TRIGGER_PROBLEMS, 'trigger_of_definition'],
    handle: async ({ gateway, access, principal: { organizationId, id: by }, params: { id }, body }) => {
      const { config, ...others } = body;
      const { trigger } = await demandTrigger(access, organizationId, id);
      const given =
        config === undefined ? others : { ...others, config: mergePatch(trigger.config ?? {}, config as JsonObject) };
      const { spec, secrets } = checkTrigger(trigger.workflow, trigger, given);
      const change = Object.fromEntries(
        Object.keys(given).map((member) => [member, spec[member as keyof typeof spec] ?? null]),
      );
      await changeTrigger(access, organizationId, trigger, change, {
        afterWrite: await prepareSecretWrite(access, organizationId, trigger.workflow, secrets),
        ...omitUndefined({ by }),
      });
      return ok(await readTrigger(gateway, organizationId, trigger.id));
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/triggers/:id',
    role: 'editor',
    id: 'deleteTrigger',
    summary: 'Deletes a trigger that is not in a definition.',
    description:
      'Runs that it has started continue. A trigger of a definition is deleted there (`trigger_of_definition`).',
    params,
    answers: { 204: { text: 'Deleted.' } },
    problems: [...WRITE_PROBLEMS, 'not_found', 'trigger_of_definition'],
    handle: async ({ access, principal: { organizationId }, params: { id } }) => {
      const { trigger } = await demandTrigger(access, organizationId, id);
      await deleteTrigger(access, organizationId, trigger.id);
      return { status: 204 };
    },
  }),
  switchRoute(
    'enable',
    'Enables a trigger, until its definition says otherwise.',
    'A schedule starts runs at its next time; times that passed meanwhile are not made up for.',
  ),
  switchRoute(
    'disable',
    'Disables a trigger, until its definition says otherwise.',
    'Its webhook is answered with 404, and its schedule pauses. Runs that it has started continue.',
  ),
  route({
    method: 'POST',
    path: '/api/triggers/:id/run',
    role: 'runner',
    idempotency: 'id',
    isAudited: false,
    id: 'fireTrigger',
    summary: 'Fires a trigger by hand.',
    description:
      'The input passes the mapping of the trigger, as a delivery does. A disabled trigger is refused ' +
      '(`trigger_disabled`). A request that repeats `clientRequestId` or `Idempotency-Key` gets the same run.',
    params,
    body: jsonOf(triggerRunBody, { isOptional: true }),
    answers: {
      201: { text: 'Started.', schema: started },
      200: { text: 'The run that the same request started before.', schema: started },
    },
    problems: [
      ...WRITE_PROBLEMS,
      'not_found',
      'trigger_disabled',
      'not_an_agent',
      'workflow_not_found',
      'workflow_disabled',
      'version_not_found',
      'invalid_mapping',
      'invalid_input',
      'idempotency_conflict',
      'payload_too_large',
      'limit_reached',
      'queue_full',
    ],
    handle: async ({ access, principal: { organizationId, id: initiator }, req, params: { id }, body }) => {
      const [at, given] = givenInput(body);
      try {
        const started = await fireTrigger(access, organizationId, {
          triggerId: id,
          read: async () => (await demandTrigger(access, organizationId, id)).trigger,
          parts: bodyParts(given),
          type: 'manual',
          at,
          ...(await startKeyOf(req, body, `trigger ${id}`, 'id')),
          ...omitUndefined({ initiator }),
        });
        recordFiring(access, organizationId, id, firingOf(started));
        return startedAnswer(started);
      } catch (error) {
        const refused = firingRefusalOf(error);
        if (refused !== undefined) recordFiring(access, organizationId, id, refused);
        throw error;
      }
    },
  }),
  route({
    method: 'POST',
    path: '/api/triggers/:id/backfill',
    role: 'editor',
    id: 'backfillTrigger',
    summary: 'Fires a schedule for each of its times in a time span.',
    description:
      'For times that were missed, or before the schedule existed. Each time starts one run at most, however ' +
      'often it is asked for. A disabled trigger is refused (`trigger_disabled`).',
    params,
    body: jsonOf(backfillBody),
    answers: {
      202: {
        text: 'Requested.',
        schema: z.object({
          id: z.string(),
          start: z.string(),
          end: z.string(),
          times: z.int().describe('The number of times.'),
        }),
      },
    },
    problems: [...WRITE_PROBLEMS, 'not_found', 'trigger_disabled', 'too_many'],
    handle: async ({ access, principal: { organizationId, id: by }, params: { id }, body }) => {
      const { start, end, overlap } = body;
      const { trigger } = await demandTrigger(access, organizationId, id);
      if (trigger.type !== 'schedule')
        throw new HttpProblem('refused', `The trigger ${trigger.id} is not a schedule: it has no times to backfill.`);
      if (!trigger.enabled)
        throw new HttpProblem('trigger_disabled', `The trigger ${trigger.id} is disabled. Enable it first.`);
      const before =
        by === undefined
          ? undefined
          : () => noteBackfill(access, organizationId, trigger.id, { start, end, at: new Date().toISOString(), by });
      await renewScheduleTimes(access, organizationId, trigger.id);
      const times = await backfillSchedule(access, organizationId, trigger.id, {
        start: new Date(start),
        end: new Date(end),
        ...omitUndefined({ overlap, before }),
      });
      return { status: 202, body: { id: trigger.id, start, end, times } };
    },
  }),
];

function switchRoute<Verb extends 'enable' | 'disable'>(verb: Verb, summary: string, description: string) {
  return route({
    method: 'POST',
    path: `/api/triggers/:id/${verb}` as const,
    role: 'editor',
    id: `${verb}Trigger`,
    summary,
    description,
    params,
    answers: { 200: TRIGGER },
    problems: [...WRITE_PROBLEMS, 'not_found'],
    handle: async ({ gateway, access, principal: { organizationId, id: by }, params: { id } }) => {
      const { trigger } = await demandTrigger(access, organizationId, id);
      await changeTrigger(access, organizationId, trigger, { enabled: verb === 'enable' }, omitUndefined({ by }));
      return ok(await readTrigger(gateway, organizationId, trigger.id));
    },
  });
}

/** The trigger with its next times and the status of its last run. */
async function readTrigger(gateway: Gateway, org: string, id: string) {
  const { access } = gateway;
  const view = await demandTrigger(access, org, id);
  const { lastExecutionId } = view.fired;
  const [schedule, status] = await Promise.all([
    view.trigger.type === 'schedule' ? readSchedule(access, org, id) : undefined,
    lastExecutionId === undefined ? undefined : readStatus(access, org, lastExecutionId),
  ]);
  const lastRun =
    lastExecutionId === undefined || status === undefined ? undefined : { executionId: lastExecutionId, status };
  return { ...shownTrigger(gateway, org, view), ...omitUndefined({ schedule, lastRun }) };
}

function shownTrigger(gateway: Gateway, org: string, { trigger, fired }: TriggerView) {
  const { workflow, source, revision: _revision, config = {}, ...rest } = trigger;
  const { lastRunAt, last, lastExecutionId: _lastExecutionId, ...counts } = fired;
  return {
    ...rest,
    workflowId: workflow,
    source: source.of,
    config,
    ...webhookUrlOf(gateway, org, trigger),
    counts,
    ...omitUndefined({ lastRunAt, last }),
  };
}
