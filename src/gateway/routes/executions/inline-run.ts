/** `POST /api/executions`: a run of a definition that is not stored, in any dialect. */

import { z } from 'zod';
import { bodyParts } from '../../../client/starts/prepare-run.ts';
import { startRun } from '../../../client/starts/start.ts';
import { unaudited } from '../../../client/temporal/access.ts';
import { dryAnswersSchema } from '../../../history/dry-run-answers.ts';
import type { Json, JsonObject } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { startedOrDryRun } from '../../answers/executions.ts';
import { demandRole } from '../../http/principal.ts';
import { route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { checkGiven, demandValid, dialectName } from '../../input/definition-input.ts';
import { dryRun } from '../../input/dry-run.ts';
import { clientRequestIdField, givenInput, presetsField } from '../../input/start-fields.ts';
import { AWAITED_START_ANSWERS, awaitedAnswer, awaitedQuery, START_PROBLEMS, startKeyOf } from '../../input/starts.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { CHECK_PROBLEMS } from '../../validation/problem-codes.ts';
import { anyJson, nameText, timeoutMsField } from '../../validation/validation.ts';

const inlineRunBody = z
  .strictObject({
    definition: anyJson.optional().describe('The definition, in any dialect: an object, or YAML or JSON as text.'),
    workflowConfig: anyJson
      .optional()
      .describe('In place of `definition`, together with `stepsConfig`: a workflow in dialect 000.'),
    stepsConfig: anyJson
      .optional()
      .describe('In place of `definition`, together with `workflowConfig`: the steps in dialect 000.'),
    organizationId: nameText(200)
      .optional()
      .describe("The caller's own organization, as tale sends it. Any other is refused."),
    dialect: dialectName,
    input: anyJson.optional().describe("The run's input. Default: {}."),
    triggeredBy: nameText(200).optional().describe('The initiator of the run, shown in lists.'),
    triggerData: anyJson.optional().describe('Available as `execution.trigger.metadata`.'),
    timeoutMs: timeoutMsField,
    presets: presetsField,
    clientRequestId: clientRequestIdField,
    dryRun: z
      .boolean()
      .optional()
      .describe(
        'Simulates the run without effects, on a simulated clock, and returns the outcome. It stops where only a ' +
          'person could continue, unless `answers` say how.',
      ),
    answers: dryAnswersSchema(anyJson, nameText(200))
      .optional()
      .describe('With `dryRun`: what comes for each wait, by its path, or by the slug of its step for each visit.'),
  })
  .refine(
    (body) => (body.definition === undefined) === (body.stepsConfig !== undefined),
    'Give `definition`, or `workflowConfig` and `stepsConfig`.',
  )
  .refine((body) => body.answers === undefined || body.dryRun === true, {
    message: 'Only a dry run takes answers.',
    path: ['answers'],
  });

export const inlineRunRoutes = [
  route({
    method: 'POST',
    path: '/api/executions',
    // A dry run does nothing. Runners walk what they propose with it. A run needs the role editor (below).
    role: 'runner',
    idempotency: 'id',
    id: 'runInline',
    summary: 'Starts a run of a definition that is not stored; with `dryRun`, simulates it without effects.',
    description: 'A run needs the role editor. The role runner suffices for a dry run.',
    query: awaitedQuery,
    body: jsonOf(inlineRunBody),
    answers: {
      201: AWAITED_START_ANSWERS[201],
      200: {
        text: 'The run that the same request started before, or the result of the dry run.',
        schema: startedOrDryRun,
      },
    },
    problems: [...START_PROBLEMS, 'unknown_preset', 'invalid_preset', 'invalid_yaml', ...CHECK_PROBLEMS],
    handle: async ({ query: { wait }, body, ...call }) => {
      const { gateway, access, req } = call;
      // An inline definition can do anything that an editor can.
      const { organizationId, id } = demandRole(req, body.dryRun === true ? 'runner' : 'editor');
      if (body.organizationId !== undefined && body.organizationId !== organizationId) throw foreignOrganization();
      const { definition: given, workflowConfig = {}, stepsConfig = [], presets = {}, timeoutMs } = body;
      const document = given ?? { workflowConfig, stepsConfig };
      const options = { inline: true, persons: id !== undefined, ...omitUndefined({ dialect: body.dialect }) };
      const checked = await checkGiven(gateway, organizationId, document, options);
      const [, input] = givenInput(body);
      if (body.dryRun === true)
        return {
          status: 200,
          body: await dryRun(gateway, checked, {
            input,
            presets,
            organizationId,
            ...omitUndefined({ answers: body.answers }),
          }),
        };
      // The run records its own start.
      const started = await startRun(unaudited(access), organizationId, {
        ...(await startKeyOf(req, body, 'inline', 'address')),
        trigger: { type: 'inline', ...metadataOf(body.triggeredBy, body.triggerData) },
        ...omitUndefined({ initiator: id ?? body.triggeredBy }),
        run: {
          definitionRef: demandValid(checked),
          parts: bodyParts(input),
          at: '/input',
          ...omitUndefined({ presets: body.presets, timeoutMs }),
        },
      });
      return await awaitedAnswer(call, started, wait);
    },
  }),
];

/** Only the API key determines the organization of a run. */
function foreignOrganization(): HttpProblem {
  const message = "organizationId is not the caller's organization. Leave it out.";
  return new HttpProblem('invalid_request', `The body at /organizationId is not as expected: ${message}`, {
    problems: [{ pointer: '/organizationId', code: 'invalid_value', message }],
  });
}

function metadataOf(triggeredBy: string | undefined, triggerData: Json | undefined): { metadata?: JsonObject } {
  if (triggeredBy === undefined && triggerData === undefined) return {};
  return { metadata: omitUndefined({ triggeredBy, triggerData }) };
}
