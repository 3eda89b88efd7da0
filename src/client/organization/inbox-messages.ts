/** The inbox of an organization: messages of its runs for people. Reads the actor's memo, without a worker. */
import {
  type DeliverMessage,
  INBOX_MEMO_PREFIX,
  INBOX_WORKFLOW,
  type InboxMessage,
  type InboxStart,
  type RemoveMessage,
} from '../../contract/organization/inbox.ts';
import { ClientError, rethrowAs } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { describe, updateActor, updateWithStart } from '../temporal/actor-calls.ts';
import { inboxId } from '../temporal/ids.ts';

/** Keeps a message. A repeated id changes nothing. @throws ClientError `payload_too_large`. */
export async function deliverToInbox(
  access: WriteAccess,
  org: string,
  message: Omit<InboxMessage, 'receivedAt'>,
): Promise<void> {
  const start: InboxStart = { organizationId: org, historyLimit: access.historyLimit };
  const actor = { workflowId: inboxId(org), workflowType: INBOX_WORKFLOW, start };
  await updateWithStart<DeliverMessage, { delivered: boolean }>(access, actor, 'deliver', { message });
}

/** All messages, newest first. */
export async function listInbox(access: Access, org: string): Promise<InboxMessage[]> {
  const description = await describe(access, inboxId(org));
  return Object.entries(description?.memo ?? {})
    .filter(([field]) => field.startsWith(INBOX_MEMO_PREFIX))
    .map(([, message]) => message as InboxMessage)
    .sort((a, b) => (messageSortKey(a) < messageSortKey(b) ? 1 : -1));
}

/** The sort key of a message. Later messages sort after earlier ones. */
export const messageSortKey = ({ receivedAt, id }: InboxMessage): string => `${receivedAt} ${id}`;

/** @throws ClientError `not_found`. */
export async function removeFromInbox(access: WriteAccess, org: string, id: string): Promise<void> {
  await updateActor<RemoveMessage, { removed: boolean }>(access, inboxId(org), 'remove', { id }).catch(
    rethrowAs('not_found', () => new ClientError('not_found', 'There is no such message in the inbox.')),
  );
}
