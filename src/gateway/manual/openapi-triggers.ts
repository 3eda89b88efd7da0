/** Operations on triggers and events, for the OpenAPI document. */
import { z } from 'zod';
import { TRIGGER_TYPES } from '../../definition/document/types.ts';
import * as answers from '../answers/answers.ts';
import { triggerBody, triggerPatch } from '../input/trigger-input.ts';
import { eventBody } from '../routes/triggers/events.ts';
import { backfillBody, triggerListQuery, triggerRunBody } from '../routes/triggers/triggers.ts';
import type { ProblemCode } from '../validation/problem-codes.ts';
import { pathName } from '../validation/validation.ts';
import { LIST_PROBLEMS, type Operation, REQUEST_KEY, WRITE_PROBLEMS } from './openapi-operation.ts';

const text = z.string();
const time = z.iso.datetime().describe('ISO 8601.');
const count = z.int();

const trigger = z.object({
  id: text,
  name: text,
  workflowId: text,
  type: z.enum(TRIGGER_TYPES),
  enabled: z.boolean(),
  source: z.enum(['definition', 'api']).describe('Where it is written.'),
  config: z.record(text, z.unknown()),
  variableMapping: z.record(text, text).optional(),
  targetState: z.record(text, z.unknown()).optional(),
  webhookUrl: text.optional(),
  counts: z.object({ started: count, repeated: count, debounced: count, refused: count }),
  lastRunAt: time.optional(),
  last: z
    .object({
      at: time,
      outcome: z.enum(['started', 'repeated', 'debounced', 'refused']),
      executionId: text.optional(),
      code: text.optional(),
      message: text.optional(),
    })
    .optional()
    .describe('What came of the last firing.'),
  lastRun: z.object({ executionId: text, status: text }).optional().describe('How the last run goes.'),
  schedule: z
    .object({
      paused: z.boolean().describe('It starts nothing: disabled here, or paused in Temporal, where it can be resumed.'),
      nextTimes: z.array(time),
      skipped: count,
      missed: count,
    })
    .optional()
    .describe('Of one schedule: when it comes next; how often it came while a run still went; how often too late.'),
  by: text.optional(),
  owner: text.optional().describe('Who has made it: its runs count as theirs where the runs of each user are limited.'),
  createdAt: time,
  updatedAt: time,
});
const page = z.object({
  items: z.array(trigger),
  nextCursor: text.optional().describe('Give it as `cursor` for the next page.'),
});
const published = z.object({
  id: text,
  name: text,
  key: text.optional(),
  executions: z.array(text).optional().describe('Runs that it has started; absent where no worker has answered yet.'),
  told: z.array(text).optional().describe('Runs that listened, and were told.'),
});

const id = { id: pathName };
const TRIGGER = { text: 'The trigger.', schema: trigger };
const PATHS: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'invalid_trigger',
  'path_taken',
  'path_reserved',
  'path_resting',
  'payload_too_large',
  'too_many',
  'too_large',
  'not_found',
];

export const triggerOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/api/triggers',
    id: 'listTriggers',
    tag: 'triggers',
    summary: 'Lists triggers, those of definitions and others.',
    query: triggerListQuery,
    answers: { 200: { text: 'A page of triggers.', schema: page } },
    problems: LIST_PROBLEMS,
  },
  {
    method: 'POST',
    path: '/api/triggers',
    id: 'createTrigger',
    tag: 'triggers',
    summary: 'Makes a trigger for a definition that does not have it.',
    body: { schema: triggerBody },
    answers: { 201: { ...TRIGGER, headers: { Location: 'The address of the trigger.' } } },
    problems: [...PATHS, 'trigger_exists', 'workflow_not_found'],
  },
  {
    method: 'GET',
    path: '/api/triggers/:id',
    id: 'getTrigger',
    tag: 'triggers',
    summary: 'Reads a trigger: what it is, when it comes next, what came of it.',
    parameters: id,
    answers: { 200: TRIGGER },
    problems: ['not_found'],
  },
  {
    method: 'PATCH',
    path: '/api/triggers/:id',
    id: 'changeTrigger',
    tag: 'triggers',
    summary: 'Changes a trigger; of one that a definition has, only `enabled`.',
    parameters: id,
    body: { schema: triggerPatch },
    answers: { 200: TRIGGER },
    problems: [...PATHS, 'trigger_of_definition'],
  },
  {
    method: 'DELETE',
    path: '/api/triggers/:id',
    id: 'deleteTrigger',
    tag: 'triggers',
    summary: 'Deletes a trigger that no definition has.',
    parameters: id,
    answers: { 204: { text: 'Deleted.' } },
    problems: [...WRITE_PROBLEMS, 'not_found', 'trigger_of_definition'],
  },
  ...(['enable', 'disable'] as const).map(
    (verb): Operation => ({
      method: 'POST',
      path: `/api/triggers/:id/${verb}`,
      id: `${verb}Trigger`,
      tag: 'triggers',
      summary: `Makes a trigger ${verb === 'enable' ? 'fire again' : 'fire no more'}, until its definition says otherwise.`,
      parameters: id,
      answers: { 200: TRIGGER },
      problems: [...WRITE_PROBLEMS, 'not_found'],
    }),
  ),
  {
    method: 'POST',
    path: '/api/triggers/:id/run',
    id: 'fireTrigger',
    tag: 'triggers',
    summary: 'Fires a trigger by hand.',
    parameters: id,
    headers: REQUEST_KEY,
    body: { schema: triggerRunBody, isOptional: true },
    answers: {
      201: { text: 'Started.', schema: answers.started },
      200: { text: 'The run that the same request had started.', schema: answers.started },
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
  },
  {
    method: 'POST',
    path: '/api/triggers/:id/backfill',
    id: 'backfillTrigger',
    tag: 'triggers',
    summary: 'Makes up for the times of a schedule that lie in a span, each once.',
    parameters: id,
    body: { schema: backfillBody },
    answers: {
      202: {
        text: 'Asked for.',
        schema: z.object({ id: text, start: text, end: text, times: count.describe('How many there are.') }),
      },
    },
    problems: [...WRITE_PROBLEMS, 'not_found', 'too_many'],
  },
  {
    method: 'POST',
    path: '/api/events',
    id: 'publishEvent',
    tag: 'triggers',
    summary: 'Publishes an event: it starts the triggers that take it, and reaches the runs that listen.',
    headers: REQUEST_KEY,
    body: { schema: eventBody },
    answers: {
      202: { text: 'Taken; it will come to all who want it.', schema: published },
      200: { text: 'It had been published before.', schema: published },
    },
    problems: [...WRITE_PROBLEMS, 'idempotency_conflict'],
  },
];
