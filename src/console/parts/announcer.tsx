/** Tells people who do not see the page what has changed: politely, and at most once in five seconds. */
import { storeOf, useStore } from '../data/store.ts';

const APART_MS = 5_000;
const told = storeOf('');
let next: string | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says the text. Of several within five seconds only the last is said. */
export function announce(text: string): void {
  next = text;
  if (timer === undefined) tell();
}

function tell(): void {
  if (next !== undefined) told.set(next);
  timer = next === undefined ? undefined : setTimeout(tell, APART_MS);
  next = undefined;
}

export const Announcer = () => (
  <div class="hidden" role="status" aria-live="polite">
    {useStore(told)}
  </div>
);
