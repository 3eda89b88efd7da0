/** Messages: to whoever listens, else into the inbox. */
import { visits } from './address.ts';
import type { Core } from './core.ts';
import { failRun } from './ending.ts';
import { MAX_INBOX_BYTES, MESSAGE_OVERHEAD, REMEMBERED_IDS } from './limits.ts';
import { shorten } from './paths.ts';
import type { Event } from './protocol.ts';
import { drain } from './turns.ts';
import { tell } from './walk.ts';
import { weigh } from './weigh.ts';

const LISTENING: ReadonlySet<string | undefined> = new Set(['message', 'callback']);

/** To the oldest listener that takes it, else into the inbox. Two messages with one id are one. */
export function message(core: Core, event: Extract<Event, { type: 'message' }>): void {
  const { state } = core;
  if (event.id !== undefined) {
    const id = shorten(event.id);
    if (state.seen.includes(id)) return;
    state.seen.push(id);
    if (state.seen.length > REMEMBERED_IDS) state.seen.shift();
  }
  const bytes = weigh(event.payload) + event.name.length + MESSAGE_OVERHEAD;
  state.bytes += bytes;
  if (state.rolling === undefined && state.draining === undefined) {
    // What waits to be walked may be listening next: in order, it comes before this message.
    drain(core);
    if (state.ending !== undefined) return;
    for (const { frame, visit } of visits(state)) {
      const waitsForIt = LISTENING.has(visit.waiting?.kind) && visit.waiting?.name === event.name;
      if (!waitsForIt && visit.hears !== event.name) continue;
      if (tell(core, frame, visit.path, { on: 'message', payload: event.payload })) return;
    }
  }
  state.inbox.push({ name: event.name, payload: event.payload, bytes });
  state.inboxBytes += bytes;
  if (state.inboxBytes > MAX_INBOX_BYTES && state.rolling === undefined)
    failRun(core, {
      code: 'inbox_overflow',
      message: `Messages of ${state.inboxBytes} bytes wait unread; at most ${MAX_INBOX_BYTES} fit.`,
      retryable: false,
      details: { bytes: state.inboxBytes, limit: MAX_INBOX_BYTES, unread: state.inbox.length },
    });
}
