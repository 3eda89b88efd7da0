/** Operations on versions, proposals, syncs and limits, for the OpenAPI document. */
import { z } from 'zod';
import { PROPOSAL_STATUSES } from '../../contract/proposal.ts';
import * as answers from '../answers/answers.ts';
import { diffQuery, historyQuery, rollbackBody, versionHash } from '../routes/workflows/history.ts';
import { proposalBody, proposalListQuery, reviewBody } from '../routes/workflows/proposals.ts';
import { syncAllBody, syncBody } from '../routes/workflows/sync.ts';
import { workflowPatch } from '../routes/workflows/workflow-fields.ts';
import type { ProblemCode } from '../validation/problem-codes.ts';
import { nameText, slugText } from '../validation/validation.ts';
import { LIST_PROBLEMS, type Operation, WRITE_PROBLEMS } from './openapi-operation.ts';

const text = z.string();
const time = z.iso.datetime().describe('ISO 8601.');
const slug = { slug: slugText };
const proposalId = { ...slug, id: nameText(1_000) };
const ETAG = { ETag: 'The hash of the definition.' };

const PUT: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'not_found',
  'hash_mismatch',
  'entry_changed',
  'path_taken',
  'path_reserved',
  'path_resting',
  'trigger_exists',
  'payload_too_large',
  'version_missing',
  'too_many',
  'too_large',
];
const SYNCED: readonly ProblemCode[] = [
  ...PUT,
  'invalid_definition',
  'takes_too_long',
  'gateway_busy',
  'already_exists',
];

const change = z.object({
  hash: text,
  version: text,
  source: z.enum(['update', 'sync', 'proposal_apply', 'rollback', 'system']),
  createdAt: time,
  createdBy: text.optional(),
  notes: text.optional(),
  sourceProposalId: text.optional(),
});
const difference = {
  diffText: text.describe('A unified diff of both as JSON with sorted keys.'),
  changes: z
    .array(
      z.object({
        op: z.enum(['added', 'removed', 'changed']),
        pointer: text,
        before: answers.anything.optional(),
        after: answers.anything.optional(),
      }),
    )
    .describe('At most 1,000.'),
};
const proposal = {
  id: text,
  status: z.enum(PROPOSAL_STATUSES),
  workflowId: text,
  baseWorkflowHash: text,
  proposalHash: text,
  notes: text.optional(),
  proposedBy: text.optional(),
  executionId: text.optional(),
  createdAt: time,
  expiresAt: time,
  review: z
    .object({ decision: z.enum(['approve', 'reject']), at: time, by: text.optional(), notes: text.optional() })
    .optional(),
  appliedAt: time.optional(),
  appliedBy: text.optional(),
  error: text.optional().describe('Why it could not be applied.'),
};
const slugs = z.array(text);

const fieldOperation = (verb: 'enable' | 'disable'): Operation => ({
  method: 'POST',
  path: `/api/workflows/:slug/${verb}`,
  id: `${verb}Workflow`,
  tag: 'workflows',
  summary: verb === 'enable' ? 'Lets new runs start.' : 'Lets no new run start. Runs go on.',
  parameters: slug,
  headers: { 'If-Match': 'The hash that the stored definition must have.' },
  answers: { 200: { text: 'Done.', schema: answers.workflowHead, headers: ETAG } },
  problems: PUT,
});

