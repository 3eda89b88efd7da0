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
  const remaining = isOffered ? dropOverflow(core, messages) : messages;
  if (remaining.length === 0) return;
  state.inbox = [
    ...state.inbox,
    ...(isOffered ? remaining.map((message) => ({ ...message, returned: true as const })) : remaining),
  ];
  sortInbox(core);
  forgetRefused(state, remaining);
  for (const { bytes } of remaining) state.inboxBytes += bytes;
  if (isOffered) state.work.push({ do: 'offer' });
}

/** A message that did not fit into step state does not fit into the inbox either: it is dropped and counted. */
function dropOverflow(core: Core, messages: readonly Message[]): readonly Message[] {
  const { state } = core;
  let bytesTaken = 0;
  const fitting = messages.filter(({ bytes }) => {
    const fits = hasSpace(core, bytesTaken + bytes);
    if (fits) bytesTaken += bytes;
    return fits;
  });
  charge(core, bytesTaken);
  if (fitting.length < messages.length)
    state.droppedCount = (state.droppedCount ?? 0) + messages.length - fitting.length;
  return fitting;
}

/** Returned messages precede messages that were refused, so steps check the messages after them again. */
function forgetRefused(state: RunState, messages: readonly Message[]): void {
  if (state.refusedUpTo === undefined) return;
  const before = messages.reduce((min, { n = 0 }) => Math.min(min, n), Number.POSITIVE_INFINITY) - 1;
  state.refusedUpTo = Object.fromEntries(
    Object.entries(state.refusedUpTo).map(([step, entry]) => [step, { ...entry, n: Math.min(entry.n, before) }]),
  );
}

/** Oldest first. Messages from before messages were numbered are the oldest. */
export function sortInbox({ state }: Core): void {
  state.inbox.sort((a, b) => (a.n ?? 0) - (b.n ?? 0));
}
