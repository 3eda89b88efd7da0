/** `/api/workflows/:slug/proposals`: changes that a person or a run proposes, and others review. */

import type { Request } from 'express';
import { z } from 'zod';
import {
  applyProposal,
  createProposal,
  listProposals,
  readProposal,
  reviewProposal,
} from '../../../client/definitions/proposals.ts';
import { describeRun } from '../../../client/runs/run-read.ts';
import { PROPOSAL_STATUSES, type Proposal } from '../../../contract/definitions/proposal.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { proposalPage, proposalView, proposalWithDifference } from '../../answers/versions.ts';
import { workflowHead } from '../../answers/workflows.ts';
import type { Gateway } from '../../http/context.ts';
import { idempotentId } from '../../http/idempotency-key.ts';
import { offsetPage } from '../../http/pagination.ts';
import { principalOf } from '../../http/principal.ts';
import { ok, route } from '../../http/route.ts';
import { emptyBody, jsonOf } from '../../http/route-body.ts';
import { checkGiven, demandValid, dialectName } from '../../input/definition-input.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { CHECK_PROBLEMS, LIST_PROBLEMS, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { anyJson, nameText, pageQuery, pathName, slugText } from '../../validation/validation.ts';
import { changeNotes, differenceOf, versionHash } from './history.ts';
import { ETAG, etagHeaderOf, PUT_PROBLEMS, shownHead } from './workflow-head.ts';

const proposalListQuery = z.strictObject({
  ...pageQuery(),
  status: z.enum(PROPOSAL_STATUSES).optional().describe('Only proposals with this status.'),
});
const proposalBody = z.strictObject({
  baseWorkflowHash: versionHash.describe('The version to change: the current version of the workflow.'),
  proposal: anyJson.optional().describe('The proposed definition, in any dialect: an object, or YAML or JSON as text.'),
  text: z
    .string()
    .min(1)
    .optional()
    .describe('The proposed definition as it was written, YAML or JSON, with its comments. It takes precedence.'),
  notes: changeNotes.optional(),
  executionId: nameText(300).optional().describe('The run that proposes it: one of the organization.'),
  dialect: dialectName,
});
const reviewBody = z.strictObject({
  decision: z.enum(['approve', 'reject']),
  notes: changeNotes.optional(),
});

const workflowParams = { slug: slugText };
const proposalParams = { ...workflowParams, id: pathName };

