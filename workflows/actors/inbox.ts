/**
 * The actor `inbox.{org}`: messages that runs keep for people (ARCHITECTURE.md §4). The memo has one field for each, so that
 * listing needs no worker and a message costs its own size.
 */

import { upsertMemo } from '@temporalio/workflow';
import {
  type DeliverMessage,
  INBOX_BYTES,
  INBOX_MESSAGE_BYTES,
  INBOX_MESSAGES,
  INBOX_PLACE,
  type InboxMessage,
  type InboxStart,
  type RemoveMessage,
} from '../../src/contract/inbox.ts';
import { exactJsonBytes } from '../../src/json/bytes.ts';
import { becomeNew, refuse, stored, untilFull, writes } from './actor.ts';

/** A repeated delivery comes within the retries of one step. */
const GONE_REMEMBERED = 1_000;

export function inbox(start: InboxStart): Promise<never> {
  return stored(() => keepInbox(start));
}

async function keepInbox(start: InboxStart): Promise<never> {
  const messages = new Map((start.carried?.messages ?? []).map((message) => [message.id, message]));
  const gone = new Set(start.carried?.gone);
  const taken = writes(start.carried?.answers ?? []);
  let bytes = [...messages.values()].reduce((sum, message) => sum + sizeOf(message), 0);

  const forget = (message: InboxMessage): void => {
    messages.delete(message.id);
    bytes -= sizeOf(message);
    gone.add(message.id);
    for (const id of gone) {
      if (gone.size <= GONE_REMEMBERED) break;
      gone.delete(id);
    }
  };

  taken.on<DeliverMessage, { delivered: boolean }>(
    'deliver',
    ({ message }) => {
      const size = sizeOf(message);
      if (size > INBOX_MESSAGE_BYTES)
        refuse('payload_too_large', `The message has ${size} bytes; an inbox takes ${INBOX_MESSAGE_BYTES}. Send less.`);
    },
    ({ message }) => {
      if (messages.has(message.id) || gone.has(message.id)) return { delivered: false };
      const received: InboxMessage = { ...message, receivedAt: new Date(Date.now()).toISOString() };
      messages.set(message.id, received);
      bytes += sizeOf(received);
      const shown: { [place: string]: InboxMessage | undefined } = { [placeOf(message.id)]: received };
      for (const oldest of messages.values()) {
        if (messages.size <= INBOX_MESSAGES && bytes <= INBOX_BYTES) break;
        forget(oldest);
        shown[placeOf(oldest.id)] = undefined;
      }
      upsertMemo(shown as { [place: string]: unknown });
      return { delivered: true };
    },
  );

  taken.on<RemoveMessage, { removed: boolean }>(
    'remove',
    ({ id }) => {
      if (!messages.has(id)) refuse('not_found', 'There is no such message. It may have been removed already.');
    },
    ({ id }) => {
      const message = messages.get(id);
      if (message !== undefined) forget(message);
      upsertMemo({ [placeOf(id)]: undefined });
      return { removed: message !== undefined };
    },
  );

  await untilFull(start.historyLimit);
  return becomeNew<typeof inbox>({
    ...start,
    carried: { messages: [...messages.values()], gone: [...gone], answers: taken.answers() },
  });
}

const placeOf = (id: string): string => `${INBOX_PLACE}${id}`;

/** What a message takes in the memo, about. */
const sizeOf = (message: object): number => exactJsonBytes(message);
