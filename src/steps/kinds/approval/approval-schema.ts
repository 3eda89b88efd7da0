/** The written config of an approval (LANGUAGE.md §6). */
import { z } from 'zod';
import { MESSAGE_CHANNELS } from '../../../contract/run/activity-options.ts';
import {
  anyValue,
  configSchema,
  duration,
  instant,
  nameList,
  payloadFormat,
  templated,
  textTemplate,
} from '../../config/schema.ts';
import { hasOneRecipient, ONE_RECIPIENT } from '../send-message.ts';
import { NOTICES } from './approval-notify.ts';

export const ON_TIMEOUT = ['timeout', 'approved', 'rejected', 'escalate'] as const;
export const ON_REJECT = ['port', 'cancel'] as const;
/** Priorities that lists know. Other texts are shown as they are. */
export const PRIORITIES: readonly string[] = ['low', 'medium', 'high', 'urgent'];
/** Members for the subject of the approval. They are shown with it, and are part of `meta`. */
export const SUBJECT = ['priority', 'dueDate', 'resourceType', 'resourceId', 'routeHint', 'deeplink'] as const;

const notice = () => noticeMembers().refine(hasOneRecipient, ONE_RECIPIENT);

const noticeMembers = () =>
  z.strictObject({
    channel: z.enum(MESSAGE_CHANNELS).describe('As in send_message.'),
    to: nameList().describe('As in send_message. Each address of an e-mail gets a message and a link of its own.'),
    on: z
      .array(z.enum(NOTICES))
      .min(1)
      .optional()
      .describe('When: asked, reminder, escalated, decided. Default: all of them.'),
    as: textTemplate()
      .optional()
      .describe('The person as whom the link decides. Default: who has the address of the e-mail. Others get no link.'),
    subject: textTemplate().optional().describe('Default: what happened, and the question.'),
    from: textTemplate().optional().describe('email: the sender.'),
    replyTo: textTemplate().optional().describe('email: where answers go.'),
    smtp: templated(z.record(z.string(), anyValue())).optional().describe('email: the server, as in send_message.'),
    headers: templated(z.record(z.string(), anyValue())).optional().describe('webhook: request headers.'),
    secret: z
      .union([textTemplate(), z.array(textTemplate()).min(1).max(2)])
      .optional()
      .describe('webhook: what it is signed with.'),
  });

export function approvalSchema(): z.ZodType {
  const approvers = z.union([
    nameList(),
    z.strictObject({ users: nameList().optional(), roles: nameList().optional(), groups: nameList().optional() }),
  ]);
  return configSchema({
    message: textTemplate().describe('The question.'),
    approvers: approvers
      .optional()
      .describe(
        "Who may decide: {users, roles, groups}, or a list of names ('ann', 'role:finance'). " +
          'Default: everyone with the right to approve.',
      ),
    quorum: templated(z.union([z.enum(['any', 'all']), z.number().int().min(1)]))
      .optional()
      .describe("How many must approve: 'any' (default: the first vote decides), 'all' who are named, or a number."),
    requesterMayApprove: z
      .boolean()
      .optional()
      .describe(
        'Whether the person who started the run, or a run that it was forked from, may decide. Default: false.',
      ),
    timeout: duration()
      .optional()
      .describe("How long to wait: '2d', 'PT48H', milliseconds. Default: as long as the run may take."),
    onTimeout: z
      .enum(ON_TIMEOUT)
      .optional()
      .describe("The effect of the timeout: end by its port (default), decide, or ask 'escalateTo'."),
    escalateTo: approvers
      .optional()
      .describe('Who is asked after the timeout, for as long again; any one of them decides.'),
    reminders: z
      .array(duration())
      .max(20)
      .optional()
      .describe('Times after the start at which the message gets a mark, "(reminder 1)", and `notify` sends.'),
    outsiders: z
      .boolean()
      .optional()
      .describe('Whether links also decide for addresses that no API key has. Default: false.'),
    notify: z.array(notice()).max(10).optional().describe('Whom to send messages, with links to decide by.'),
    form: payloadFormat().optional().describe('What an approver fills in; checked when they approve.'),
    commentRequired: z.boolean().optional().describe('A decision needs a comment.'),
    onReject: z
      .enum(ON_REJECT)
      .optional()
      .describe("'port' (default), or 'cancel': the run is cancelled with approval_denied."),
    priority: textTemplate().optional().describe('low, medium, high, urgent: for lists.'),
    dueDate: instant()
      .optional()
      .describe("A point in time, '2026-01-31T09:00:00Z' or milliseconds since 1970, for lists; it ends nothing."),
    resourceType: textTemplate().optional().describe('The subject: a type …'),
    resourceId: templated(z.union([z.string().min(1), z.number()]))
      .optional()
      .describe('… and an id.'),
    routeHint: textTemplate().optional().describe('Where the host’s own pages show it.'),
    deeplink: textTemplate().optional().describe('A link to what is to be decided.'),
  });
}
