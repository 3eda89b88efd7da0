/** `POST /api/triggers/manual/run`: a run of a stored workflow, once for each request id (document 002). */

import { z } from 'zod';
import { acceptedInput, acceptedState, demandPresets } from '../../../client/starts/accepted-input.ts';
import { startRun } from '../../../client/starts/start.ts';
import { recentDefinition } from '../../../client/versions/definition-head.ts';
import { type ResolvedWorkflow, resolveWorkflow } from '../../../client/versions/resolve-workflow.ts';
import { defined } from '../../../json/defined.ts';
import type { Json } from '../../../json/json.ts';
import type { Gateway } from '../../http/context.ts';
import { demandRole } from '../../http/principal.ts';
import { type Route, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { AWAITED, awaitedAnswer, awaitedQuery, START_PROBLEMS, startKeysOf } from '../../http/starts.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { anyJson, nameText, slugText, timeoutMsField } from '../../validation/validation.ts';

const manualRunBody = z
  .strictObject({
    workflowId: slugText.describe('The slug of the workflow.'),
    version: nameText(100)
      .optional()
      .describe('The hash or the number of a version from its history. Default: the current one.'),
    input: anyJson.optional().describe("The run's input. Default: {}."),
    variables: anyJson.optional().describe('Another name of input.'),
    state: z.record(nameText(200), anyJson).optional().describe('Initial values of the declared state.'),
    timeoutMs: timeoutMsField,
    clientRequestId: nameText(200).optional().describe('A request that repeats the id gets the same run.'),
    presets: z
      .record(nameText(64), anyJson)
      .optional()
      .describe(
        'Outputs in place of running steps: slug → data, {data, port?, meta?}, or {error}. Each slug must be a step.',
      ),
  })
  .refine(
    (body) => body.input === undefined || body.variables === undefined,
    'Give `input` or `variables`, not both: they mean the same.',
  );

/** The input under either name. Default: an empty object; null is a value. */
export function givenInput({
  input,
  variables,
}: {
  input?: Json | undefined;
  variables?: Json | undefined;
}): [at: string, input: Json] {
  if (variables !== undefined) return ['/variables', variables];
  return ['/input', input === undefined ? {} : input];
}

export const manualRunRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/triggers/manual/run',
    role: 'runner',
    idempotency: 'id',
    isAudited: false,
    id: 'runWorkflow',
    tag: 'executions',
    summary: 'Starts a run of a stored definition.',
    description: '`clientRequestId` works like the header Idempotency-Key.',
    query: awaitedQuery,
    body: jsonOf(manualRunBody),
    answers: AWAITED,
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
      const { gateway, access, req } = call;
      // Presets replace the results of steps.
      const { organizationId, id } = demandRole(req, body.presets === undefined ? 'runner' : 'editor');
      const { workflowId, version, presets, timeoutMs } = body;
      const started = await startRun(access, organizationId, {
        workflows: [workflowId],
        ...(await startKeysOf(req, body, 'manual')),
        looksFirst: true,
        trigger: { type: 'manual' },
        ...defined({ initiator: id }),
        prepare: async () => {
          const { definition, hash } =
            version === undefined
              ? await demandRunnable(gateway, organizationId, workflowId)
              : await resolveWorkflow(access, organizationId, { workflow: workflowId, version });
          const [at, given] = givenInput(body);
          const input = acceptedInput(definition, given, at);
          demandPresets(definition, presets ?? {});
          const state = acceptedState(definition, body.state ?? {});
          return { definition, hash, input, state, ...defined({ presets, timeoutMs }) };
        },
      });
      return await awaitedAnswer(call, started, wait);
    },
  }),
];

/** The current version. @throws HttpProblem `not_found`, `workflow_disabled`. */
export async function demandRunnable(gateway: Gateway, org: string, slug: string): Promise<ResolvedWorkflow> {
  const found = await recentDefinition(gateway.access, org, slug);
  if (found === undefined) throw new HttpProblem('not_found', `There is no workflow called ${slug}.`);
  if (!found.head.enabled)
    throw new HttpProblem('workflow_disabled', `Workflow ${slug} is disabled. Store it with enabled: true to run it.`);
  return { definition: found.definition, hash: found.head.hash };
}
