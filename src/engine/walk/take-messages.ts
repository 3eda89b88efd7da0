/** Takes messages out of the inbox for a visit that begins to listen. */
import type { Json } from '../../json/json.ts';
import type { Message, Subscription } from '../../steps/kind.ts';
import type { Step } from '../../steps/program-types.ts';
import type { Core } from '../state/core.ts';
import type { RunState } from '../state/state.ts';
import { matches } from '../state/subscription.ts';

interface TakeOptions {
  readonly hearing: Subscription;
  readonly most: number;
  readonly accept: (payload: Json) => boolean;
  /** Given where a message that `accept` refuses is refused at every visit of this step: it is asked once. */
  readonly step?: Step;
}

/** The oldest that are wanted, in order. */
export function takeUnread({ state }: Core, { hearing, most, accept, step }: TakeOptions): Message[] {
  const refused = step === undefined ? 0 : refusedUpTo(state, step, hearing);
  const isRefused = (n = 0) => refused > 0 && n <= refused;
  const taken: Message[] = [];
  let asked = refused;
  const left = state.inbox.filter((unread) => {
    if (taken.length >= most || !matches(hearing, unread) || isRefused(unread.n)) return true;
    const isTaken = accept(unread.payload);
    asked = Math.max(asked, unread.n ?? 0);
    if (!isTaken) return true;
    const { returned: _, ...message } = unread;
    taken.push(message);
    state.inboxBytes -= message.bytes;
    return false;
  });
  if (taken.length > 0) state.inbox = left;
  if (step !== undefined && asked > refused) noteRefused(state, step, hearing, asked);
  return taken;
}

/** The message number up to which the step has refused all messages of its subscription. */
function refusedUpTo({ refusedUpTo: refused }: RunState, step: Step, hearing: Subscription): number {
  const key = keyOf(step);
  const noted = refused !== undefined && Object.hasOwn(refused, key) ? refused[key] : undefined;
  return noted?.hearing === written(hearing) ? noted.n : 0;
}

function noteRefused(state: RunState, step: Step, hearing: Subscription, n: number): void {
  // No message is left to ask about again.
  if (state.inbox.length === 0) delete state.refusedUpTo;
  else state.refusedUpTo = { ...state.refusedUpTo, [keyOf(step)]: { hearing: written(hearing), n } };
}

/** The prefix keeps a slug such as `__proto__` from being an inherited name. */
const keyOf = ({ key, slug }: Step): string => `:${key ?? slug}`;

const written = ({ names, key }: Subscription): string => JSON.stringify([names, key]);
