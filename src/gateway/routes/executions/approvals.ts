/**
 * `/api/approvals`: what runs ask of the caller or of others, approvals and inputs, by person, role, group or resource;
 * and one question with the facts, also once it was answered.
 */

import { z } from 'zod';
import { countApprovals, listApprovals, QUESTION_KINDS } from '../../../client/runs/approvals.ts';
import { type DecidedFilter, listDecidedApprovals } from '../../../client/runs/decided-approvals.ts';
import { readQuestion } from '../../../client/runs/question.ts';
import { DECIDED_FILTERS } from '../../../contract/run/run.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { approval, approvalCount, approvalPage } from '../../answers/approvals.ts';
import { ok, route } from '../../http/route.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { LIST_PROBLEMS } from '../../validation/problem-codes.ts';
import { nameText, pageQuery, pathName } from '../../validation/validation.ts';

const text = nameText(200);
const questionFilter = {
  kind: z.enum(QUESTION_KINDS).optional().describe('Only approvals, or only inputs. Default: both.'),
  workflowId: text.optional().describe('The slug of the workflow.'),
  executionId: text.optional().describe('The run that asks.'),
  priority: text.optional().describe('The priority in the approval: low, medium, high, urgent.'),
  approver: text.optional().describe('A person who is asked, or `role:finance`, `group:board`.'),
  user: text.optional().describe('A person among those who are asked.'),
  role: text.optional().describe('A role among those who are asked.'),
  group: text.optional().describe('A group among those who are asked.'),
  resourceType: text.optional().describe('The type of the resource that the approval is about.'),
  resourceId: text.optional().describe('The id of the resource. Without `resourceType` the type may be any.'),
};
const approvalCountQuery = z.strictObject(questionFilter);
type CountQuery = z.infer<typeof approvalCountQuery>;
const approvalListQuery = z.strictObject({
  ...pageQuery(),
  ...questionFilter,
  status: z.literal('pending').optional().describe('The default where `decided` is not given.'),
  decided: z
    .enum(DECIDED_FILTERS)
    .optional()
    .describe(
      'Instead of pending questions: approvals that were decided, of steps and of calls of agents. `approver` and ' +
        '`user` are then persons who voted. Not with `kind=input`, `priority`, `role`, `group`, `status` or `all`.',
    ),
  all: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      "true: also other people's questions. Default: what the caller may answer, unless user, role or group is given.",
    ),
});

export const approvalRoutes = [
  route({
    method: 'GET',
    path: '/api/approvals',
    role: 'viewer',
    id: 'listApprovals',
    summary: 'Lists pending approvals and inputs, or decided approvals, the newest first.',
    description:
      'By kind, person, role, group, resource, priority, workflow or run. The newest comes first among the questions ' +
      'of 500 runs at a time, and among the decisions of 25 runs. Decisions made before version 0.4 are not listed: ' +
      'they are in the steps of their runs, as submitted inputs are.',
    query: approvalListQuery,
    answers: { 200: { text: 'A page of questions.', schema: approvalPage } },
    problems: LIST_PROBLEMS,
    handle: async ({ access, principal, query }) => {
      const { limit, cursor, user, role, group, approver, all, decided } = query;
      if (decided !== undefined) {
        const page = await listDecidedApprovals(access, principal.organizationId, {
          ...decidedFilter(query, decided),
          limit,
          ...omitUndefined({ cursor }),
        });
        return ok(page);
      }
      const isNamed = (user ?? role ?? group ?? approver) !== undefined;
      const { items, ...page } = await listApprovals(access, principal.organizationId, principal, {
        ...filterOf(query),
        limit,
        mine: all === undefined ? !isNamed : all === 'false',
        ...omitUndefined({ cursor }),
      });
      return ok({ ...page, items: items.map((item) => ({ ...item, kind: asQuestion(item.kind) })) });
    },
  }),
  route({
    method: 'GET',
    path: '/api/approvals/count',
    role: 'viewer',
    id: 'countApprovals',
    summary: 'Counts pending approvals and inputs: those that the caller may answer, and all.',
    description: 'Two numbers, without the questions, for a mark beside a link.',
    query: approvalCountQuery,
    answers: { 200: { text: 'The numbers.', schema: approvalCount } },
    problems: LIST_PROBLEMS,
    handle: async ({ access, principal, query }) =>
      ok(await countApprovals(access, principal.organizationId, principal, filterOf(query))),
  }),
  route({
    method: 'GET',
    path: '/api/approvals/:executionId/:path',
    role: 'viewer',
    id: 'getApproval',
    summary: 'Reads an approval or an input with the facts, also once it was answered.',
    description: 'With the input of the run and what the step was given. `path` is the path of the visit, encoded.',
    params: { executionId: pathName, path: pathName },
    answers: { 200: { text: 'The question.', schema: approval } },
    problems: ['not_found', 'no_such_step'],
    handle: async ({ access, principal, params: { executionId, path } }) => {
      const question = await readQuestion(access, principal.organizationId, principal, executionId, path);
      return ok({ ...question, kind: asQuestion(question.kind) });
    },
  }),
];

/** @throws HttpProblem where a filter is for pending questions only. */
function decidedFilter(query: z.infer<typeof approvalListQuery>, decided: DecidedFilter['decided']): DecidedFilter {
  const { kind, priority, role, group, status, all } = query;
  const { approver, user, workflowId, executionId, resourceType, resourceId } = query;
  const person = approver?.replace(/^user:/, '');
  const foreign = Object.entries({ priority, role, group, status, all, kind: kind === 'input' ? kind : undefined });
  const misplaced = foreign.find(([, value]) => value !== undefined)?.[0];
  if (misplaced !== undefined)
    throw new HttpProblem('invalid_request', `Pending questions have '${misplaced}', decided approvals do not.`);
  if (approver !== undefined && /^(role|group):/.test(approver))
    throw new HttpProblem('invalid_request', `With 'decided', 'approver' is a person who voted, and not ${approver}.`);
  return {
    decided,
    approvers: [person, user].filter((name) => name !== undefined),
    ...omitUndefined({ workflowId, executionId, resourceType, resourceId }),
  };
}

const asQuestion = (kind: string): 'approval' | 'input' => (kind === 'input' ? 'input' : 'approval');

function filterOf(query: CountQuery) {
  const { kind, workflowId, executionId, priority, resourceId } = query;
  return {
    kinds: kind === undefined ? QUESTION_KINDS : [kind],
    waiting: waitsOf(query),
    ...omitUndefined({ workflowId, executionId, priority, resourceId }),
  };
}

/** The values that the runs' search attribute must all contain. */
function waitsOf({ approver, user, role, group, resourceType, resourceId }: CountQuery): readonly string[] {
  const resource = resourceId === undefined ? resourceType : `${resourceType}:${resourceId}`;
  return [
    ...(approver === undefined ? [] : [/^(user|role|group):/.test(approver) ? approver : `user:${approver}`]),
    ...(user === undefined ? [] : [`user:${user}`]),
    ...(role === undefined ? [] : [`role:${role}`]),
    ...(group === undefined ? [] : [`group:${group}`]),
    ...(resourceType === undefined ? [] : [`resource:${resource}`]),
  ];
}
