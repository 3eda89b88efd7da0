/**
 * Messages: to the oldest listener that takes one, else into the inbox. A published event is only for those that listen:
 * what none of them takes is dropped. A full inbox drops messages and counts them; it fails no run.
 */
import type { Core } from './core.ts';
import { deliver } from './delivery.ts';
import { MAX_INBOX_BYTES, MAX_INBOX_MESSAGES, MESSAGE_OVERHEAD, REMEMBERED_IDS } from './limits.ts';
import { shorten } from './paths.ts';
import type { Event } from './protocol.ts';
import type { InboxMessage } from './state.ts';
import { drain } from './turns.ts';
import { weigh } from './weigh.ts';

/** Two messages with one id are one. */
export function message(core: Core, event: Extract<Event, { type: 'message' }>): void {
  const { state } = core;
  const { name, payload, event: published } = event;
  const id = event.id === undefined ? undefined : shorten(event.id);
  if (id !== undefined) {
    if (state.seen.includes(id)) return;
    state.seen.push(id);
    if (state.seen.length > REMEMBERED_IDS) state.seen.shift();
  }
  const bytes = weigh(payload) + name.length + (published?.key?.length ?? 0) + MESSAGE_OVERHEAD;
  state.arrived = (state.arrived ?? 0) + 1;
  const came: InboxMessage = {
    name,
    payload,
    bytes,
    n: state.arrived,
    ...(published === undefined ? {} : { event: published }),
  };
  if (state.rolling === undefined && state.draining === undefined) {
    // What waits to be walked may be listening next: in order, it comes before this message.
    drain(core);
    if (state.ending !== undefined) return;
    if (deliver(core, came)) {
      state.bytes += bytes;
      return;
    }
  }
  if (published === undefined) keepUnread(core, came, id);
}

/** One that is dropped may be sent again under its id. */
function keepUnread({ state, program }: Core, came: InboxMessage, id: string | undefined): void {
  const isFull = state.inbox.length >= MAX_INBOX_MESSAGES || state.inboxBytes + came.bytes > MAX_INBOX_BYTES;
  if (isFull && program.rules.inbox()) {
    state.dropped = (state.dropped ?? 0) + 1;
    if (id !== undefined && state.seen.at(-1) === id) state.seen.pop();
    return;
  }
  state.inbox.push(came);
  state.inboxBytes += came.bytes;
  state.bytes += came.bytes;
}
