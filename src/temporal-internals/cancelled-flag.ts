/**
 * The flag of the SDK that says that Temporal was asked to cancel the workflow. It is part of the workflow bundle.
 *
 * Without a request the SDK turns a CancelledFailure into a failure, and the server does not let a workflow request its
 * own cancellation.
 */

/** Sets the flag as a request would. False where the SDK has none. */
export function setCancelledFlag(): boolean {
  const { __TEMPORAL_ACTIVATOR__: activator } = globalThis as unknown as {
    __TEMPORAL_ACTIVATOR__?: { cancelled?: unknown };
  };
  if (typeof activator?.cancelled !== 'boolean') return false;
  activator.cancelled = true;
  return true;
}
