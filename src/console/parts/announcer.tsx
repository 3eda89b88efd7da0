/** Announces changes to screen readers (a polite live region), at most once in five seconds. */
import { createStore, useStore } from '../data/store.ts';

const MIN_INTERVAL_MS = 5_000;
const announcement = createStore('');
let pendingText: string | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Announces the text. Of several within five seconds only the last is announced. */
export function announce(text: string): void {
  pendingText = text;
  if (timer === undefined) announceNext();
}

function announceNext(): void {
  if (pendingText !== undefined) announcement.set(pendingText);
  timer = pendingText === undefined ? undefined : setTimeout(announceNext, MIN_INTERVAL_MS);
  pendingText = undefined;
}

export const Announcer = () => (
  <div class="hidden" role="status" aria-live="polite">
    {useStore(announcement)}
  </div>
);
