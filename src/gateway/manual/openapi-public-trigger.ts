/** Operations of document 004 that start runs, for the OpenAPI document. */
import { z } from 'zod';
import * as answers from '../answers/answers.ts';
import { orgRunBody } from '../routes/triggers/public-trigger.ts';
import type { ProblemCode } from '../validation/problem-codes.ts';
import { nameText, slugText } from '../validation/validation.ts';
import { type Operation, type OperationAnswer, REQUEST_KEY, WRITE_PROBLEMS } from './openapi-operation.ts';

const text = z.string();
const started = z.object({
  success: z.literal(true),
  data: z.object({ run_id: text, workflow_id: text, executionId: text, status: text }),
});
const debounced = z.object({
  success: z.literal(true),
  data: z.object({ debounced: z.literal(true), until: z.iso.datetime() }),
});
const publicKey = z.object({
  publicApiKey: text,
  url: text.describe('What a workflow is started by; the slug takes the place of {workflowId}.'),
});
const STARTED: { readonly [status: number]: OperationAnswer } = {
  201: { text: 'Started.', schema: started, headers: { Location: 'The address of the run.' } },
  200: { text: 'The run that the same request had started.', schema: started },
};
const PAYLOAD = {
  schema: answers.anything,
  isOptional: true,
  media: ['application/json', 'application/x-www-form-urlencoded', 'text/plain'],
} as const;
const PROBLEMS: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'not_found',
  'workflow_not_found',
  'workflow_disabled',
  'version_not_found',
  'invalid_input',
  'idempotency_conflict',
  'payload_too_large',
  'limit_reached',
  'queue_full',
];

export const publicTriggerOperations: readonly Operation[] = [
  {
    method: 'POST',
    path: '/api/public/trigger/:publicApiKey/:workflowId',
    id: 'triggerPublicly',
    tag: 'triggers',
    summary: 'Starts a run for strangers: the body is the payload.',
    description:
      'The workflow must say `publicStart: true` in its config. Who shows an API key as well counts as the initiator. ' +
      'Where the definition debounces, payloads of one key within its time start one run, with the last of them.',
    parameters: { publicApiKey: nameText(1_000), workflowId: slugText },
    headers: REQUEST_KEY,
    body: PAYLOAD,
    answers: { ...STARTED, 202: { text: 'Put off, since more may come.', schema: debounced } },
    problems: [...PROBLEMS, 'public_key_invalid', 'public_start_not_allowed', 'request_in_flight'],
  },
  {
    method: 'POST',
    path: '/api/private/trigger/:workflowId',
    id: 'triggerPrivately',
    tag: 'triggers',
    summary: 'Starts a run at once: the body is the payload.',
    parameters: { workflowId: slugText },
    headers: REQUEST_KEY,
    body: PAYLOAD,
    answers: STARTED,
    problems: PROBLEMS,
  },
  {
    method: 'POST',
    path: '/api/organizations/:org/workflows/:slug/runs',
    id: 'runWorkflowOfOrganization',
    tag: 'triggers',
    summary: 'Starts a run with a payload and a state.',
    parameters: { org: nameText(200), slug: slugText },
    headers: REQUEST_KEY,
    body: { schema: orgRunBody },
    answers: STARTED,
    problems: PROBLEMS,
  },
  {
    method: 'GET',
    path: '/api/public-key',
    id: 'getPublicKey',
    tag: 'triggers',
    summary: "Answers the organization's public key, by which strangers start workflows with publicStart.",
    answers: { 200: { text: 'The key.', schema: publicKey } },
  },
  {
    method: 'POST',
    path: '/api/public-key',
    id: 'renewPublicKey',
    tag: 'triggers',
    summary: 'Makes another public key; the one before no longer counts.',
    answers: { 201: { text: 'The new key.', schema: publicKey } },
    problems: [...WRITE_PROBLEMS, 'too_large', 'too_many'],
  },
];
