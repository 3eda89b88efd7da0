import { CancelledFailure } from '@temporalio/workflow';
import { CANCEL_DETAILS } from '../../src/contract/run.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import type { JsonObject } from '../../src/json/json.ts';

/** A memo is kept with the run for as long as it is open. */
const MAX_DETAILS_BYTES = 64_000;

/** What a run that cancels itself leaves in its memo besides the reason; of what is too large the step's row tells. */
export function cancelDetails(details: JsonObject | undefined): { [CANCEL_DETAILS]?: JsonObject } {
  if (details === undefined) return {};
  if (jsonBytes(details) <= MAX_DETAILS_BYTES) return { [CANCEL_DETAILS]: details };
  const { path, stepSlug, decision, decidedBy, reviewedAt } = details;
  const kept = { path, stepSlug, decision, decidedBy, reviewedAt, omitted: 'too large' };
  return { [CANCEL_DETAILS]: JSON.parse(JSON.stringify(kept)) as JsonObject };
}

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
