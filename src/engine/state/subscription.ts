/** The messages and events that a visit listens to. */
import { listenTag } from '../../contract/run.ts';
import type { Message, Subscription, WaitingSpec } from '../../steps/kind.ts';

/** The visit's subscription. States from before `hearing` existed have it in the audience. */
export function subscriptionOf({ name, hearing, audience = [] }: WaitingSpec): Subscription | undefined {
  if (hearing !== undefined || name === undefined) return hearing;
  return audience.includes(listenTag(name)) ? { names: [name] } : undefined;
}

export function matches({ names, key }: Subscription, { name, event }: Pick<Message, 'name' | 'event'>): boolean {
  return names.includes(name) && (event === undefined || key === undefined || key === event.key);
}
