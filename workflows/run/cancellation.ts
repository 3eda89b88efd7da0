import { CancelledFailure } from '@temporalio/workflow';
import { CANCEL_DETAILS } from '../../src/contract/run/run.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import type { JsonObject } from '../../src/json/json.ts';

/** Of details in the memo: Temporal keeps the memo with the run. */
const MAX_DETAILS_BYTES = 64_000;

/** The details of a run that cancels itself, for its memo. Where they are too large, the step in the trace has them. */
export function cancelDetails(details: JsonObject | undefined): { [CANCEL_DETAILS]?: JsonObject } {
  if (details === undefined) return {};
  if (jsonBytes(details) <= MAX_DETAILS_BYTES) return { [CANCEL_DETAILS]: details };
  const { path, stepSlug, decision, decidedBy, reviewedAt } = details;
  const kept = { path, stepSlug, decision, decidedBy, reviewedAt, omitted: 'too large' };
  return { [CANCEL_DETAILS]: JSON.parse(JSON.stringify(kept)) as JsonObject };
}

/**
 * Ends the workflow as cancelled, also where Temporal was not asked to cancel it: an approval's `onReject: cancel` is
 * the run's own decision. Without a request the SDK turns a CancelledFailure into a failure, and the server does not
 * let a workflow request its own cancellation. So this sets the flag in the SDK that a request would have set.
 */
export function endAsCancelled(reason: string | undefined): never {
  const { __TEMPORAL_ACTIVATOR__: activator } = globalThis as unknown as {
    __TEMPORAL_ACTIVATOR__: { cancelled: boolean };
  };
  activator.cancelled = true;
  throw new CancelledFailure(reason ?? 'The run was cancelled.');
}
