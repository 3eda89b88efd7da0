/**
 * The actor `inbox.{org}`: messages that runs keep for people (ARCHITECTURE.md §4). Each message has a field of its own
 * in the memo: listing needs no worker, and a new message costs only its own size.
 */
import {
  type DeliverMessage,
  INBOX_BYTES,
  INBOX_MEMO_PREFIX,
  INBOX_MESSAGE_BYTES,
  type InboxMessage,
  type InboxStart,
  MAX_ORGANIZATION_INBOX_MESSAGES,
  type RemoveMessage,
} from '../../src/contract/organization/inbox.ts';
import { exactJsonBytes } from '../../src/json/bytes.ts';
import { type Actor, type Operation, refuse } from './actor.ts';

/** A repeated delivery comes within the retries of one step. */
const MAX_REMOVED_IDS = 1_000;

interface Inbox {
  /** By id, oldest first. */
  readonly messages: ReadonlyMap<string, InboxMessage>;
  /** Ids of messages that were removed, oldest first: a repeated delivery does not bring one back. */
  readonly gone: ReadonlySet<string>;
  /** Of all messages together. */
  readonly bytes: number;
}

/** When the inbox is full, the oldest messages go. */
const deliver: Operation<Inbox, DeliverMessage, { delivered: boolean }> = (inbox, { message }, now) => {
  const size = bytesOf(message);
  if (size > INBOX_MESSAGE_BYTES)
    return refuse(
      'payload_too_large',
      `The message has ${size} bytes; an inbox takes ${INBOX_MESSAGE_BYTES}. Send less.`,
    );
  if (inbox.messages.has(message.id) || inbox.gone.has(message.id))
    return { state: inbox, answer: { delivered: false } };
  const received: InboxMessage = { ...message, receivedAt: new Date(now).toISOString() };
  let next: Inbox = {
    ...inbox,
    messages: new Map(inbox.messages).set(message.id, received),
    bytes: inbox.bytes + bytesOf(received),
  };
  const fields: { [name: string]: InboxMessage | undefined } = { [fieldOf(message.id)]: received };
  for (const oldest of next.messages.values()) {
    if (next.messages.size <= MAX_ORGANIZATION_INBOX_MESSAGES && next.bytes <= INBOX_BYTES) break;
    next = removeMessage(next, oldest);
    fields[fieldOf(oldest.id)] = undefined;
  }
  return { state: next, answer: { delivered: true }, effects: [{ type: 'memo', fields }] };
};

const remove: Operation<Inbox, RemoveMessage, { removed: boolean }> = (inbox, { id }) => {
  const message = inbox.messages.get(id);
  if (message === undefined) return refuse('not_found', 'There is no such message. It may have been removed already.');
  return {
    state: removeMessage(inbox, message),
    answer: { removed: true },
    effects: [{ type: 'memo', fields: { [fieldOf(id)]: undefined } }],
  };
};

function removeMessage(inbox: Inbox, message: InboxMessage): Inbox {
  const messages = new Map(inbox.messages);
  messages.delete(message.id);
  const gone = [...inbox.gone, message.id].slice(-MAX_REMOVED_IDS);
  return { messages, gone: new Set(gone), bytes: inbox.bytes - bytesOf(message) };
}

const fieldOf = (id: string): string => `${INBOX_MEMO_PREFIX}${id}`;

/** About what a message takes in the memo. */
const bytesOf = (message: object): number => exactJsonBytes(message);

export const inboxActor: Actor<InboxStart, Inbox> = {
  begin: ({ carried }) => {
    const { messages = [], gone = [] } = carried ?? {};
    return {
      messages: new Map(messages.map((message) => [message.id, message])),
      gone: new Set(gone),
      bytes: messages.reduce((sum, message) => sum + bytesOf(message), 0),
    };
  },
  carry: ({ messages, gone }) => ({ messages: [...messages.values()], gone: [...gone] }),
  updates: { deliver, remove },
};
