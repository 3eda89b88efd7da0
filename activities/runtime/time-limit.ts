/** A time limit of one effect, together with its cancellation. */

export interface TimeLimit {
  /** Aborted when the time is over, with a `TimeoutError`, or when the effect is cancelled. */
  readonly signal: AbortSignal;
  /** Whether the time was over before anything else ended the effect. */
  readonly isOver: boolean;
  /** Must be called at the end of the effect. */
  end(): void;
}

/**
 * Begins now. `AbortSignal.timeout` and `AbortSignal.any` would do the same for twice the processor time, and keep each
 * timer until its time is over.
 */
export function timeLimit(cancellation: AbortSignal, timeoutMs: number): TimeLimit {
  const own = new AbortController();
  let isOver = false;
  const cancel = (): void => own.abort(cancellation.reason);
  const timer = setTimeout(() => {
    if (own.signal.aborted) return;
    isOver = true;
    own.abort(new DOMException(`This took longer than ${timeoutMs} ms.`, 'TimeoutError'));
  }, timeoutMs).unref();
  if (cancellation.aborted) cancel();
  else cancellation.addEventListener('abort', cancel, { once: true });
  return {
    signal: own.signal,
    get isOver() {
      return isOver;
    },
    end: () => {
      clearTimeout(timer);
      cancellation.removeEventListener('abort', cancel);
    },
  };
}
