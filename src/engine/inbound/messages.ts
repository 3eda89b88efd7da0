/**
 * Messages go to the oldest listener that takes them, else into the inbox. A published event goes to open listeners
 * only, and is dropped if none takes it. A full inbox, or a full run, drops messages and counts them; they fail no run.
 */

import { jsonBytes } from '../../json/bytes.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { Core } from '../state/core.ts';
import { MAX_INBOX_BYTES, MAX_INBOX_MESSAGES, MESSAGE_OVERHEAD, REMEMBERED_IDS } from '../state/limits.ts';
import { shorten } from '../state/paths.ts';
import type { Event } from '../state/protocol.ts';
import { hasSpace } from '../state/space.ts';
import type { InboxMessage, RunState } from '../state/state.ts';
import { deliver } from '../walk/delivery.ts';
import { runWorkLoop } from '../walk/work-loop.ts';

type MessageEvent = Extract<Event, { type: 'message' }>;

export function receiveMessage(core: Core, event: MessageEvent): void {
  const { state } = core;
  const message = numberMessage(state, event);
  if (message === undefined) return;
  if (state.rollback === undefined && state.draining === undefined) {
    // Queued work precedes this message and may begin a listener.
    runWorkLoop(core);
    if (state.ending !== undefined) return;
    if (deliver(core, message, event.only)) {
      state.bytes += message.bytes;
      rememberId(state, event);
      return;
    }
  }
  if (event.event !== undefined) return;
  if (!fitsInbox(core, message)) state.droppedCount = (state.droppedCount ?? 0) + 1;
  else addToInbox(state, message, event);
}

/** Whether the message fits into the inbox and the run's state: unread messages must not fail the run. */
function fitsInbox(core: Core, { bytes }: InboxMessage): boolean {
  const { inbox, inboxBytes } = core.state;
  return inbox.length < MAX_INBOX_MESSAGES && inboxBytes + bytes <= MAX_INBOX_BYTES && hasSpace(core, bytes);
}

/** For a retry: keeps the message at which a listener failed for that listener, which begins again. */
export function requeueForListener(state: RunState, event: MessageEvent): void {
  const message = numberMessage(state, event);
  if (message !== undefined) addToInbox(state, message, event);
}

/** Numbers the message; undefined where a message with its id was received before. */
function numberMessage(state: RunState, { id, name, payload, event }: MessageEvent): InboxMessage | undefined {
  if (id !== undefined && state.messageIds.includes(shorten(id))) return undefined;
  const bytes = jsonBytes(payload) + name.length + (event?.key?.length ?? 0) + MESSAGE_OVERHEAD;
  state.messageCount = (state.messageCount ?? 0) + 1;
  return { name, payload, bytes, n: state.messageCount, ...omitUndefined({ event }) };
}

function addToInbox(state: RunState, message: InboxMessage, event: MessageEvent): void {
  state.inbox.push(message);
  state.inboxBytes += message.bytes;
  state.bytes += message.bytes;
  rememberId(state, event);
}

/**
 * The id of a dropped message is not remembered: it may be sent again, and events do not displace the ids of
 * messages.
 */
function rememberId(state: RunState, { id }: MessageEvent): void {
  if (id === undefined) return;
  state.messageIds.push(shorten(id));
  if (state.messageIds.length > REMEMBERED_IDS) state.messageIds.shift();
}
