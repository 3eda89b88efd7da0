/** Which messages and events a subscription takes. */
import type { Message, Subscription } from '../../steps/kind.ts';

export function matches({ names, key }: Subscription, { name, event }: Pick<Message, 'name' | 'event'>): boolean {
  return names.includes(name) && (event === undefined || key === undefined || key === event.key);
}
