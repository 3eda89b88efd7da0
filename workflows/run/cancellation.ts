import { CancelledFailure } from '@temporalio/workflow';
import { CANCEL_DETAILS } from '../../src/contract/run/run.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { setCancelledFlag } from '../../src/temporal-internals/cancelled-flag.ts';
import { internalError, runFailure } from './failures.ts';

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
 * the run's own decision. An SDK without the flag for it fails the run, rather than to end it in another way unnoticed.
 */
export function endAsCancelled(reason: string | undefined): never {
  const text = reason ?? 'The run was cancelled.';
  if (!setCancelledFlag()) throw runFailure(internalError(`the SDK cannot end a run as cancelled (${text})`));
  throw new CancelledFailure(text);
}
