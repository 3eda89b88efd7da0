/** Which messages and events a visit listens to. */
import { listenTag } from '../../contract/run.ts';
import type { Hearing, Message, WaitingSpec } from '../../steps/kind.ts';

/** What the visit listens to. A run that was carried from before `hearing` tells it by its audience. */
export function hearingOf({ name, hearing, audience = [] }: WaitingSpec): Hearing | undefined {
  if (hearing !== undefined || name === undefined) return hearing;
  return audience.includes(listenTag(name)) ? { names: [name] } : undefined;
}

export function hears({ names, key }: Hearing, { name, event }: Pick<Message, 'name' | 'event'>): boolean {
  return names.includes(name) && (event === undefined || key === undefined || key === event.key);
}
