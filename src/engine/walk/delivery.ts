/** Delivers messages to the oldest visit that listens and takes them. */
import type { Message } from '../../steps/kind.ts';
import type { Core } from '../state/core.ts';
import type { InboxMessage, OpenVisit, RunState } from '../state/state.ts';
import { matches } from '../state/subscription.ts';
import { openVisits } from './address.ts';
import { sortInbox } from './return-messages.ts';
import { resumeNow } from './walk.ts';

type MessageHeader = Pick<Message, 'name' | 'event'>;

const LISTENING: ReadonlySet<string | undefined> = new Set(['message', 'callback']);

/** Returns whether a visit took the message. `only`: the paths of the visits that may. */
export function deliver(core: Core, message: Message, only?: readonly string[]): boolean {
  for (const { frame, visit } of openVisits(core.state)) {
    if (!listensTo(visit, message) || only?.includes(visit.path) === false) continue;
    if (resumeNow(core, frame, visit.path, { on: 'message', payload: message.payload, message })) return true;
  }
  return false;
}

/** The visits that listen for the message, the oldest first. */
export const listenersOf = (state: RunState, message: MessageHeader): string[] =>
  openVisits(state).flatMap(({ visit }) => (listensTo(visit, message) ? [visit.path] : []));

/** Offers returned messages to open listeners. */
export function offerReturned(core: Core): void {
  const { state } = core;
  const unread = state.inbox;
  const undelivered: InboxMessage[] = [];
  state.inbox = [];
  for (const { returned, ...message } of unread) {
    if (returned === true && deliver(core, message)) state.inboxBytes -= message.bytes;
    else undelivered.push(message);
  }
  // Messages that were returned meanwhile get an offer of their own.
  state.inbox = [...undelivered, ...state.inbox];
  sortInbox(core);
}

function listensTo({ waiting, alwaysTakes }: OpenVisit, message: MessageHeader): boolean {
  const subscription = waiting?.hearing;
  if (subscription !== undefined) return matches(subscription, message);
  if (message.event !== undefined) return false;
  return alwaysTakes === message.name || (LISTENING.has(waiting?.kind) && waiting?.name === message.name);
}
