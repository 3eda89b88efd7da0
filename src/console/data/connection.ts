/** Whether the gateway can be reached. While it cannot, it is asked every other second; then all screens load again. */
import { storeOf } from './store.ts';

const RETRY_MS = 2_000;

/** True from a request that nothing answered until the gateway answers again. */
export const isLost = storeOf(false);

/** Counts how often the connection came back. Resources load again when it changes. */
export const returns = storeOf(0);

/** Tells that a request got no answer. */
export function noteLost(): void {
  if (isLost.get()) return;
  isLost.set(true);
  setTimeout(() => void tryAgain(), RETRY_MS);
}

/** Tells that the gateway has answered. */
export function noteReached(): void {
  if (!isLost.get()) return;
  isLost.set(false);
  returns.set(returns.get() + 1);
}

async function tryAgain(): Promise<void> {
  try {
    await fetch('/healthz', { cache: 'no-store' });
    noteReached();
  } catch {
    setTimeout(() => void tryAgain(), RETRY_MS);
  }
}
