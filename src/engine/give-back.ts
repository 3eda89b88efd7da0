/** What a visit took from the inbox and did not use goes back, in the order in which it came. */
import type { Message } from '../steps/kind.ts';
import type { Core } from './core.ts';

/** Open listeners are shown it in the run's next turn; if none of them takes it, it stays for a later one. */
export function giveBack(core: Core, messages: readonly Message[]): void {
  const { state, program, givesBack } = core;
  if (messages.length === 0 || givesBack === 'not' || !program.rules.inbox()) return;
  const isOffered = givesBack !== 'quietly';
  state.inbox = [
    ...state.inbox,
    ...(isOffered ? messages.map((message) => ({ ...message, returned: true as const })) : messages),
  ];
  sortInbox(core);
  for (const { bytes } of messages) state.inboxBytes += bytes;
  if (isOffered) state.work.push({ do: 'offer' });
}

/** Oldest first. Messages that a run carried from before they were numbered are the oldest. */
export function sortInbox({ state }: Core): void {
  state.inbox.sort((a, b) => (a.n ?? 0) - (b.n ?? 0));
}
