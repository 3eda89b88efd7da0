/** Whether the caller still listens: a wait ends when the caller has gone. */
import type { Response } from 'express';

/**
 * Aborted when the connection closes before the answer is complete, or now where it has closed already, since its event
 * does not come again. Also aborted with `also`, which may live longer: `AbortSignal.any` would keep a reference for
 * each call until it ends.
 */
export function callerGone(res: Response, also?: AbortSignal): AbortController {
  const gone = new AbortController();
  const abort = (): void => {
    also?.removeEventListener('abort', abort);
    gone.abort();
  };
  if (res.destroyed || also?.aborted === true) gone.abort();
  else {
    res.once('close', () => {
      if (res.writableFinished) also?.removeEventListener('abort', abort);
      else abort();
    });
    also?.addEventListener('abort', abort);
  }
  return gone;
}
