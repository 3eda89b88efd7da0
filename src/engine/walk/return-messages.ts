/** Returns messages that a visit took from the inbox and did not use, in their order of arrival. */
import type { Message } from '../../steps/kind.ts';
import type { Core } from '../state/core.ts';
import { charge, hasSpace } from '../state/space.ts';
import type { RunState } from '../state/state.ts';

/** Open listeners are offered the messages next. A message that none of them takes stays for a later listener. */
export function returnMessages(core: Core, messages: readonly Message[]): void {
  const { state, returnsMessages } = core;
  if (messages.length === 0 || returnsMessages === 'not') return;
  const isOffered = returnsMessages !== 'quietly';
  const kept = isOffered ? withRoom(core, messages) : messages;
  if (kept.length === 0) return;
  state.inbox = [
    ...state.inbox,
    ...(isOffered ? kept.map((message) => ({ ...message, returned: true as const })) : kept),
  ];
  sortInbox(core);
  forgetRefused(state, kept);
  for (const { bytes } of kept) state.inboxBytes += bytes;
  if (isOffered) state.work.push({ do: 'offer' });
}

/** A message that did not fit into step state does not fit into the inbox either: it is dropped and counted. */
function withRoom(core: Core, messages: readonly Message[]): readonly Message[] {
  const { state } = core;
  let held = 0;
  const kept = messages.filter(({ bytes }) => {
    const fits = hasSpace(core, held + bytes);
    if (fits) held += bytes;
    return fits;
  });
  charge(core, held);
  if (kept.length < messages.length) state.droppedCount = (state.droppedCount ?? 0) + messages.length - kept.length;
  return kept;
}

/** Returned messages precede messages that were refused, so steps are asked again from there on. */
function forgetRefused(state: RunState, messages: readonly Message[]): void {
  if (state.refusedUpTo === undefined) return;
  const before = messages.reduce((least, { n = 0 }) => Math.min(least, n), Number.POSITIVE_INFINITY) - 1;
  state.refusedUpTo = Object.fromEntries(
    Object.entries(state.refusedUpTo).map(([step, noted]) => [step, { ...noted, n: Math.min(noted.n, before) }]),
  );
}

/** Oldest first. Messages from before messages were numbered are the oldest. */
export function sortInbox({ state }: Core): void {
  state.inbox.sort((a, b) => (a.n ?? 0) - (b.n ?? 0));
}
