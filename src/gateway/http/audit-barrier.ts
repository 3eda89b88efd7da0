/** Records a change before it is made: the writes of a request wait for its announcement (WriteAccess). */
import { AsyncLocalStorage } from 'node:async_hooks';

const announcements = new AsyncLocalStorage<() => Promise<void>>();

/** Runs `act`. Its first write waits for `announce`, and is not made where that fails. */
export function announcing<T>(announce: () => Promise<void>, act: () => T): T {
  let announced: Promise<void> | undefined;
  return announcements.run(() => {
    announced ??= announce();
    return announced;
  }, act);
}

/** The `beforeWrite` of the gateway. */
export async function aboutToChange(): Promise<void> {
  await announcements.getStore()?.();
}
