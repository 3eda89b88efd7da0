/** Starts of stored workflows by alloy: the public trigger, the private one, and the run of an organization. */

import type { Request } from 'express';
import { z } from 'zod';
import { organizationOfPublicKey, readPublicKey, renewPublicKey } from '../../../client/organization/public-key.ts';
import { bodyParts } from '../../../client/starts/prepare-run.ts';
import { type StartRequest, startRun } from '../../../client/starts/start.ts';
import type { StartedRun } from '../../../client/starts/start-prepared-run.ts';
import type { RunOrigin } from '../../../contract/run/run.ts';
import { anything } from '../../../gateway/answers/named.ts';
import { keyInitiatorOf } from '../../../gateway/http/auth.ts';
import { isUtf8, jsonBody, mediaOf, rawBody } from '../../../gateway/http/body.ts';
import type { Gateway } from '../../../gateway/http/context.ts';
import { idempotencyKeyOf } from '../../../gateway/http/idempotency-key.ts';
import { demandOrganization } from '../../../gateway/http/principal.ts';
import { createdOrOk, ok, route } from '../../../gateway/http/route.ts';
import { jsonOf, rawBodyOf } from '../../../gateway/http/route-body.ts';
import { formBodyFields } from '../../../gateway/input/form-fields.ts';
import { stateField } from '../../../gateway/input/start-fields.ts';
import { fingerprintOf, RUN_LOCATION, runAddress, START_PROBLEMS } from '../../../gateway/input/starts.ts';
import { HttpProblem } from '../../../gateway/validation/http-problem.ts';
import { decodeText } from '../../../gateway/validation/json-guard.ts';
import { type ProblemCode, WRITE_PROBLEMS } from '../../../gateway/validation/problem-codes.ts';
import { anyJson, nameText, pathName, slugText } from '../../../gateway/validation/validation.ts';
import type { Json } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';

/** Facts about a run in alloy, under its names. */
const orgRunBody = z.strictObject({
  payload: anyJson.optional().describe("The run's input. Default: {}."),
  state: stateField,
  conversation_id: nameText(200).optional().describe('The conversation of the run, shown in lists.'),
  channel: nameText(200).optional().describe('The channel of the run, shown in lists.'),
  ai_employee_id: nameText(200).optional().describe('The AI employee of the run, shown in lists.'),
  conversation_title: nameText(200).optional().describe('For people.'),
});

const started = z.object({
  success: z.literal(true),
  data: z.object({ run_id: z.string(), workflow_id: z.string(), executionId: z.string(), status: z.string() }),
});
const debounced = z.object({
  success: z.literal(true),
  data: z.object({ debounced: z.literal(true), until: z.iso.datetime() }),
});
const publicKey = z.object({
  publicApiKey: z.string(),
  url: z.string().describe('The URL that starts a workflow. Replace {workflowId} by its slug.'),
});
const ANSWERS = {
  201: { text: 'Started.', schema: started, headers: RUN_LOCATION },
  200: { text: 'The run that the same request started before.', schema: started },
};
const PAYLOAD = {
  isOptional: true,
  media: ['application/json', 'application/x-www-form-urlencoded', 'text/plain'],
} as const;
const PROBLEMS: readonly ProblemCode[] = [...START_PROBLEMS, 'not_found', 'workflow_not_found', 'version_not_found'];

