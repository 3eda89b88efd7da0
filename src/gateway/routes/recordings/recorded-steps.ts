/** `/api/recordings/:id/steps`: calls, steps by hand, set outputs, and the references that replace literals. */
import { z } from 'zod';
import { recordCall } from '../../../client/recordings/record-call.ts';
import {
  changeRecording,
  demandKnownReferences,
  readStep,
  readSuggestions,
} from '../../../client/recordings/recordings.ts';
import type { JsonObject } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { confirmedCount, nameOfStep, recordedStep, suggestions } from '../../answers/recordings.ts';
import { releaseRequestSlot } from '../../http/backpressure.ts';
import { idempotentId } from '../../http/idempotency-key.ts';
import { ok, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { type ProblemCode, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { anyJson, nameText } from '../../validation/validation.ts';
import { RECORDING_PROBLEMS, recordingParams } from './recordings.ts';

const MAX_CONFIRMED = 200;

const callInput = z.record(z.string(), anyJson);
const callBody = z.strictObject({
  toolName: nameText(200).describe('The tool, or `server/tool`.'),
  server: nameText(100).optional().describe('The MCP server. Default: the one that has the tool.'),
  input: callInput
    .optional()
    .describe('The arguments. `@name.path` refers to the output of an earlier step, `@input.path` to the input.'),
});
const action = z
  .union(
    [
      z.strictObject({
        toolName: nameText(200),
        server: nameText(100).optional(),
        transformCode: z.string().min(1).optional(),
      }),
      z.strictObject({ code: z.string().min(1), language: nameText(20).optional() }),
      z.strictObject({ return: z.literal(true) }),
    ],
    'Expected {toolName}, {code} or {return: true}.',
  )
  .describe('What it does: {toolName, server}, {code} or {return: true}.');
const appendBody = z.strictObject({
  name: nameText(64).optional().describe('Default: made from the action.'),
  action,
  input: anyJson.optional().describe('What the action takes, with references.'),
  when: anyJson.optional().describe('The condition under which it runs: {ref, eq, neq, gt, lt}.'),
  forEach: anyJson.optional().describe('It runs for each element: {ref, concurrency}.'),
  bail: anyJson.optional().describe('true, or the condition under which the run ends with its output.'),
  config: anyJson.optional().describe('{maxAttempts, backoffMs, timeoutMs, onError}.'),
  dependsOn: z.array(nameText(64)).optional().describe('Steps that it waits for, besides those it refers to.'),
  description: z.string().max(2_000).optional().describe('For readers.'),
  output: anyJson.optional().describe('The output, without a call. Absent: the step is open until it gets one.'),
});
const outputBody = z.strictObject({ output: anyJson.describe('What references to the step refer to from now on.') });
const confirmBody = z.strictObject({
  items: z
    .array(
      z.strictObject({
        step: nameText(64),
        pointer: z.string().max(1_000).describe('JSON pointer into the input of the step.'),
        reference: nameText(1_000).describe('`@step.path` or `@input.path`.'),
      }),
    )
    .min(1)
    .max(MAX_CONFIRMED)
    .describe('All are put in, or none.'),
});

const stepParams = { ...recordingParams, name: nameText(64) };
const REFERENCE_PROBLEMS: readonly ProblemCode[] = [
  'unknown_reference',
  'unresolved_reference',
  'expression_limit',
  'expression_type',
];
const GROWTH_PROBLEMS: readonly ProblemCode[] = ['too_many', 'too_large', 'payload_too_large'];

export const recordedStepRoutes = [
  route({
    method: 'POST',
    path: '/api/recordings/:id/calls',
    role: 'editor',
    id: 'recordCall',
    summary: 'Calls a tool and records the call as a step.',
    description:
      'References in the input are resolved for the call, and stay in the step. A call that fails is recorded too.',
    params: recordingParams,
    body: jsonOf(callBody),
    answers: { 201: { text: 'The step, also where the call failed.', schema: recordedStep } },
    problems: [
      ...WRITE_PROBLEMS,
      ...RECORDING_PROBLEMS,
      ...REFERENCE_PROBLEMS,
      ...GROWTH_PROBLEMS,
      'unknown_tool',
      'ambiguous_tool',
      'idempotency_conflict',
      'mcp_server_failed',
    ],
    handle: async ({ access, principal: { organizationId, id: by }, req, res, params: { id }, body }) => {
      const { toolName, server, input = {} } = body;
      const call = { tool: toolName, input, ...omitUndefined({ server, by, key: idempotentId(req) }) };
      const { step } = await recordCall(access, organizationId, id, call, () => releaseRequestSlot(res));
      return { status: 201, body: step };
    },
  }),
  route({
    method: 'POST',
    path: '/api/recordings/:id/steps',
    role: 'editor',
    id: 'appendRecordedStep',
    summary: 'Adds a step by hand, in the dialect mesh (001).',
    description: 'It is not run. With `output` later steps can refer to it.',
    params: recordingParams,
    body: jsonOf(appendBody),
    answers: { 201: { text: 'Added.', schema: nameOfStep } },
    problems: [
      ...WRITE_PROBLEMS,
      ...RECORDING_PROBLEMS,
      ...GROWTH_PROBLEMS,
      'invalid_name',
      'step_exists',
      'unknown_reference',
    ],
    handle: async ({ access, principal: { organizationId, id: by }, req, params: { id }, body }) => {
      const { name, output, ...step } = body;
      await demandKnownReferences(access, organizationId, id, omitUndefined(step) as JsonObject, '/step');
      const added = { step: omitUndefined(step) as JsonObject, ...omitUndefined({ name, output, by }) };
      return {
        status: 201,
        body: await changeRecording(access, organizationId, id, 'append', added, idempotentId(req)),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/api/recordings/:id/steps/:name',
    role: 'viewer',
    id: 'getRecordedStep',
    summary: 'Reads a step with its whole output.',
    description: 'Also an output that the recording leaves out because it is large.',
    params: stepParams,
    answers: { 200: { text: 'The step.', schema: recordedStep } },
    problems: [...RECORDING_PROBLEMS, 'no_such_step'],
    handle: async ({ access, principal: { organizationId }, params: { id, name } }) =>
      ok(await readStep(access, organizationId, id, name)),
  }),
  route({
    method: 'PUT',
    path: '/api/recordings/:id/steps/:name/output',
    role: 'editor',
    id: 'presetRecordedStep',
    summary: 'Sets the output of a step without running it.',
    description:
      'Later calls that refer to the step get this output. A call that is under way has to end first ' +
      '(`step_running`).',
    params: stepParams,
    body: jsonOf(outputBody),
    answers: { 200: { text: 'The step.', schema: recordedStep } },
    problems: [
      ...WRITE_PROBLEMS,
      ...RECORDING_PROBLEMS,
      'no_such_step',
      'step_running',
      'too_large',
      'payload_too_large',
    ],
    handle: async ({ access, principal: { organizationId }, params: { id, name }, body }) => {
      await changeRecording(access, organizationId, id, 'preset', { name, output: body.output });
      return ok(await readStep(access, organizationId, id, name));
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/recordings/:id/steps/:name',
    role: 'editor',
    id: 'dropRecordedStep',
    summary: 'Removes a step that no other step refers to.',
    description:
      'A step that others refer to is refused (`step_in_use`). A call that is under way has to end first ' +
      '(`step_running`).',
    params: stepParams,
    answers: { 204: { text: 'Removed.' } },
    problems: [...WRITE_PROBLEMS, ...RECORDING_PROBLEMS, 'no_such_step', 'step_running', 'step_in_use'],
    handle: async ({ access, principal: { organizationId }, params: { id, name } }) => {
      await changeRecording(access, organizationId, id, 'drop', { name });
      return { status: 204 };
    },
  }),
  route({
    method: 'GET',
    path: '/api/recordings/:id/suggestions',
    role: 'viewer',
    id: 'suggestReferences',
    summary: 'Suggests references for literals whose value an earlier output, or the input, also has.',
    description: 'Equal values may have nothing to do with each other: a person confirms what is meant.',
    params: recordingParams,
    answers: { 200: { text: 'The suggestions, at most 200.', schema: suggestions } },
    problems: RECORDING_PROBLEMS,
    handle: async ({ access, principal: { organizationId }, params: { id } }) =>
      ok({ items: await readSuggestions(access, organizationId, id) }),
  }),
  route({
    method: 'POST',
    path: '/api/recordings/:id/suggestions/confirm',
    role: 'editor',
    id: 'confirmReferences',
    summary: 'Puts references in the place of literals.',
    description:
      'Each reference must have the value that it replaces. `@input.NAME` with a new name makes the literal a member ' +
      'of the input.',
    params: recordingParams,
    body: jsonOf(confirmBody),
    answers: { 200: { text: 'Put in.', schema: confirmedCount } },
    problems: [
      ...WRITE_PROBLEMS,
      ...RECORDING_PROBLEMS,
      ...REFERENCE_PROBLEMS,
      'no_such_step',
      'entry_changed',
      'too_large',
      'payload_too_large',
    ],
    handle: async ({ access, principal: { organizationId }, req, params: { id }, body }) =>
      ok(await changeRecording(access, organizationId, id, 'confirm', body, idempotentId(req))),
  }),
];
