/**
 * Requests that carry an Idempotency-Key (ARCHITECTURE.md §5): the workflow `request.{org}.{hash}`, which is open while such a request
 * is worked on, and has its answer as result. JSON only.
 */

export const REQUEST_WORKFLOW = 'request';
/** Signal: the answer, with which the workflow ends. */
export const ANSWERED_SIGNAL = 'answered';
/** Signal: the request is still being worked on. */
export const WORKING_SIGNAL = 'working';
/** The failure with which the workflow ends when nobody has said so for too long. */
export const ABANDONED = 'abandoned';

export interface RequestStart {
  readonly organizationId: string;
}

/** The answer, sealed: some hold what is shown once only. */
export interface SealedAnswer {
  readonly sealed: string;
}
