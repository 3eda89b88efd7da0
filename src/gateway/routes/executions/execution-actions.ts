/** What callers do to a run: approve, submit, send messages, cancel, terminate, retry, fork (ARCHITECTURE.md §5). */
import { ulid } from 'ulid';
import { z } from 'zod';
import { hasCode } from '../../../client/errors.ts';
import { forkRun } from '../../../client/runs/fork.ts';
import { withAnswer } from '../../../client/runs/question.ts';
import { retryRun } from '../../../client/runs/retry.ts';
import {
  cancelRun,
  decide,
  decisionEffectOf,
  sendMessage,
  submit,
  terminateRun,
} from '../../../client/runs/run-actions.ts';
import { readRun } from '../../../client/runs/run-read.ts';
import type { Role } from '../../../contract/organization/organization.ts';
import { isCallbackName } from '../../../contract/run/callbacks.ts';
import type { RoleClaims } from '../../../contract/run/run.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { decided, ended, forked, messageSent, submitted } from '../../answers/executions.ts';
import { jsonBody } from '../../http/body.ts';
import { idempotentId, mayAlreadyBeApplied } from '../../http/idempotency-key.ts';
import type { Principal } from '../../http/principal.ts';
import { ok, type Route, route } from '../../http/route.ts';
import { emptyBody, jsonOf, rawBodyOf } from '../../http/route-body.ts';
import {
  RUN_LOCATION,
  resultMember,
  resultWaitQuery,
  START_PROBLEMS,
  startedAnswer,
  startKeyOf,
} from '../../input/starts.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { type ProblemCode, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { anyJson, nameText, pathName } from '../../validation/validation.ts';

const text = z.string().max(10_000);
const step = nameText(300).describe('A slug with one open visit, or a path. Optional if exactly one visit matches.');

const approveBody = z.strictObject({
  approve: z.boolean().describe('true approves, false rejects.'),
  step: step.optional(),
  resumeToken: nameText(200).optional().describe('Names the approval, as waitingFor of the run shows it.'),
  comments: text.optional().describe('Shown in the trace, and returned as `comments` of the output.'),
  data: anyJson.optional().describe("The values of the approval's form."),
});
const submitBody = z.strictObject({ data: anyJson.describe('The submitted value.'), step: step.optional() });
const reasonBody = z.strictObject({ reason: text.optional().describe("Shown in the run's error.") });

const values = z.record(nameText(200), anyJson);
const forkBody = z.strictObject({
  from: nameText(300)
    .optional()
    .describe('The path of a visit, or the slug of a step that was visited once. Default: the first visit of the run.'),
  edits: z
    .strictObject({
      input: anyJson.optional().describe('The new input.'),
      variables: values.optional().describe('By name.'),
      state: values.optional().describe('By key.'),
      outputs: values.optional().describe('By `outputVariable`.'),
      steps: values.optional().describe('Data of outputs, by the slug of their step.'),
    })
    .optional()
    .describe('Changes to the state: given members are set, others stay.'),
  version: nameText(100).optional().describe('A hash or a number. Default: the definition that the run had.'),
});

const params = { id: pathName };
const RUN_PROBLEMS: readonly ProblemCode[] = [...WRITE_PROBLEMS, 'not_found', 'closed'];
const STEP_PROBLEMS: readonly ProblemCode[] = [
  ...RUN_PROBLEMS,
  'no_such_step',
  'ambiguous_step',
  'not_waiting',
  'invalid_submission',
  'invalid_signal',
  'payload_too_large',
];

