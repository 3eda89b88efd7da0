/** Whether the caller still listens: a wait ends when the caller has gone. */
import type { Response } from 'express';

/** Aborted when the connection closes, or now where it has closed already, since its event does not come again. */
export function callerGone(res: Response): AbortController {
  const gone = new AbortController();
  if (res.destroyed) gone.abort();
  else res.once('close', () => gone.abort());
  return gone;
}
