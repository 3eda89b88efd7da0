/** `GET /api/approvals`: what waits for the caller, or for others: by person, role, group, or resource. */

import { z } from 'zod';
import { listApprovals } from '../../../client/runs/approvals.ts';
import { defined } from '../../../json/defined.ts';
import { approvalPage } from '../../answers/executions.ts';
import { type Route, route } from '../../http/route.ts';
import { LIST_PROBLEMS } from '../../validation/problem-codes.ts';
import { nameText, pageQuery } from '../../validation/validation.ts';

const text = nameText(200);
const approvalListQuery = z.strictObject({
  ...pageQuery(),
  workflowId: text.optional().describe('The slug of the workflow.'),
  executionId: text.optional().describe('The run that asks.'),
  status: z
    .literal('pending')
    .optional()
    .describe('What is listed is pending: decided approvals stand in the steps of their run.'),
  priority: text.optional().describe('As the approval says it: low, medium, high, urgent.'),
  approver: text.optional().describe('Who is asked: a person, or `role:finance`, `group:board`.'),
  user: text.optional().describe('A person who is asked.'),
  role: text.optional().describe('A role that is asked.'),
  group: text.optional().describe('A group that is asked.'),
  resourceType: text.optional().describe('What it is about: a type,'),
  resourceId: text.optional().describe('and an id; alone, one of any type.'),
  all: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      'true: also what others are asked. Default: what waits for the caller, unless user, role or group is given.',
    ),
});

export const approvalRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/approvals',
    role: 'viewer',
    id: 'listApprovals',
    tag: 'executions',
    summary: 'Lists pending approvals.',
    description:
      'By person, role, group, resource, priority, workflow or run. Decided approvals are not listed: they stand ' +
      'in the steps of their run.',
    query: approvalListQuery,
    answers: { 200: { text: 'A page of approvals.', schema: approvalPage } },
    problems: LIST_PROBLEMS,
    handle: async ({ access, principal, query }) => {
      const { limit, cursor, user, role, group, approver, all, workflowId, executionId, priority, resourceId } = query;
      const isNamed = (user ?? role ?? group ?? approver) !== undefined;
      const page = await listApprovals(access, principal.organizationId, principal, {
        limit,
        waiting: waitsOf(query),
        mine: all === undefined ? !isNamed : all === 'false',
        ...defined({ cursor, workflowId, executionId, priority, resourceId }),
      });
      return { status: 200, body: page };
    },
  }),
];

/** What the runs of the list must all wait for, as their search attribute writes it. */
function waitsOf({
  approver,
  user,
  role,
  group,
  resourceType,
  resourceId,
}: z.infer<typeof approvalListQuery>): readonly string[] {
  const resource = resourceId === undefined ? resourceType : `${resourceType}:${resourceId}`;
  return [
    ...(approver === undefined ? [] : [/^(user|role|group):/.test(approver) ? approver : `user:${approver}`]),
    ...(user === undefined ? [] : [`user:${user}`]),
    ...(role === undefined ? [] : [`role:${role}`]),
    ...(group === undefined ? [] : [`group:${group}`]),
    ...(resourceType === undefined ? [] : [`resource:${resource}`]),
  ];
}
