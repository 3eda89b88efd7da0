/** `GET /api/approvals`: what waits for the caller, or for others: by person, role, group, or resource. */
import type { Router } from 'express';
import { z } from 'zod';
import { listApprovals } from '../client/approvals.ts';
import type { Gateway } from './context.ts';
import { nameText, pageQuery, queryAs } from './door.ts';
import { principalOf } from './principal.ts';
import { HttpProblem } from './problem.ts';
import { resource } from './resource.ts';

const text = nameText(200);
export const approvalListQuery = z.strictObject({
  ...pageQuery(),
  workflowId: text.optional().describe('The slug of the workflow.'),
  user: text.optional().describe('A person who is asked.'),
  role: text.optional().describe('A role that is asked.'),
  group: text.optional().describe('A group that is asked.'),
  resourceType: text.optional().describe('What it is about: a type,'),
  resourceId: text.optional().describe('and, together with it, an id.'),
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
      const { limit, cursor, workflowId, user, role, group, resourceType, resourceId, all } = queryAs(
        req,
        approvalListQuery,
      );
      const named = user ?? role ?? group;
      if (resourceId !== undefined && resourceType === undefined) {
        throw new HttpProblem('invalid_request', 'A resourceId is looked for together with its resourceType.');
      }
      const waiting = [
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
        ...(cursor === undefined ? {} : { cursor }),
        ...(workflowId === undefined ? {} : { workflowId }),
      });
      res.json(page);
    },
  });
}
