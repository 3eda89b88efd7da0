/** A time limit of one effect, together with its cancellation. */

interface TimeLimit {
  /** Aborted when the time is over, with a `TimeoutError`, or when the effect is cancelled. */
  readonly signal: AbortSignal;
  /** Whether the time was over before anything else ended the effect. */
  readonly isOver: boolean;
  /** Must be called at the end of the effect. */
  end(): void;
}

/**
 * Begins now. `AbortSignal.timeout` and `AbortSignal.any` would do the same for twice the processor time, and keep each
 * timer until its time is over. The signal is made when it is asked for.
 *
 * `stopped` is called when the time is over or the effect is cancelled, with the reason of the signal.
 */
export function timeLimit(
  cancellation: AbortSignal,
  timeoutMs: number,
  stopped: (reason: unknown) => void = () => undefined,
): TimeLimit {
  const own = new AbortController();
  let isStopped = false;
  let isOver = false;
  const stop = (reason: unknown): void => {
    isStopped = true;
    own.abort(reason);
    stopped(reason);
  };
  const cancel = (): void => stop(cancellation.reason);
  const timer = setTimeout(() => {
    if (isStopped) return;
    isOver = true;
    stop(new DOMException(`This took longer than ${timeoutMs} ms.`, 'TimeoutError'));
  }, timeoutMs).unref();
  if (cancellation.aborted) cancel();
  else cancellation.addEventListener('abort', cancel, { once: true });
  return {
    get signal() {
      return own.signal;
    },
    get isOver() {
      return isOver;
    },
    end: () => {
      clearTimeout(timer);
      cancellation.removeEventListener('abort', cancel);
    },
  };
}

/**
 * Ends the effect at its limit, even if it ignores its signal. Where the effect is cancelled, its own end is awaited.
 * `timeoutError`: the error of an effect that took too long.
 */
export async function withinTimeLimit<T>(
  cancellation: AbortSignal,
  timeoutMs: number,
  timeoutError: () => Error,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  let stop: (reason: unknown) => void = () => undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    stop = reject;
  });
  const limit = timeLimit(cancellation, timeoutMs, () => {
    if (!cancellation.aborted) stop(timeoutError());
  });
  try {
    return await Promise.race([act(limit.signal), timedOut]);
  } finally {
    limit.end();
  }
}
