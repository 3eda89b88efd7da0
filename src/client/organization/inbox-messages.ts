/** The inbox of an organization: messages of its runs for people. Reads the actor's memo, without a worker. */
import {
  type DeliverMessage,
  INBOX_PLACE,
  INBOX_WORKFLOW,
  type InboxMessage,
  type InboxStart,
  type RemoveMessage,
} from '../../contract/inbox.ts';
import { ClientError, insteadOf } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { describe, writeOrStart, writeTo } from '../temporal/actor-calls.ts';
import { inboxId } from '../temporal/ids.ts';

/** Keeps a message. A repeated id changes nothing. @throws ClientError `payload_too_large`. */
export async function deliverToInbox(
  access: WriteAccess,
  org: string,
  message: Omit<InboxMessage, 'receivedAt'>,
): Promise<void> {
  const start: InboxStart = { organizationId: org, historyLimit: access.historyLimit };
  const actor = { workflowId: inboxId(org), workflowType: INBOX_WORKFLOW, start };
  await writeOrStart<DeliverMessage, { delivered: boolean }>(access, actor, 'deliver', { message });
}

/** All messages, newest first. */
export async function listInbox(access: Access, org: string): Promise<InboxMessage[]> {
  const description = await describe(access, inboxId(org));
  return Object.entries(description?.memo ?? {})
    .filter(([field]) => field.startsWith(INBOX_PLACE))
    .map(([, message]) => message as InboxMessage)
    .sort((a, b) => (orderOf(a) < orderOf(b) ? 1 : -1));
}

/** The sort key of a message. Later messages sort after earlier ones. */
export const orderOf = ({ receivedAt, id }: InboxMessage): string => `${receivedAt} ${id}`;

/** @throws ClientError `not_found`. */
export async function removeFromInbox(access: WriteAccess, org: string, id: string): Promise<void> {
  await writeTo<RemoveMessage, { removed: boolean }>(access, inboxId(org), 'remove', { id }).catch(
    insteadOf('not_found', () => new ClientError('not_found', 'There is no such message in the inbox.')),
  );
}