export const versionOperations: readonly Operation[] = [
  {
    method: 'POST',
    path: '/api/workflows/sync',
    id: 'syncWorkflow',
    tag: 'workflows',
    summary: 'Makes a definition what it is elsewhere.',
    body: { schema: syncBody },
    answers: {
      201: { text: 'Done; it is new.', schema: z.object({ slug: text, hash: text, action: text }) },
      200: { text: 'Done, or told.', schema: z.object({ slug: text, hash: text, action: text }) },
    },
    problems: SYNCED,
  },
  {
    method: 'POST',
    path: '/api/workflows/sync-all',
    id: 'syncAllWorkflows',
    tag: 'workflows',
    summary: 'Makes the definitions of a source what they are elsewhere, and deletes those that it no longer has.',
    body: { schema: syncAllBody },
    answers: {
      200: {
        text: 'What was done, or would be.',
        schema: z.object({ created: slugs, updated: slugs, unchanged: slugs, deleted: slugs }),
      },
    },
    problems: SYNCED,
  },
  {
    method: 'PATCH',
    path: '/api/workflows/:slug',
    id: 'patchWorkflow',
    tag: 'workflows',
    summary: 'Changes single fields of a definition.',
    parameters: slug,
    headers: { 'If-Match': 'The hash that the stored definition must have.' },
    body: { schema: workflowPatch },
    answers: { 200: { text: 'Changed.', schema: answers.workflowHead, headers: ETAG } },
    problems: PUT,
  },
  fieldOperation('enable'),
  fieldOperation('disable'),
  {
    method: 'GET',
    path: '/api/workflows/:slug/history',
    id: 'listWorkflowHistory',
    tag: 'workflows',
    summary: 'Lists the versions of a definition, newest first; also of one that was deleted.',
    parameters: slug,
    query: historyQuery,
    answers: {
      200: { text: 'A page of changes.', schema: z.object({ items: z.array(change), nextCursor: text.optional() }) },
    },
    problems: [...LIST_PROBLEMS, 'not_found'],
  },
  {
    method: 'GET',
    path: '/api/workflows/:slug/history/:hash',
    id: 'getWorkflowVersion',
    tag: 'workflows',
    summary: 'Reads a version of a definition.',
    parameters: { ...slug, hash: versionHash },
    answers: {
      200: {
        text: 'The version.',
        schema: z.object({ slug: text, hash: text, definition: answers.definitionDocument }),
      },
    },
    problems: ['not_found', 'version_not_found'],
  },
  {
    method: 'GET',
    path: '/api/workflows/:slug/diff',
    id: 'diffWorkflowVersions',
    tag: 'workflows',
    summary: 'Tells what differs between two versions, as text and as a list.',
    parameters: slug,
    query: diffQuery,
    answers: { 200: { text: 'What differs.', schema: z.object({ from: text, to: text, ...difference }) } },
    problems: ['not_found', 'version_not_found'],
  },
  {
    method: 'POST',
    path: '/api/workflows/:slug/rollback',
    id: 'rollBackWorkflow',
    tag: 'workflows',
    summary: 'Makes a definition what it was, under a new version number.',
    parameters: slug,
    body: { schema: rollbackBody },
    answers: {
      200: {
        text: 'It is that version.',
        schema: z.object({ ...answers.workflowHead.shape, alreadyAtVersion: z.boolean() }),
        headers: ETAG,
      },
    },
    problems: [...PUT, 'version_not_found'],
  },
  {
    method: 'GET',
    path: '/api/workflows/:slug/proposals',
    id: 'listProposals',
    tag: 'workflows',
    summary: 'Lists proposals to change a definition, newest first.',
    parameters: slug,
    query: proposalListQuery,
    answers: {
      200: {
        text: 'A page of proposals.',
        schema: z.object({ items: z.array(z.object(proposal)), nextCursor: text.optional() }),
      },
    },
    problems: [...LIST_PROBLEMS, 'not_found'],
  },
  {
    method: 'POST',
    path: '/api/workflows/:slug/proposals',
    id: 'propose',
    tag: 'workflows',
    summary: 'Proposes a change, for somebody else to review within 14 days.',
    parameters: slug,
    body: { schema: proposalBody },
    answers: { 201: { text: 'Proposed.', schema: z.object({ ...proposal, ...difference }) } },
    problems: [
      ...WRITE_PROBLEMS,
      'not_found',
      'version_missing',
      'invalid_definition',
      'takes_too_long',
      'gateway_busy',
      'payload_too_large',
      'self_modification_not_allowed',
      'proposal_stale',
      'proposal_unchanged',
      'too_many',
      'version_not_found',
    ],
  },
  {
    method: 'GET',
    path: '/api/workflows/:slug/proposals/:id',
    id: 'getProposal',
    tag: 'workflows',
    summary: 'Reads a proposal, with what it would change.',
    parameters: proposalId,
    answers: { 200: { text: 'The proposal.', schema: z.object({ ...proposal, ...difference }) } },
    problems: ['not_found', 'proposal_not_found', 'version_not_found'],
  },
  {
    method: 'POST',
    path: '/api/workflows/:slug/proposals/:id/review',
    id: 'reviewProposal',
    tag: 'workflows',
    summary: 'Approves or rejects a proposal.',
    parameters: proposalId,
    body: { schema: reviewBody },
    answers: { 200: { text: 'Reviewed.', schema: z.object(proposal) } },
    problems: [
      ...WRITE_PROBLEMS,
      'not_found',
      'version_missing',
      'proposal_not_found',
      'proposal_closed',
      'proposer_may_not_review',
    ],
  },
  {
    method: 'POST',
    path: '/api/workflows/:slug/proposals/:id/apply',
    id: 'applyProposal',
    tag: 'workflows',
    summary: 'Makes a definition what an approved proposal says.',
    parameters: proposalId,
    answers: {
      200: {
        text: 'Applied.',
        schema: z.object({ proposal: z.object(proposal), workflow: answers.workflowHead }),
        headers: ETAG,
      },
    },
    problems: [
      ...PUT,
      'self_modification_not_allowed',
      'proposal_not_found',
      'proposal_not_approved',
      'proposal_closed',
      'proposal_stale',
      'version_not_found',
    ],
  },
];
