/** Operations on runs, for the OpenAPI document. */
import { approvalListQuery } from './approvals.ts';
import { bulkBody } from './bulk.ts';
import { anyJson, nameText, pathName } from './door.ts';
import { eventsQuery } from './events-stream.ts';
import { approveBody, forkBody, nothing, reasonBody, submitBody } from './execution-actions.ts';
import { runListQuery } from './execution-list.ts';
import { executionQuery, resultQuery, stepsQuery } from './executions.ts';
import { inlineRunBody } from './inline-run.ts';
import { manualRunBody } from './manual-run.ts';
import * as answers from './openapi-answers.ts';
import { LIST_PROBLEMS, type Operation, REQUEST_KEY, WRITE_PROBLEMS } from './openapi-operation.ts';
import type { ProblemCode } from './problem-codes.ts';

const id = { id: pathName };
const LOCATION = { Location: 'The address of the run.' };
const STARTED: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'invalid_input',
  'idempotency_conflict',
  'limit_reached',
  'queue_full',
  'payload_too_large',
  'workflow_disabled',
];
const ADDRESSED: readonly ProblemCode[] = [...WRITE_PROBLEMS, 'not_found', 'closed'];
const STEP: readonly ProblemCode[] = [
  ...ADDRESSED,
  'no_such_step',
  'ambiguous_step',
  'not_waiting',
  'invalid_submission',
  'invalid_signal',
  'payload_too_large',
];