export const publicTriggerRoutes = [
  route({
    method: 'POST',
    path: '/api/public/trigger/:publicApiKey/:workflowId',
    role: 'public',
    idempotency: 'id',
    id: 'triggerPublicly',
    summary: 'Starts a run without an API key: the body is the payload.',
    description:
      'The workflow must have `publicStart: true` in its config. If the request also has an API key, its holder ' +
      'is the initiator. ' +
      'If the definition debounces, payloads of one key within its time start one run, with the last payload.',
    params: { publicApiKey: pathName, workflowId: slugText },
    body: rawBodyOf(anything, { ...PAYLOAD, isReadLate: true }),
    answers: { ...ANSWERS, 202: { text: 'Delayed by debouncing.', schema: debounced } },
    problems: [...PROBLEMS, 'public_key_invalid', 'public_start_not_allowed', 'request_in_flight'],
    handle: async ({ params: { publicApiKey, workflowId: workflow }, ...incoming }) => {
      const { gateway, access, req } = incoming;
      const org = await organizationOfPublicKey(access, publicApiKey);
      if (org === undefined)
        throw new HttpProblem(
          'public_key_invalid',
          'The key in the address is none, or no longer one. Ask for the present one.',
        );
      await incoming.takeBody(org);
      const body = payloadOf(req);
      const triggerUrl = `${gateway.publicUrl()}/api/public/trigger/…/${workflow}`;
      const start = await startOf(req, `public ${workflow}`, body, { triggerUrl }, await keyInitiatorOf(incoming, org));
      const found = await startRun(access, org, {
        ...start,
        debounces: true,
        run: { definitionRef: { workflow }, parts: bodyParts(body), isPublic: true },
      });
      if (found.outcome === 'debounced')
        return {
          status: 202,
          body: { success: true as const, data: { debounced: true as const, until: found.until } },
        };
      return startedForAlloy(workflow, found);
    },
  }),
  route({
    method: 'POST',
    path: '/api/private/trigger/:workflowId',
    role: 'runner',
    idempotency: 'id',
    isAudited: false,
    id: 'triggerPrivately',
    summary: 'Starts a run: the body is the payload.',
    description:
      'As the public start, with an API key in place of the public key, and of any workflow of the ' + 'organization.',
    params: { workflowId: slugText },
    body: rawBodyOf(anything, PAYLOAD),
    answers: ANSWERS,
    problems: PROBLEMS,
    handle: async ({ gateway, access, principal, req, params: { workflowId: workflow } }) => {
      const { organizationId, id } = principal;
      const body = payloadOf(req);
      const triggerUrl = `${gateway.publicUrl()}/api/private/trigger/${workflow}`;
      const start = await startOf(req, `private ${workflow}`, body, { triggerUrl }, id);
      const found = await startRun(access, organizationId, {
        ...start,
        run: { definitionRef: { workflow }, parts: bodyParts(body) },
      });
      return startedForAlloy(workflow, found);
    },
  }),
  route({
    method: 'POST',
    path: '/api/organizations/:org/workflows/:slug/runs',
    role: 'runner',
    idempotency: 'id',
    isAudited: false,
    id: 'runWorkflowOfOrganization',
    summary: 'Starts a run with a payload and a state.',
    description: "In the form of alloy (004). The organization in the address is the caller's own; any other is 404.",
    params: { org: nameText(200), slug: slugText },
    body: jsonOf(orgRunBody, { isOptional: true }),
    answers: ANSWERS,
    problems: PROBLEMS,
    handle: async ({ access, req, params: { org, slug: workflow }, body }) => {
      const { organizationId, id } = demandOrganization(req, org);
      const { payload = {}, state } = body;
      const start = await startOf(req, `manual ${workflow}`, body as Json, originOf(body), id);
      const found = await startRun(access, organizationId, {
        ...start,
        run: { definitionRef: { workflow }, parts: bodyParts(payload), at: '/payload', ...omitUndefined({ state }) },
      });
      return startedForAlloy(workflow, found);
    },
  }),
  route({
    method: 'GET',
    path: '/api/public-key',
    // Editors only: a run started with the public key does not record who started it.
    role: 'editor',
    id: 'getPublicKey',
    summary: "Returns the organization's public key, which starts workflows with publicStart without an API key.",
    description: 'Pages and apps may hold it, since it starts only workflows whose config has `publicStart: true`.',
    answers: { 200: { text: 'The key.', schema: publicKey } },
    handle: async ({ gateway, access, principal: { organizationId } }) =>
      ok(shownKey(gateway, await readPublicKey(access, organizationId))),
  }),
  route({
    method: 'POST',
    path: '/api/public-key',
    role: 'admin',
    id: 'renewPublicKey',
    summary: 'Makes a new public key, which replaces the former one.',
    description: 'For a key that was misused. Starts with the former key are refused from then on.',
    answers: { 201: { text: 'The new key.', schema: publicKey } },
    problems: [...WRITE_PROBLEMS, 'too_large', 'too_many'],
    handle: async ({ gateway, access, principal: { organizationId } }) => ({
      status: 201,
      body: shownKey(gateway, await renewPublicKey(access, organizationId)),
    }),
  }),
];

/** The whole body as alloy accepts it: JSON, the fields of a form, or plain text. */
function payloadOf(req: Request): Json {
  const bytes = rawBody(req);
  if (bytes.length === 0) return {};
  const media = mediaOf(req);
  if (media === 'form') return formBodyFields(req);
  const type = req.get('content-type') ?? 'text/plain';
  if (media === undefined && /^text\//i.test(type) && isUtf8(type)) return decodeText(bytes);
  const body = jsonBody(req);
  return body === undefined ? {} : body;
}

const shownKey = (gateway: Gateway, publicApiKey: string) => ({
  publicApiKey,
  url: `${gateway.publicUrl()}/api/public/trigger/${publicApiKey}/{workflowId}`,
});

async function startOf(
  req: Request,
  scope: string,
  content: Json,
  origin: RunOrigin,
  initiator?: string,
): Promise<Omit<StartRequest, 'run'>> {
  const key = idempotencyKeyOf(req);
  const caller = initiator === undefined ? scope : `${scope} ${initiator}`;
  return {
    trigger: { type: 'manual', metadata: { via: scope.split(' ')[0] ?? scope } },
    origin,
    ...omitUndefined({ initiator }),
    ...(key === undefined
      ? {}
      : { key: { as: 'id', scope: caller, key, fingerprint: await fingerprintOf({ content }) } }),
  };
}

function originOf(body: z.infer<typeof orgRunBody>): RunOrigin {
  const { conversation_id, channel, ai_employee_id, conversation_title } = body;
  return omitUndefined({
    conversationId: conversation_id,
    channel,
    employeeId: ai_employee_id,
    conversationTitle: conversation_title,
  });
}

/** An answer in alloy's envelope. */
function startedForAlloy(workflow: string, { executionId, status, outcome }: StartedRun) {
  const data = { run_id: executionId, workflow_id: workflow, executionId, status };
  return createdOrOk(outcome === 'started', { success: true as const, data }, { location: runAddress(executionId) });
}
