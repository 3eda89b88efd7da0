/** Takes messages out of the inbox for a visit that begins to listen. */
import type { Json } from '../../json/json.ts';
import type { Message, Subscription } from '../../steps/kind.ts';
import type { Step } from '../../steps/program-types.ts';
import type { Core } from '../state/core.ts';
import type { RunState } from '../state/state.ts';
import { matches } from '../state/subscription.ts';

interface TakeOptions {
  readonly subscription: Subscription;
  readonly limit: number;
  readonly accept: (payload: Json) => boolean;
  /** Given where a message that `accept` refuses is refused at every visit of this step: it is checked once. */
  readonly step?: Step;
}

/** Takes the oldest matching messages, up to the limit, in order. */
export function takeUnread({ state }: Core, { subscription, limit, accept, step }: TakeOptions): Message[] {
  const refused = step === undefined ? 0 : refusedUpTo(state, step, subscription);
  const isRefused = (n = 0) => refused > 0 && n <= refused;
  const taken: Message[] = [];
  let checkedUpTo = refused;
  const remaining = state.inbox.filter((unread) => {
    if (taken.length >= limit || !matches(subscription, unread) || isRefused(unread.n)) return true;
    const isTaken = accept(unread.payload);
    checkedUpTo = Math.max(checkedUpTo, unread.n ?? 0);
    if (!isTaken) return true;
    const { returned: _, ...message } = unread;
    taken.push(message);
    state.inboxBytes -= message.bytes;
    return false;
  });
  if (taken.length > 0) state.inbox = remaining;
  if (step !== undefined && checkedUpTo > refused) noteRefused(state, step, subscription, checkedUpTo);
  return taken;
}

/** The message number up to which the step has refused all messages of its subscription. */
function refusedUpTo({ refusedUpTo: refused }: RunState, step: Step, subscription: Subscription): number {
  const key = keyOf(step);
  const stored = refused !== undefined && Object.hasOwn(refused, key) ? refused[key] : undefined;
  return stored?.hearing === subscriptionKey(subscription) ? stored.n : 0;
}

function noteRefused(state: RunState, step: Step, subscription: Subscription, n: number): void {
  // No message is left that could be checked again.
  if (state.inbox.length === 0) delete state.refusedUpTo;
  else state.refusedUpTo = { ...state.refusedUpTo, [keyOf(step)]: { hearing: subscriptionKey(subscription), n } };
}

/** The prefix keeps a slug such as `__proto__` from being an inherited name. */
const keyOf = ({ key, slug }: Step): string => `:${key ?? slug}`;

const subscriptionKey = ({ names, key }: Subscription): string => JSON.stringify([names, key]);
