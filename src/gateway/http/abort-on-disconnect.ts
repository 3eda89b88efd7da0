/** Aborts work for a caller whose connection has closed. */
import type { Response } from 'express';

/**
 * Aborted when the connection closes before the answer is complete, and immediately if it has closed already, since its
 * event does not come again. Also aborted with `parentSignal`, which may live longer: `AbortSignal.any` would keep a
 * reference for each call until that signal is aborted.
 */
export function abortOnDisconnect(res: Response, parentSignal?: AbortSignal): AbortController {
  const controller = new AbortController();
  const abort = (): void => {
    parentSignal?.removeEventListener('abort', abort);
    controller.abort();
  };
  if (res.destroyed || parentSignal?.aborted === true) controller.abort();
  else {
    res.once('close', () => {
      if (res.writableFinished) parentSignal?.removeEventListener('abort', abort);
      else abort();
    });
    parentSignal?.addEventListener('abort', abort);
  }
  return controller;
}
