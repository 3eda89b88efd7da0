/** `POST /api/executions`: a run of a definition that is not stored, in any dialect (document 000 §12). */

import { z } from 'zod';
import { acceptedInput, demandPresets } from '../../../client/starts/accepted-input.ts';
import { startRun } from '../../../client/starts/start.ts';
import { unaudited } from '../../../client/temporal/access.ts';
import { defined } from '../../../json/defined.ts';
import type { Json, JsonObject } from '../../../json/json.ts';
import { startedOrDryRun } from '../../answers/executions.ts';
import { type Route, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { START_PROBLEMS, STARTED, startedAnswer, startKeysOf } from '../../http/starts.ts';
import { checkDocument, demandValid, dialectName, storing } from '../../input/definition-input.ts';
import { dryRun } from '../../input/dry-run.ts';
import { toolsFor } from '../../input/known-tools.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { anyJson, nameText, timeoutMsField } from '../../validation/validation.ts';

const inlineRunBody = z
  .strictObject({
    definition: anyJson.optional().describe('In any dialect.'),
    workflowConfig: anyJson.optional().describe('Instead of definition, together with stepsConfig: the dialect 000.'),
    stepsConfig: anyJson.optional().describe('Instead of definition: its steps, in the dialect 000.'),
    organizationId: nameText(200)
      .optional()
      .describe("The caller's own, as document 000 sends it; another is refused."),
    dialect: dialectName.optional().describe('What the definition is written in. Default: told by its form.'),
    input: anyJson.optional().describe('What the run is started with. Default: {}.'),
    triggeredBy: nameText(200).optional().describe('Who or what starts it, for lists.'),
    triggerData: anyJson.optional().describe('Stands in `execution.trigger.metadata`.'),
    timeoutMs: timeoutMsField,
    presets: z
      .record(nameText(64), anyJson)
      .optional()
      .describe(
        'Outputs of steps that are not run: slug → data, {data, port?, meta?}, or {error}. Each slug must be a step.',
      ),
    clientRequestId: nameText(200).optional().describe('The same id again is the same run.'),
    dryRun: z
      .boolean()
      .optional()
      .describe(
        'Walks it without any effect on a simulated clock, and answers what came of it. Where only somebody can ' +
          'go on it stops.',
      ),
  })
  .refine(
    (body) => (body.definition === undefined) === (body.stepsConfig !== undefined),
    'Give `definition`, or `workflowConfig` and `stepsConfig`.',
  );

export const inlineRunRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/executions',
    // A definition of one's own can do whatever an editor can, also in a dry run.
    role: 'editor',
    idempotency: 'id',
    id: 'runInline',
    tag: 'executions',
    summary: 'Starts a run of a definition that is not stored; with `dryRun` walks it without any effect.',
    body: jsonOf(inlineRunBody),
    answers: {
      201: STARTED[201],
      200: {
        text: 'The run that the same request had started; or the result of the dry run.',
        schema: startedOrDryRun,
      },
    },
    problems: [
      ...START_PROBLEMS,
      'unknown_preset',
      'invalid_definition',
      'takes_too_long',
      'gateway_busy',
      'too_many',
      'too_large',
    ],
    handle: async ({ gateway, access, principal: { organizationId, id }, req, body }) => {
      if (body.organizationId !== undefined && body.organizationId !== organizationId) throw notYours();
      const { definition: given, workflowConfig = {}, stepsConfig = [], presets = {}, timeoutMs } = body;
      const document = given ?? { workflowConfig, stepsConfig };
      const checked = await checkDocument(gateway, organizationId, document, {
        inline: true,
        persons: id !== undefined,
        ...(await toolsFor(gateway, organizationId, document)),
        ...defined({ dialect: body.dialect }),
      });
      const givenInput = body.input === undefined ? {} : body.input;
      if (body.dryRun === true)
        return { status: 200, body: await dryRun(gateway, checked, { input: givenInput, presets, organizationId }) };
      const { definition, hash } = demandValid(checked);
      demandPresets(definition, presets);
      const input = acceptedInput(definition, givenInput, '/input');
      // The audit records the secrets that are stored. A run records its start itself.
      const started = await startRun(unaudited(access), organizationId, {
        workflows: [definition.slug],
        ...startKeysOf(req, body, 'inline'),
        looksFirst: true,
        trigger: { type: 'inline', ...metadataOf(body.triggeredBy, body.triggerData) },
        ...defined({ initiator: id ?? body.triggeredBy }),
        prepare: async () => {
          await storing(access, organizationId, hash, checked.secrets)();
          return { definition, hash, input, inline: true, ...defined({ presets: body.presets, timeoutMs }) };
        },
      });
      return startedAnswer(started);
    },
  }),
];

/** The API key alone says to which organization a run belongs. */
function notYours(): HttpProblem {
  const message = "organizationId is not the caller's organization. Leave it out.";
  return new HttpProblem('invalid_request', `The body at /organizationId is not as expected: ${message}`, {
    problems: [{ pointer: '/organizationId', code: 'invalid_value', message }],
  });
}

function metadataOf(triggeredBy: string | undefined, triggerData: Json | undefined): { metadata?: JsonObject } {
  if (triggeredBy === undefined && triggerData === undefined) return {};
  return {
    metadata: defined({ triggeredBy, triggerData }),
  };
}