export const proposalRoutes = [
  route({
    method: 'GET',
    path: '/api/workflows/:slug/proposals',
    role: 'viewer',
    id: 'listProposals',
    summary: 'Lists proposals to change a definition, newest first.',
    description:
      'With the status, the person who proposed and the reason. An open proposal expires 14 days after it was ' +
      'made.',
    params: workflowParams,
    query: proposalListQuery,
    answers: { 200: { text: 'A page of proposals.', schema: proposalPage } },
    problems: [...LIST_PROBLEMS, 'not_found'],
    handle: async ({ gateway, access, principal: { organizationId }, params: { slug }, query }) => {
      const { status, ...page } = query;
      const proposals = (await listProposals(access, organizationId, slug)).filter(
        (one) => status === undefined || one.status === status,
      );
      const list = `proposals ${organizationId} ${slug} ${status ?? ''}`;
      const shown = offsetPage(gateway, list, proposals, page);
      return ok({ ...shown, items: shown.items.map((one) => shownProposal(slug, one)) });
    },
  }),
  route({
    method: 'POST',
    path: '/api/workflows/:slug/proposals',
    // Who may run a workflow may propose a change of it: agents do. Others decide, and apply it.
    role: 'runner',
    id: 'propose',
    summary: 'Proposes a change. Another person must review it within 14 days.',
    description:
      'The proposal is a whole definition, also as a text. Nothing changes until somebody else has approved it ' +
      'and it is applied. A proposal that changes nothing is refused (`proposal_unchanged`).',
    params: workflowParams,
    body: jsonOf(proposalBody),
    answers: { 201: { text: 'Proposed.', schema: proposalWithDifference } },
    problems: [
      ...WRITE_PROBLEMS,
      'not_found',
      'version_missing',
      'invalid_yaml',
      ...CHECK_PROBLEMS,
      'payload_too_large',
      'self_modification_not_allowed',
      'proposal_stale',
      'proposal_unchanged',
      'too_many',
      'version_not_found',
    ],
    handle: async ({ gateway, access, principal, req, params: { slug }, body }) => {
      const { baseWorkflowHash: baseHash, proposal: document = null, text, notes, executionId, dialect } = body;
      const { organizationId, id: by } = principal;
      // A workflow that cannot be changed is refused before the proposal is checked.
      await listProposals(access, organizationId, slug);
      if (executionId !== undefined) await describeRun(access, organizationId, executionId);
      const options = { slug, ...omitUndefined({ dialect }) };
      const checked = await checkGiven(gateway, organizationId, text ?? document, options);
      const { definition, hash, secrets } = demandValid(checked);
      if (secrets.length > 0)
        throw new HttpProblem(
          'invalid_definition',
          'A proposal can hold no secret in clear: it would replace the one in use. Store the secret, and refer to it.',
          {
            problems: [
              { pointer: '/proposal', code: 'clear_secret', message: 'The proposal holds a secret in clear.' },
            ],
          },
        );
      const made = await createProposal(access, organizationId, slug, {
        baseHash,
        definition,
        hash,
        ...omitUndefined({ id: idempotentId(req), notes, executionId, by, text: checked.text }),
      });
      return { status: 201, body: await withDifference(gateway, organizationId, slug, made) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/workflows/:slug/proposals/:id',
    role: 'viewer',
    id: 'getProposal',
    summary: 'Reads a proposal and the changes that it would make.',
    description: 'With the difference from the version that it is based on, and its review.',
    params: proposalParams,
    answers: { 200: { text: 'The proposal.', schema: proposalWithDifference } },
    problems: ['not_found', 'proposal_not_found', 'version_not_found'],
    handle: async ({ gateway, access, principal: { organizationId }, params: { slug, id } }) => {
      const found = await readProposal(access, organizationId, slug, id);
      return ok(await withDifference(gateway, organizationId, slug, found));
    },
  }),
  route({
    method: 'POST',
    path: '/api/workflows/:slug/proposals/:id/review',
    role: 'approver',
    id: 'reviewProposal',
    summary: 'Approves or rejects a proposal.',
    description:
      'Not by the person who proposed it (`proposer_may_not_review`). An approved proposal is applied by a ' +
      'request of its own.',
    params: proposalParams,
    body: jsonOf(reviewBody),
    answers: { 200: { text: 'Reviewed.', schema: proposalView } },
    problems: [
      ...WRITE_PROBLEMS,
      'not_found',
      'version_missing',
      'proposal_not_found',
      'proposal_closed',
      'proposer_may_not_review',
    ],
    handle: async ({ access, principal: { organizationId }, req, params: { slug, id }, body }) => {
      const review = { decision: body.decision, ...omitUndefined({ notes: body.notes }), ...authorOf(req) };
      const reviewed = await reviewProposal(access, organizationId, slug, id, review);
      return ok(shownProposal(slug, reviewed));
    },
  }),
  route({
    method: 'POST',
    path: '/api/workflows/:slug/proposals/:id/apply',
    role: 'editor',
    id: 'applyProposal',
    summary: 'Applies an approved proposal.',
    description:
      'It becomes the current version, unless the definition has changed since it was proposed ' +
      '(`proposal_stale`).',
    params: proposalParams,
    body: emptyBody(),
    answers: {
      200: {
        text: 'Applied.',
        schema: z.object({ proposal: proposalView, workflow: workflowHead }),
        headers: ETAG,
      },
    },
    problems: [
      ...PUT_PROBLEMS,
      'self_modification_not_allowed',
      'proposal_not_found',
      'proposal_not_approved',
      'proposal_closed',
      'proposal_stale',
      'version_not_found',
    ],
    handle: async ({ access, principal: { organizationId }, req, params: { slug, id } }) => {
      const applied = await applyProposal(access, organizationId, slug, id, authorOf(req));
      const body = { proposal: shownProposal(slug, applied.proposal), workflow: shownHead(applied.head) };
      return { status: 200, body, headers: etagHeaderOf(applied.head) };
    },
  }),
];

async function withDifference(gateway: Gateway, organizationId: string, slug: string, proposal: Proposal) {
  const { baseHash: from, hash: to } = proposal;
  return { ...shownProposal(slug, proposal), ...(await differenceOf(gateway, organizationId, slug, { from, to })) };
}

/** The caller, and the key of the request. */
function authorOf(req: Request): { by?: string; key?: string } {
  const { id: by } = principalOf(req);
  const key = idempotentId(req);
  return omitUndefined({ by, key });
}

function shownProposal(slug: string, { baseHash, hash, by, ...proposal }: Proposal) {
  return {
    ...proposal,
    workflowId: slug,
    baseWorkflowHash: baseHash,
    proposalHash: hash,
    ...omitUndefined({ proposedBy: by }),
  };
}