export const executionOperations: readonly Operation[] = [
  {
    method: 'POST',
    path: '/api/triggers/manual/run',
    id: 'runWorkflow',
    tag: 'executions',
    summary: 'Starts a run of a stored definition.',
    description: '`clientRequestId` does what the header Idempotency-Key does.',
    headers: REQUEST_KEY,
    body: { schema: manualRunBody },
    answers: {
      201: { text: 'Started.', schema: answers.started, headers: LOCATION },
      200: { text: 'The run that the same request had started.', schema: answers.started, headers: LOCATION },
    },
    problems: [...STARTED, 'unknown_preset', 'not_found', 'version_missing'],
  },
  {
    method: 'POST',
    path: '/api/executions',
    id: 'runInline',
    tag: 'executions',
    summary: 'Starts a run of a definition that is not stored; with `dryRun` walks it without any effect.',
    headers: REQUEST_KEY,
    body: { schema: inlineRunBody },
    answers: {
      201: { text: 'Started.', schema: answers.started, headers: LOCATION },
      200: {
        text: 'The run that the same request had started; or what the dry run came to.',
        schema: answers.startedOrDryRun,
      },
    },
    problems: [...STARTED, 'unknown_preset', 'invalid_definition', 'too_many', 'too_large'],
  },
  {
    method: 'GET',
    path: '/api/executions',
    id: 'listExecutions',
    tag: 'executions',
    summary: 'Lists runs.',
    description:
      'Open ones come first, the latest start first; then those that have ended, the latest end first. Lists may lag behind by a second; reading one by its id does not. Each execution is listed once, as it is now; a page may hold fewer than `limit` where executions were retried, and `nextCursor` tells whether more follow.',
    query: runListQuery,
    answers: { 200: { text: 'A page of runs.', schema: answers.executionPage } },
    problems: LIST_PROBLEMS,
  },
  {
    method: 'POST',
    path: '/api/executions/bulk',
    id: 'runBulk',
    tag: 'executions',
    summary: 'Cancels, terminates or retries all runs of a filter; with `preview` says how many they are.',
    headers: REQUEST_KEY,
    body: { schema: bulkBody },
    answers: {
      202: { text: 'Begun.', schema: answers.bulkOperation, headers: { Location: 'The address of the operation.' } },
      200: { text: 'The preview.', schema: answers.bulkCount },
    },
    problems: [...WRITE_PROBLEMS, 'invalid_query', 'bulk_busy'],
  },
  {
    method: 'GET',
    path: '/api/executions/bulk/:operation',
    id: 'getBulk',
    tag: 'executions',
    summary: 'How far a bulk operation has come.',
    parameters: { operation: pathName },
    answers: { 200: { text: 'The operation.', schema: answers.bulkOperation } },
    problems: ['not_found'],
  },
  {
    method: 'GET',
    path: '/api/executions/:id',
    id: 'getExecution',
    tag: 'executions',
    summary: 'Reads a run.',
    parameters: id,
    query: executionQuery,
    answers: { 200: { text: 'The run.', schema: answers.execution } },
    problems: ['not_found'],
  },
  {
    method: 'GET',
    path: '/api/executions/:id/steps',
    id: 'listSteps',
    tag: 'executions',
    summary: 'Lists the visits of steps, in order of start.',
    description:
      'With `status` or `step` a page may be short, or empty, and have a `nextCursor` all the same: the next one goes on. `total` counts all visits.',
    parameters: id,
    query: stepsQuery,
    answers: { 200: { text: 'A page of visits.', schema: answers.stepPage } },
    problems: [...LIST_PROBLEMS, 'not_found'],
  },
  {
    method: 'GET',
    path: '/api/executions/:id/events',
    id: 'followExecution',
    tag: 'executions',
    summary: 'Follows a run, as Server-Sent Events.',
    description:
      '`step` when a visit begins or ends, `status` when the run begins to wait or goes on, `end` with the result; then the stream ends. From the beginning, or after Last-Event-ID. With names=002: execution.started, step.started, step.completed, step.failed, step.cancelled, approval.required, approval.approved, approval.denied, execution.resumed, execution.finished, and status for other changes.',
    parameters: id,
    query: eventsQuery,
    headers: { 'Last-Event-ID': 'The last event that was seen.' },
    answers: {
      200: { text: 'The events.', schema: answers.page, media: ['text/event-stream'] },
      204: { text: 'The run has ended, and everything was seen.' },
    },
    problems: ['not_found', 'invalid_cursor', 'too_many_streams'],
  },
  {
    method: 'GET',
    path: '/api/executions/:id/result',
    id: 'getResult',
    tag: 'executions',
    summary: "Answers the run's result, and waits for it up to `wait` seconds.",
    parameters: id,
    query: resultQuery,
    answers: {
      200: { text: 'The run has ended.', schema: answers.result },
      202: { text: 'It has not.', schema: answers.noResult },
    },
    problems: ['not_found'],
  },
  {
    method: 'POST',
    path: '/api/executions/:id/approve',
    id: 'decide',
    tag: 'executions',
    summary: 'Decides an approval.',
    parameters: id,
    headers: REQUEST_KEY,
    body: { schema: approveBody },
    answers: { 200: { text: 'Taken.', schema: answers.decided } },
    problems: [...STEP, 'already_decided', 'already_voted', 'needs_override', 'resume_token_mismatch'],
  },
  {
    method: 'POST',
    path: '/api/executions/:id/submit',
    id: 'submit',
    tag: 'executions',
    summary: 'Answers a user_input.',
    parameters: id,
    headers: REQUEST_KEY,
    body: { schema: submitBody },
    answers: { 200: { text: 'Taken.', schema: answers.submitted } },
    problems: STEP,
  },
  {
    method: 'POST',
    path: '/api/executions/:id/messages/:name',
    id: 'sendMessage',
    tag: 'executions',
    summary: 'Sends a message, for listen steps; one that comes early is kept.',
    parameters: { ...id, name: nameText(200) },
    headers: REQUEST_KEY,
    body: { schema: anyJson, isOptional: true },
    answers: { 202: { text: 'Sent.', schema: answers.messageSent } },
    problems: [...ADDRESSED, 'inbox_overflow', 'payload_too_large'],
  },
  {
    method: 'POST',
    path: '/api/executions/:id/cancel',
    id: 'cancelExecution',
    tag: 'executions',
    summary: 'Cancels a run; what it opened is cancelled with it.',
    parameters: id,
    body: { schema: reasonBody, isOptional: true },
    answers: { 202: { text: 'Asked for.', schema: answers.ended } },
    problems: ADDRESSED,
  },
  {
    method: 'POST',
    path: '/api/executions/:id/terminate',
    id: 'terminateExecution',
    tag: 'executions',
    summary: 'Ends a run at once: nothing is rolled back.',
    parameters: id,
    body: { schema: reasonBody, isOptional: true },
    answers: { 202: { text: 'Done.', schema: answers.ended } },
    problems: ADDRESSED,
  },
  {
    method: 'POST',
    path: '/api/executions/:id/retry',
    id: 'retryExecution',
    tag: 'executions',
    summary: 'Lets a failed run go on from where it failed.',
    description:
      'Under the same id, with the same idempotency keys: what failed runs again, what had ended stays. Also for runs that were terminated or timed out.',
    parameters: id,
    body: { schema: nothing, isOptional: true },
    answers: { 202: { text: 'It goes on.', schema: answers.ended } },
    problems: [
      ...WRITE_PROBLEMS,
      'not_found',
      'not_failed',
      'rolled_back',
      'not_retryable',
      'payload_too_large',
      'limit_reached',
      'queue_full',
    ],
  },
  {
    method: 'POST',
    path: '/api/executions/:id/fork',
    id: 'forkExecution',
    tag: 'executions',
    summary: 'Starts a new run from a visit of one that has ended.',
    description:
      'With the outputs, variables and state of that moment, edited; branches beside it that had finished stay finished, and what waited waits anew.',
    parameters: id,
    headers: REQUEST_KEY,
    body: { schema: forkBody },
    answers: {
      201: { text: 'Started.', schema: answers.forked, headers: LOCATION },
      200: { text: 'The run that the same request had started.', schema: answers.forked, headers: LOCATION },
    },
    problems: [
      ...STARTED,
      'not_found',
      'still_open',
      'no_such_step',
      'ambiguous_step',
      'place_gone',
      'not_retryable',
      'workflow_not_found',
      'version_not_found',
    ],
  },
  {
    method: 'GET',
    path: '/api/approvals',
    id: 'listApprovals',
    tag: 'executions',
    summary: 'Lists what waits for people.',
    description:
      'By person, role, group, resource, priority, workflow or run. Decided approvals are not listed: they stand in the steps of their run.',
    query: approvalListQuery,
    answers: { 200: { text: 'A page of approvals.', schema: answers.approvalPage } },
    problems: LIST_PROBLEMS,
  },
];
