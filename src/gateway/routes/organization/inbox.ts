/** `/api/inbox`: messages that runs keep for people (step kind send_message, channel inbox). */
import { z } from 'zod';
import { ClientError } from '../../../client/errors.ts';
import { listInbox, messageSortKey, removeFromInbox } from '../../../client/organization/inbox-messages.ts';
import { callbackToken } from '../../../client/triggers/callbacks.ts';
import { callbackMark, type InboxMessage } from '../../../contract/organization/inbox.ts';
import { includesRole } from '../../../contract/organization/organization.ts';
import { mapTexts } from '../../../json/json.ts';
import { pageOf } from '../../answers/named.ts';
import type { Gateway } from '../../http/context.ts';
import { keysetPage } from '../../http/pagination.ts';
import type { Principal } from '../../http/principal.ts';
import { ok, route } from '../../http/route.ts';
import { LIST_PROBLEMS, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { nameText, pageQuery } from '../../validation/validation.ts';

const inboxQuery = z.strictObject({
  ...pageQuery(),
  to: nameText(200)
    .optional()
    .describe('Only messages for this name, as the step wrote it, such as ann or role:finance.'),
});
const messageId = z.string().regex(/^msg_[0-9a-f]{32}$/, 'Expected the id of a message.');

const message = z.object({
  id: z.string(),
  to: z.array(z.string()).describe('The recipients. Empty: everybody.'),
  subject: z.string().optional(),
  text: z
    .string()
    .optional()
    .describe("Runners and above see the URLs of callbacks in it; others see `{{ callback('slug') }}`."),
  data: z.unknown().optional(),
  executionId: z.string().describe('The run that sent it.'),
  stepSlug: z.string(),
  receivedAt: z.iso.datetime().describe('ISO 8601.'),
});

export const inboxRoutes = [
  route({
    method: 'GET',
    path: '/api/inbox',
    role: 'viewer',
    id: 'listInbox',
    summary: 'Lists messages that runs sent to you, the newest first.',
    description:
      'A message without recipients is for everybody; an admin sees all. The latest 1,000 messages are kept, ' +
      'and at most 1 MB of them.',
    query: inboxQuery,
    answers: { 200: { text: 'A page of messages.', schema: pageOf(message) } },
    problems: LIST_PROBLEMS,
    handle: async ({ gateway, access, principal, query: { to, ...wanted } }) => {
      const { organizationId } = principal;
      const found = (await listInbox(access, organizationId)).filter(
        (message) => isRecipient(message, principal) && (to === undefined || message.to.includes(to)),
      );
      const list = `inbox ${organizationId} ${to ?? ''}`;
      const page = keysetPage(gateway, list, found, messageSortKey, (order, last) => order < last, wanted);
      return ok({ ...page, items: page.items.map((message) => withCallbackUrls(gateway, message, principal)) });
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/inbox/:id',
    role: 'runner',
    id: 'deleteInboxMessage',
    summary: 'Deletes a message for all its recipients.',
    description: 'Only recipients may do it: a message for others is 404.',
    params: { id: messageId },
    answers: { 204: { text: 'Deleted.' } },
    problems: [...WRITE_PROBLEMS, 'not_found'],
    handle: async ({ access, principal, params: { id } }) => {
      const messages = await listInbox(access, principal.organizationId);
      if (!messages.some((message) => message.id === id && isRecipient(message, principal)))
        throw new ClientError('not_found', 'There is no such message in the inbox.');
      await removeFromInbox(access, principal.organizationId, id);
      return { status: 204 };
    },
  }),
];

/** Adds the URLs of callbacks for callers who may send the run messages, since calling a URL has the same effect. */
function withCallbackUrls(
  gateway: Gateway,
  { callbacks, ...message }: InboxMessage,
  { role }: Principal,
): InboxMessage {
  if (callbacks === undefined || !includesRole(role, 'runner')) return message;
  const { executionId } = message;
  const urls = Object.entries(callbacks).map(([slug, path]): [string, string] => {
    const token = callbackToken(gateway.access.keys.callbacks, { executionId, path, slug });
    return [callbackMark(slug), `${gateway.publicUrl()}/callbacks/${token}`];
  });
  const joined = (text: string): string => urls.reduce((rest, [mark, url]) => rest.replaceAll(mark, url), text);
  const { subject, text, data } = message;
  return {
    ...message,
    ...(subject === undefined ? {} : { subject: joined(subject) }),
    ...(text === undefined ? {} : { text: joined(text) }),
    ...(data === undefined ? {} : { data: mapTexts(data, joined) }),
  };
}

/** Messages without recipients are for everybody. An admin, and any caller while there are no keys, sees all. */
function isRecipient({ to }: InboxMessage, { id, role, roles, groups }: Principal): boolean {
  if (id === undefined || role === 'admin' || to.length === 0) return true;
  const names = [id, `user:${id}`, ...roles.map((one) => `role:${one}`), ...groups.map((one) => `group:${one}`)];
  return to.some((name) => names.includes(name));
}
