/**
 * What has to happen before something is changed: rpc.ts asks here before each write. The gateway lets requests that
 * change something run within `announcing`, and so no change is made that the audit was not told of first.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const announcements = new AsyncLocalStorage<() => Promise<void>>();

/** Runs `act`; its first write waits for `announce`, and is not made where that fails. */
export function announcing<T>(announce: () => Promise<void>, act: () => T): T {
  let announced: Promise<void> | undefined;
  return announcements.run(() => {
    announced ??= announce();
    return announced;
  }, act);
}

/** Runs `act`, whose writes need no announcement: they are the announcement, or are nobody's change. */
export const unannounced = <T>(act: () => T): T => announcements.exit(act);

/** Resolves when a write may be made. */
export async function aboutToChange(): Promise<void> {
  await announcements.getStore()?.();
}
