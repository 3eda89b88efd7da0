/** `POST /api/triggers/manual/run`: a run of a stored workflow, once for each request id. */

import { z } from 'zod';
import { bodyParts } from '../../../client/starts/prepare-run.ts';
import { startRun } from '../../../client/starts/start.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { demandRole } from '../../http/principal.ts';
import { route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import {
  clientRequestIdField,
  givenInput,
  INPUT_OR_VARIABLES,
  presetsField,
  stateField,
  variablesField,
} from '../../input/start-fields.ts';
import { AWAITED_START_ANSWERS, awaitedAnswer, awaitedQuery, START_PROBLEMS, startKeyOf } from '../../input/starts.ts';
import { anyJson, nameText, slugText, timeoutMsField } from '../../validation/validation.ts';

const manualRunBody = z
  .strictObject({
    workflowId: slugText.describe('The slug of the workflow.'),
    version: nameText(100)
      .optional()
      .describe('The hash or the number of a version from its history. Default: the current one.'),
    input: anyJson.optional().describe("The run's input. Default: {}."),
    variables: variablesField,
    state: stateField,
    timeoutMs: timeoutMsField,
    clientRequestId: clientRequestIdField,
    presets: presetsField,
  })
  .refine(...INPUT_OR_VARIABLES);

export const manualRunRoutes = [
  route({
    method: 'POST',
    path: '/api/triggers/manual/run',
    role: 'runner',
    idempotency: 'id',
    isAudited: false,
    id: 'runWorkflow',
    summary: 'Starts a run of a stored definition.',
    description: '`clientRequestId` works like the header Idempotency-Key.',
    query: awaitedQuery,
    body: jsonOf(manualRunBody),
    answers: AWAITED_START_ANSWERS,
    problems: [
      ...START_PROBLEMS,
      'unknown_preset',
      'invalid_preset',
      'not_found',
      'version_missing',
      'workflow_not_found',
      'version_not_found',
    ],
    handle: async ({ query: { wait }, body, ...call }) => {
      const { access, req } = call;
      const { workflowId: workflow, version, presets, state, timeoutMs } = body;
      // Presets replace the results of steps.
      const { organizationId, id } = demandRole(req, presets === undefined ? 'runner' : 'editor');
      const [at, input] = givenInput(body);
      const started = await startRun(access, organizationId, {
        ...(await startKeyOf(req, body, 'manual', 'address')),
        trigger: { type: 'manual' },
        ...omitUndefined({ initiator: id }),
        run: {
          definitionRef: version === undefined ? { workflow, as: 'shown' } : { workflow, version },
          parts: bodyParts(input),
          at,
          ...omitUndefined({ presets, state, timeoutMs }),
        },
      });
      return await awaitedAnswer(call, started, wait);
    },
  }),
];
