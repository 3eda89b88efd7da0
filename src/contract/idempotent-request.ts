/**
 * Requests with an Idempotency-Key. The workflow `request.{org}.{hash}` (ARCHITECTURE.md §4) is open while a gateway
 * works on the request, and its result is the answer. JSON only.
 */

export const REQUEST_WORKFLOW = 'request';
/** Signal: the answer. The workflow ends with it. */
export const ANSWERED_SIGNAL = 'answered';
/** Signal: the gateway still works on the request. */
export const WORKING_SIGNAL = 'working';
/** The failure of a workflow whose gateway has stopped sending signals. */
export const ABANDONED_CODE = 'abandoned';

export interface RequestStart {
  readonly organizationId: string;
}

/** The answer, sealed, because some answers hold a value that is shown only once. */
export interface SealedAnswer {
  readonly sealed: string;
}
