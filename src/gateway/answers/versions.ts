/** Schemas of answers about versions of definitions, their texts, what differs between them, and proposals. */
import { z } from 'zod';
import { PROPOSAL_STATUSES } from '../../contract/definitions/proposal.ts';
import { anything, named, pageOf, time } from './named.ts';

const change = z.object({
  hash: z.string(),
  version: z.string(),
  source: z.enum(['update', 'sync', 'proposal_apply', 'rollback', 'system']),
  createdAt: time,
  createdBy: z.string().optional(),
  notes: z.string().optional(),
  sourceProposalId: z.string().optional(),
  textHash: z.string().optional().describe('The hash of its text, where one was kept.'),
});
export const workflowChangePage = named('WorkflowChangePage', pageOf(change));

export const workflowText = named(
  'WorkflowText',
  z.object({
    slug: z.string(),
    hash: z.string().describe('The hash of the version.'),
    textHash: z.string().optional().describe('Absent where the text was made from the canonical form.'),
    media: z.enum(['yaml', 'json']),
    text: z.string(),
  }),
);
/** Members of answers that describe the difference between two versions. */
const difference = {
  diffText: z.string().describe('A unified diff of both as JSON with sorted keys.'),
  changes: z
    .array(
      z.object({
        op: z.enum(['added', 'removed', 'changed']),
        pointer: z.string(),
        before: anything.optional(),
        after: anything.optional(),
      }),
    )
    .describe('At most 1,000.'),
};

export const versionDifference = named(
  'VersionDifference',
  z.object({ from: z.string(), to: z.string(), ...difference }),
);

const proposal = {
  id: z.string(),
  status: z.enum(PROPOSAL_STATUSES),
  workflowId: z.string(),
  baseWorkflowHash: z.string(),
  proposalHash: z.string(),
  notes: z.string().optional(),
  proposedBy: z.string().optional(),
  executionId: z.string().optional(),
  createdAt: time,
  expiresAt: time,
  review: z
    .object({
      decision: z.enum(['approve', 'reject']),
      at: time,
      by: z.string().optional(),
      notes: z.string().optional(),
    })
    .optional(),
  appliedAt: time.optional(),
  appliedBy: z.string().optional(),
  error: z.string().optional().describe('Why it could not be applied.'),
};
export const proposalView = named('Proposal', z.object(proposal));
export const proposalWithDifference = named('ProposalWithDifference', z.object({ ...proposal, ...difference }));
export const proposalPage = named('ProposalPage', pageOf(z.object(proposal)));
