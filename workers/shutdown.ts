import type { Worker } from '@temporalio/worker';

/** How long cancelled activities may still call Temporal, in milliseconds. */
const CANCELLATION_GRACE_MS = 300;

/**
 * Lets a worker end in order: it polls no more, its activities have a grace period to finish, and then they are
 * cancelled, and retried elsewhere. A moment later their calls to Temporal end too. SDK 1.24 cannot abort a call over a
 * NativeConnection, and one that waits for another workflow may have no worker left that answers it (TEMPORAL.md §5).
 */
export class Shutdown {
  /** How long activities may finish, in milliseconds: the `shutdownGraceTime` of the worker. */
  readonly graceMs: number;
  readonly #calls = new AbortController();
  #hasBegun = false;

  constructor(graceMs: number) {
    this.graceMs = graceMs;
  }

  /** Once it is aborted, calls to Temporal no longer wait for their answers. */
  get callsEnd(): AbortSignal {
    return this.#calls.signal;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Begins it, once. `worker.run()` resolves at its end. */
  begin(worker: Worker): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    setTimeout(() => this.#calls.abort(), this.graceMs + CANCELLATION_GRACE_MS).unref();
    if (worker.getState() === 'RUNNING') worker.shutdown();
  }
}
