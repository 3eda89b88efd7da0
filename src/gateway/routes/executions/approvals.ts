/** `GET /api/approvals`: what waits for the caller, or for others: by person, role, group, or resource. */

import type { Router } from 'express';
import { z } from 'zod';
import { listApprovals } from '../../../client/runs/approvals.ts';
import { defined } from '../../../json/defined.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { resource } from '../../http/resource.ts';
import { nameText, pageQuery, queryAs } from '../../validation/validation.ts';

const text = nameText(200);
export const approvalListQuery = z.strictObject({
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

export function approvalRoutes(router: Router, gateway: Gateway): void {
  resource(router, '/api/approvals', {
    GET: async (req, res) => {
      const { limit, user, role, group, approver, resourceType, resourceId, all, ...rest } = queryAs(
        req,
        approvalListQuery,
      );
      const { cursor, workflowId, executionId, priority } = rest;
      const named = user ?? role ?? group ?? approver;
      const waiting = [
        ...(approver === undefined ? [] : [/^(user|role|group):/.test(approver) ? approver : `user:${approver}`]),
        ...(user === undefined ? [] : [`user:${user}`]),
        ...(role === undefined ? [] : [`role:${role}`]),
        ...(group === undefined ? [] : [`group:${group}`]),
        ...(resourceType === undefined
          ? []
          : [resourceId === undefined ? `resource:${resourceType}` : `resource:${resourceType}:${resourceId}`]),
      ];
      const principal = principalOf(req);
      const page = await listApprovals(gateway.access, principal.organizationId, principal, {
        limit,
        waiting,
        mine: all === undefined ? named === undefined : all === 'false',
        ...defined({ cursor, workflowId, executionId, priority, resourceId }),
      });
      res.json(page);
    },
  });
}
