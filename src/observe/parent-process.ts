/**
 * Calls `end` once the process that forked this one is gone, also where it is gone already: then there is no event any
 * more. Does nothing in a process that was not forked.
 */
export function onParentExit(end: () => void): void {
  if (process.send === undefined) return;
  process.on('disconnect', end);
  if (!process.connected) end();
}

/** Sends a message to the process that forked this one, if it is still there. */
export function sendToParent(message: unknown): void {
  if (process.connected) process.send?.(message, undefined, {}, () => undefined);
}
