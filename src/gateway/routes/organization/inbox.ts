/** `/api/inbox`: messages that runs keep for people (step kind send_message, channel inbox). */

import type { Router } from 'express';
import { z } from 'zod';
import { ClientError } from '../../../client/errors.ts';
import { listInbox, orderOf, removeFromInbox } from '../../../client/organization/inbox-messages.ts';
import { callbackToken } from '../../../client/triggers/callbacks.ts';
import { readCursor, writeCursor } from '../../../client/visibility/cursor.ts';
import { callbackMark, type InboxMessage } from '../../../contract/inbox.ts';
import { includesRole } from '../../../contract/organization.ts';
import { mapTexts } from '../../../json/json.ts';
import type { Gateway } from '../../http/context.ts';
import { type Principal, principalOf } from '../../http/principal.ts';
import { resource } from '../../http/resource.ts';
import { checked, demandNoQuery, nameText, pageQuery, queryAs } from '../../validation/validation.ts';

export const inboxQuery = z.strictObject({
  ...pageQuery(),
  to: nameText(200)
    .optional()
    .describe('Only messages for this name, as the step wrote it, such as ann or role:finance.'),
});
export const messageId = z.string().regex(/^msg_[0-9a-f]{32}$/, 'Expected the id of a message.');

const LIST = 'inbox';

export function inboxRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;
  const { cursors } = access.keys;

  resource(router, '/api/inbox', {
    GET: async (req, res) => {
      const { limit, cursor, to } = queryAs(req, inboxQuery);
      const principal = principalOf(req);
      const { organizationId } = principal;
      const place = `${LIST} ${organizationId} ${to ?? ''}`;
      const before = cursor === undefined ? undefined : Buffer.from(readCursor(cursors, place, cursor)).toString();
      const found = (await listInbox(access, organizationId)).filter(
        (message) =>
          isFor(message, principal) &&
          (to === undefined || message.to.includes(to)) &&
          (before === undefined || orderOf(message) < before),
      );
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const hasMore = found.length > page.length && last !== undefined;
      const items = page.map((message) => shown(gateway, message, principal));
      res.json({ items, ...(hasMore ? { nextCursor: writeCursor(cursors, place, Buffer.from(orderOf(last))) } : {}) });
    },
  });

  resource(router, '/api/inbox/:id', {
    DELETE: async (req, res) => {
      demandNoQuery(req);
      const principal = principalOf(req);
      const id = checked(messageId, req.params['id'], 'path');
      const messages = await listInbox(access, principal.organizationId);
      if (!messages.some((message) => message.id === id && isFor(message, principal)))
        throw new ClientError('not_found', 'There is no such message in the inbox.');
      await removeFromInbox(access, principal.organizationId, id);
      res.status(204).end();
    },
  });
}

/** With the URLs of its callbacks, for those who may send the run messages: calling one is no less. */
function shown(gateway: Gateway, { callbacks, ...message }: InboxMessage, { role }: Principal): InboxMessage {
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

/** Messages for nobody in particular are for everybody. Without keys there are no persons, and an admin sees all. */
function isFor({ to }: InboxMessage, { id, role, roles, groups }: Principal): boolean {
  if (id === undefined || role === 'admin' || to.length === 0) return true;
  const names = [id, `user:${id}`, ...roles.map((one) => `role:${one}`), ...groups.map((one) => `group:${one}`)];
  return to.some((name) => names.includes(name));
}
