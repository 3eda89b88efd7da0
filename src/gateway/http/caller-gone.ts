/** Whether whoever asked still listens: what waits for somebody else's sake ends when the caller has gone. */
import type { Response } from 'express';

/** Aborted when the connection closes, and at once where it has closed before: its event does not come again. */
export function callerGone(res: Response): AbortController {
  const gone = new AbortController();
  if (res.destroyed) gone.abort();
  else res.once('close', () => gone.abort());
  return gone;
}
