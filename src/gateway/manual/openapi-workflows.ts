/** Operations on definitions, secrets and expressions, for the OpenAPI document. */

import * as answers from '../answers/answers.ts';
import { runListQuery } from '../routes/executions/execution-list.ts';
import { workflowListQuery, workflowStoreQuery, workflowWriteQuery } from '../routes/workflows/workflows.ts';
import { evaluateBody } from '../threads/evaluation.ts';
import type { ProblemCode } from '../validation/problem-codes.ts';
import { slugText } from '../validation/validation.ts';
import { LIST_PROBLEMS, type Operation, WRITE_PROBLEMS } from './openapi-operation.ts';

const DOCUMENT = {
  schema: answers.definitionDocument,
  media: ['application/json', 'application/yaml'],
} as const;

const WRITTEN: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'invalid_yaml',
  'invalid_definition',
  'takes_too_long',
  'gateway_busy',
  'hash_mismatch',
  'already_exists',
  'path_taken',
  'path_reserved',
  'path_resting',
  'trigger_exists',
  'payload_too_large',
  'too_many',
  'too_large',
];
const CONDITIONS = {
  'If-Match': 'The hash that the stored definition must have.',
  'If-None-Match': '`*`: nothing may be stored there yet.',
};
const ETAG = { ETag: 'The hash of the definition.' };
const slug = { slug: slugText };

export const workflowOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/api/workflows',
    id: 'listWorkflows',
    tag: 'workflows',
    summary: 'Lists definitions.',
    query: workflowListQuery,
    answers: { 200: { text: 'A page of definitions.', schema: answers.workflowPage } },
    problems: LIST_PROBLEMS,
  },
  {
    method: 'POST',
    path: '/api/workflows',
    id: 'storeWorkflow',
    tag: 'workflows',
    summary: 'Stores a definition under its own slug.',
    query: workflowStoreQuery,
    headers: CONDITIONS,
    body: DOCUMENT,
    answers: {
      201: { text: 'Stored; it is new.', schema: answers.storedWorkflow, headers: ETAG },
      200: { text: 'Stored.', schema: answers.storedWorkflow, headers: ETAG },
    },
    problems: WRITTEN,
  },
  {
    method: 'POST',
    path: '/api/workflows/validate',
    id: 'validateWorkflow',
    tag: 'workflows',
    summary: 'Checks a definition, and stores nothing.',
    query: workflowWriteQuery,
    body: DOCUMENT,
    answers: { 200: { text: 'What was found.', schema: answers.validation } },
    problems: ['invalid_yaml', 'invalid_definition', 'takes_too_long', 'gateway_busy'],
  },
  {
    method: 'PUT',
    path: '/api/workflows/:slug',
    id: 'putWorkflow',
    tag: 'workflows',
    summary: 'Stores a definition under a slug.',
    parameters: slug,
    query: workflowStoreQuery,
    headers: CONDITIONS,
    body: DOCUMENT,
    answers: {
      201: { text: 'Stored; it is new.', schema: answers.storedWorkflow, headers: ETAG },
      200: { text: 'Stored.', schema: answers.storedWorkflow, headers: ETAG },
    },
    problems: [...WRITTEN, 'not_found'],
  },
  {
    method: 'GET',
    path: '/api/workflows/:slug',
    id: 'getWorkflow',
    tag: 'workflows',
    summary: 'Reads a definition.',
    parameters: slug,
    answers: { 200: { text: 'The definition.', schema: answers.readWorkflow, headers: ETAG } },
    problems: ['not_found', 'version_missing'],
  },
  {
    method: 'DELETE',
    path: '/api/workflows/:slug',
    id: 'deleteWorkflow',
    tag: 'workflows',
    summary: 'Deletes a definition and its triggers. Runs go on.',
    parameters: slug,
    headers: { 'If-Match': CONDITIONS['If-Match'] },
    answers: { 204: { text: 'Deleted.' } },
    problems: [...WRITE_PROBLEMS, 'not_found', 'hash_mismatch'],
  },
  {
    method: 'GET',
    path: '/api/workflows/:slug/executions',
    id: 'listWorkflowExecutions',
    tag: 'workflows',
    summary: 'Lists the runs of a definition.',
    parameters: slug,
    query: runListQuery,
    answers: { 200: { text: 'A page of runs.', schema: answers.executionPage } },
    problems: [...LIST_PROBLEMS, 'not_found'],
  },
];

export const expressionOperations: readonly Operation[] = [
  {
    method: 'POST',
    path: '/api/expressions/evaluate',
    id: 'evaluate',
    tag: 'expressions',
    summary: 'Evaluates an expression or a template, as a run would.',
    description: 'Give `expression` or `template`. The members of `context` are the roots.',
    body: { schema: evaluateBody },
    answers: { 200: { text: 'Its value.', schema: answers.evaluated } },
    problems: [
      'expression_syntax',
      'unknown_transform',
      'expression_type',
      'expression_limit',
      'takes_too_long',
      'gateway_busy',
      'unresolved_reference',
      'secret_not_allowed',
    ],
  },
];
