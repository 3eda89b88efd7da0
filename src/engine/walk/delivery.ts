/** Whom a message is for: the oldest visit that listens for it and takes it. */
import type { Message } from '../../steps/kind.ts';
import type { Core } from '../state/core.ts';
import { hearingOf, hears } from '../state/hearing.ts';
import type { InboxMessage, OpenVisit } from '../state/state.ts';
import { visits } from './address.ts';
import { sortInbox } from './give-back.ts';
import { tell } from './walk.ts';

const LISTENING: ReadonlySet<string | undefined> = new Set(['message', 'callback']);

/** Whether a visit took it. */
export function deliver(core: Core, message: Message): boolean {
  for (const { frame, visit } of visits(core.state)) {
    if (!isFor(visit, message)) continue;
    if (tell(core, frame, visit.path, { on: 'message', payload: message.payload, message })) return true;
  }
  return false;
}

/** Shows open listeners what others have given back. */
export function offer(core: Core): void {
  const { state } = core;
  const unread = state.inbox;
  const left: InboxMessage[] = [];
  state.inbox = [];
  for (const { returned, ...message } of unread) {
    if (returned === true && deliver(core, message)) state.inboxBytes -= message.bytes;
    else left.push(message);
  }
  // What was given back meanwhile has a turn of its own.
  state.inbox = [...left, ...state.inbox];
  sortInbox(core);
}

function isFor({ waiting, hears: always }: OpenVisit, message: Message): boolean {
  const hearing = waiting === undefined ? undefined : hearingOf(waiting);
  if (hearing !== undefined) return hears(hearing, message);
  if (message.event !== undefined) return false;
  return always === message.name || (LISTENING.has(waiting?.kind) && waiting?.name === message.name);
}
