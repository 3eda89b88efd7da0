/** Delivers messages to the oldest visit that listens and takes them. */
import type { Message } from '../../steps/kind.ts';
import type { Core } from '../state/core.ts';
import type { InboxMessage, OpenVisit } from '../state/state.ts';
import { matches } from '../state/subscription.ts';
import { openVisits } from './address.ts';
import { sortInbox } from './return-messages.ts';
import { resumeNow } from './walk.ts';

const LISTENING: ReadonlySet<string | undefined> = new Set(['message', 'callback']);

/** Returns whether a visit took the message. */
export function deliver(core: Core, message: Message): boolean {
  for (const { frame, visit } of openVisits(core.state)) {
    if (!isFor(visit, message)) continue;
    if (resumeNow(core, frame, visit.path, { on: 'message', payload: message.payload, message })) return true;
  }
  return false;
}

/** Offers returned messages to open listeners. */
export function offerReturned(core: Core): void {
  const { state } = core;
  const unread = state.inbox;
  const left: InboxMessage[] = [];
  state.inbox = [];
  for (const { returned, ...message } of unread) {
    if (returned === true && deliver(core, message)) state.inboxBytes -= message.bytes;
    else left.push(message);
  }
  // Messages that were returned meanwhile get an offer of their own.
  state.inbox = [...left, ...state.inbox];
  sortInbox(core);
}

function isFor({ waiting, alwaysTakes }: OpenVisit, message: Message): boolean {
  const hearing = waiting?.hearing;
  if (hearing !== undefined) return matches(hearing, message);
  if (message.event !== undefined) return false;
  return alwaysTakes === message.name || (LISTENING.has(waiting?.kind) && waiting?.name === message.name);
}
