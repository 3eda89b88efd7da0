import { CancelledFailure } from '@temporalio/workflow';

/**
 * Ends the workflow as cancelled, also where Temporal was not asked to cancel it: an approval's `onReject: cancel` is the
 * run's own decision. The SDK makes a failure of a CancelledFailure that nobody asked for, and the server lets no workflow
 * cancel itself by request; so this says to the SDK what a request would have said. test/e2e/http.test.ts holds it to that.
 */
export function endAsCancelled(reason: string | undefined): never {
  const { __TEMPORAL_ACTIVATOR__: activator } = globalThis as unknown as {
    __TEMPORAL_ACTIVATOR__: { cancelled: boolean };
  };
  activator.cancelled = true;
  throw new CancelledFailure(reason ?? 'The run was cancelled.');
}