export const executionActionRoutes = [
  route({
    method: 'POST',
    path: '/api/executions/:id/approve',
    role: 'approver',
    id: 'decide',
    summary: 'Decides an approval.',
    description:
      'The only open approval of the run, or the one that `step` names. Where several have to approve it is a ' +
      'vote. Whoever is not among the approvers, has voted already or has started the run is refused. With ' +
      '`wait` the answer has the end of the run, if it comes in time.',
    params,
    query: resultWaitQuery,
    body: jsonOf(approveBody),
    answers: { 200: { text: 'Taken.', schema: decided } },
    problems: [...STEP_PROBLEMS, 'already_decided', 'already_voted', 'needs_override', 'resume_token_mismatch'],
    handle: async ({ params: { id }, query: { wait }, body: { approve, ...rest }, ...call }) => {
      const { access, principal, req } = call;
      const decision = approve ? ('approved' as const) : ('rejected' as const);
      const { path, recorded, votes } = await decide(access, principal.organizationId, id, {
        decision,
        ...omitUndefined(rest),
        ...personOf(principal),
        ...omitUndefined({ key: idempotentId(req) }),
      }).catch(async (refusal: unknown) => {
        throw await withAnswer(access, id, rest.step, refusal);
      });
      const { comments } = rest;
      const effect =
        recorded === undefined ? await decisionEffectOf(access, id, path) : { recorded, ...omitUndefined({ votes }) };
      // After a vote the run waits for other people.
      const end = await resultMember(call, id, effect?.recorded === 'vote' ? 0 : wait);
      return ok({ executionId: id, path, decision, ...effect, ...omitUndefined({ comments }), ...end });
    },
  }),
  route({
    method: 'POST',
    path: '/api/executions/:id/submit',
    role: 'runner',
    id: 'submit',
    summary: 'Answers a user_input.',
    description:
      'Of the only open step, or of the one that `step` names. The data is checked against the form of the ' +
      'step, and only its assignees may answer. With `wait` the answer has the end of the run, if it comes in ' +
      'time.',
    params,
    query: resultWaitQuery,
    body: jsonOf(submitBody),
    answers: { 200: { text: 'Taken.', schema: submitted } },
    problems: STEP_PROBLEMS,
    handle: async ({ params: { id }, query: { wait }, body, ...call }) => {
      const { access, principal, req } = call;
      const { path } = await submit(access, principal.organizationId, id, {
        data: body.data,
        ...personOf(principal),
        ...omitUndefined({ step: body.step, key: idempotentId(req) }),
      }).catch(async (refusal: unknown) => {
        throw await withAnswer(access, id, body.step, refusal);
      });
      return ok({ executionId: id, path, ...(await resultMember(call, id, wait)) });
    },
  }),
  route({
    method: 'POST',
    path: '/api/executions/:id/messages/:name',
    role: 'runner',
    isAudited: false,
    id: 'sendMessage',
    summary: 'Sends a message to listen steps. A message that arrives early is kept.',
    description:
      'The body is the payload: any JSON, or none. A message with an `Idempotency-Key` is delivered once, ' +
      'however often it is sent.',
    params: { ...params, name: nameText(200) },
    body: rawBodyOf(anyJson, { isOptional: true }),
    answers: { 202: { text: 'Sent.', schema: messageSent } },
    problems: [...RUN_PROBLEMS, 'inbox_overflow', 'payload_too_large'],
    handle: async ({ access, principal, req, params: { id, name } }) => {
      if (isCallbackName(name))
        throw new HttpProblem(
          'invalid_name',
          'Messages of that name are callbacks: call the URL that the run gave out.',
        );
      // A message with an id is delivered once, even if it is sent twice.
      const messageId = idempotentId(req) ?? ulid();
      const payload = jsonBody(req) ?? null;
      await sendMessage(access, principal.organizationId, id, { name, payload, id: messageId });
      return { status: 202, body: { executionId: id, name, messageId } };
    },
  }),
  endRoute(cancelRun, {
    path: '/api/executions/:id/cancel',
    role: 'runner',
    id: 'cancelExecution',
    summary: 'Cancels a run and all of its open steps.',
    description:
      'It is a request: the run ends once its open steps have ended. A run that has ended is refused (`closed`).',
    text: 'Requested.',
  }),
  endRoute(terminateRun, {
    path: '/api/executions/:id/terminate',
    // Nothing is rolled back.
    role: 'editor',
    id: 'terminateExecution',
    summary: 'Ends a run immediately; nothing is rolled back.',
    description:
      'For runs that a cancellation does not end. It can be retried. A run that has ended is refused (`closed`).',
    text: 'Done.',
  }),
  route({
    method: 'POST',
    path: '/api/executions/:id/retry',
    role: 'runner',
    id: 'retryExecution',
    summary: 'Continues a failed run from its failed steps.',
    description:
      'Under the same id and the same idempotency keys: failed steps run again, finished steps stay. Also for ' +
      'runs that were terminated or timed out.',
    params,
    body: emptyBody(),
    answers: { 202: { text: 'The run continues.', schema: ended } },
    problems: [
      ...WRITE_PROBLEMS,
      'not_found',
      'not_failed',
      'rolled_back',
      'not_retryable',
      'version_not_found',
      'payload_too_large',
      'limit_reached',
      'queue_full',
    ],
    handle: async ({ access, principal: { organizationId }, req, params: { id } }) => {
      const { executionId, status } = await retryRun(access, organizationId, id, idempotentId(req));
      return { status: 202, body: { executionId, status } };
    },
  }),
  route({
    method: 'POST',
    path: '/api/executions/:id/fork',
    role: 'editor',
    idempotency: 'id',
    id: 'forkExecution',
    summary: 'Starts a new run from a visit of a run that has ended.',
    description:
      'With the outputs, variables and state of that moment, edited; parallel branches that had finished stay ' +
      'finished, and steps that waited wait again.',
    params,
    body: jsonOf(forkBody, { isOptional: true }),
    answers: {
      201: { text: 'Started.', schema: forked, headers: RUN_LOCATION },
      200: { text: 'The run that the same request started before.', schema: forked, headers: RUN_LOCATION },
    },
    problems: [
      ...START_PROBLEMS,
      'not_found',
      'still_open',
      'no_such_step',
      'ambiguous_step',
      'place_gone',
      'not_retryable',
      'workflow_not_found',
      'version_not_found',
    ],
    handle: async ({ access, principal, req, params: { id }, body }) => {
      const { from, version, edits = {} } = body;
      const started = await forkRun(access, principal.organizationId, id, {
        edits: omitUndefined(edits),
        ...(await startKeyOf(req, body, `fork ${id}`, 'request')),
        ...omitUndefined({ from, version, initiator: principal.id }),
      });
      return startedAnswer(started);
    },
  }),
];

function endRoute<const Path extends string>(
  end: typeof cancelRun,
  {
    text,
    ...head
  }: Pick<Route, 'id' | 'summary' | 'description'> & {
    readonly path: Path;
    readonly role: Role;
    readonly text: string;
  },
) {
  return route({
    ...head,
    method: 'POST',
    params,
    body: jsonOf(reasonBody, { isOptional: true }),
    answers: { 202: { text, schema: ended } },
    problems: RUN_PROBLEMS,
    handle: async ({ access, principal: { organizationId, id: by }, req, params: { id }, body: { reason } }) => {
      await end(access, organizationId, id, omitUndefined({ reason, by })).catch((error: unknown) => {
        // A gateway that handled the request before may have ended the run and died before it answered.
        if (!mayAlreadyBeApplied(req) || !hasCode(error, 'closed')) throw error;
      });
      const { status } = await readRun(access, organizationId, id, new Set(['input', 'output']));
      return { status: 202, body: { executionId: id, status } };
    },
  });
}

/** The caller with roles and groups; empty while the gateway has no keys. */
const personOf = ({ id, roles, groups, names }: Principal): { by?: string; as?: RoleClaims } =>
  id === undefined ? {} : { by: id, as: { roles, groups, names } };
