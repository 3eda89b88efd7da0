/** Schemas of answers about questions: approvals and inputs, open and answered. */
import { z } from 'zod';
import { status, unreadable, wait } from './executions.ts';
import { anything, named, pageOf, text, time } from './named.ts';

const question = {
  ...wait,
  kind: z.enum(['approval', 'input']).describe('approval: answer it by /approve. input: by /submit.'),
  commentRequired: z.literal(true).optional().describe('For an approval: it requires a comment.'),
  executionId: text,
  workflowId: text,
  workflowName: text.optional().describe('Absent where the definition cannot be read.'),
  requester: text.optional().describe('The person who started the run.'),
  mayAnswer: z.boolean().describe('The caller may answer, as far as the run shows.'),
  approverMemberId: text.optional().describe('The first approver.'),
  resumeToken: text.optional().describe('For an approval that the caller may decide: the token that identifies it.'),
};

const answered = z.enum(['approved', 'rejected', 'submitted', 'timeout', 'failed', 'cancelled']);

const answer = z.object({
  status: answered,
  at: time,
  by: text.nullable().optional().describe('Null for a caller without an id. Absent where nobody answered.'),
  via: text
    .optional()
    .describe("api, link (of a message to the person's address), 'link to ADDRESS', temporal (a signal), or timeout."),
  comments: text.nullable().optional(),
  data: anything.optional().describe('The values of the form, or what was submitted.'),
  votes: anything.optional().describe('Of an approval: all votes.'),
});

export const approvalPage = named(
  'ApprovalPage',
  pageOf(
    z.object({
      ...question,
      status: z
        .enum(['pending', 'approved', 'rejected', 'decided'])
        .describe('decided: the run has decisions, and its history cannot be read.'),
      answer: answer
        .omit({ data: true, votes: true })
        .optional()
        .describe('Of a decided approval: who has decided, when and how.'),
      unreadable: unreadable.optional(),
    }),
  ),
);

export const approvalCount = named(
  'ApprovalCount',
  z.object({
    mine: z.int().describe('What the caller may answer.'),
    all: z.int(),
    isPartial: z.literal(true).optional().describe('There are more: only the questions of 2,000 runs were counted.'),
  }),
);

export const approval = named(
  'Approval',
  z.object({
    ...question,
    status: z.enum(['pending', ...answered.options]),
    workflowVersion: text.optional(),
    executionStatus: status,
    input: anything.optional().describe('The input of the run.'),
    outsiders: z
      .literal(true)
      .optional()
      .describe('For an approval: its links also decide for addresses that no API key has.'),
    stepInput: anything.optional().describe('What the step was given: its config, rendered.'),
    answer: answer.optional().describe('Who has answered, when and how. Absent while the question is open.'),
    unreadable: unreadable.optional(),
  }),
);
