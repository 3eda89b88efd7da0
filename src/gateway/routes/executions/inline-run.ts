/** `POST /api/executions`: a run of a definition that is not stored, in any dialect (document 000 §12). */

import type { Request, Response } from 'express';
import { z } from 'zod';
import { acceptedInput, demandPresets } from '../../../client/starts/accepted-input.ts';
import { startRun } from '../../../client/starts/start.ts';
import { unaudited } from '../../../client/temporal/access.ts';
import { defined } from '../../../json/defined.ts';
import type { Json, JsonObject } from '../../../json/json.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { answerStarted, startKeysOf } from '../../http/starts.ts';
import { checkDocument, demandValid, dialectName, storing } from '../../input/definition-input.ts';
import { answerDryRun } from '../../input/dry-run.ts';
import { toolsFor } from '../../input/known-tools.ts';
import { anyJson, demandNoQuery, nameText, timeoutMsField } from '../../validation/validation.ts';

export const inlineRunBody = z
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
        'Walks it without any effect on a simulated clock, and answers what came of it. Where only somebody can go on it stops.',
      ),
  })
  .refine(
    (body) => (body.definition === undefined) === (body.stepsConfig !== undefined),
    'Give `definition`, or `workflowConfig` and `stepsConfig`.',
  );

/** Runs, or with `dryRun` walks, a definition that is not stored. @throws HttpProblem `invalid_definition`, `invalid_input`, `unknown_preset`. */
export async function startInline(gateway: Gateway, req: Request, res: Response): Promise<void> {
  demandNoQuery(req);
  const body = bodyAs(req, inlineRunBody);
  const { organizationId, id } = principalOf(req);
  if (body.organizationId !== undefined && body.organizationId !== organizationId) throw notYours();
  const document = body.definition ?? {
    workflowConfig: body.workflowConfig ?? {},
    stepsConfig: body.stepsConfig ?? [],
  };
  const checked = await checkDocument(gateway, organizationId, document, {
    inline: true,
    persons: id !== undefined,
    ...(await toolsFor(gateway, organizationId, document)),
    ...defined({ dialect: body.dialect }),
  });
  const given = body.input === undefined ? {} : body.input;
  if (body.dryRun === true) {
    await answerDryRun(gateway, res, checked, { input: given, presets: body.presets ?? {}, organizationId });
    return;
  }
  const { definition, hash } = demandValid(checked);
  demandPresets(definition, body.presets ?? {});
  const input = acceptedInput(definition, given, '/input');
  const initiator = id ?? body.triggeredBy;
  const { presets, timeoutMs } = body;
  // The audit records the secrets that are stored. A run records its start itself.
  const started = await startRun(unaudited(gateway.access), organizationId, {
    workflows: [definition.slug],
    ...startKeysOf(req, body, 'inline'),
    looksFirst: true,
    trigger: { type: 'inline', ...metadataOf(body.triggeredBy, body.triggerData) },
    ...defined({ initiator }),
    prepare: async () => {
      await storing(gateway, organizationId, hash, checked.secrets)();
      return { definition, hash, input, inline: true, ...defined({ presets, timeoutMs }) };
    },
  });
  answerStarted(res, started);
}

/** Of which organization a run is, the key says alone. */
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
