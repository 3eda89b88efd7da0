/** `GET /api/approvals`: pending approvals of the caller or of others, by person, role, group or resource. */

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
  executionId: text.optional().describe('The run that waits for the approval.'),
  status: z
    .literal('pending')
    .optional()
    .describe('Only pending approvals are listed. Decided approvals are in the steps of their run.'),
  priority: text.optional().describe('The priority in the approval: low, medium, high, urgent.'),
  approver: text.optional().describe('An approver: a person, or `role:finance`, `group:board`.'),
  user: text.optional().describe('A person among the approvers.'),
  role: text.optional().describe('A role among the approvers.'),
  group: text.optional().describe('A group among the approvers.'),
  resourceType: text.optional().describe('The type of the resource that the approval is about.'),
  resourceId: text.optional().describe('The id of the resource. Without `resourceType` the type may be any.'),
  all: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      "true: also other people's approvals. Default: the caller's approvals, unless user, role or group is given.",
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
      'By person, role, group, resource, priority, workflow or run. Decided approvals are not listed: they are ' +
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

/** The values that the runs' search attribute must all contain. */
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
