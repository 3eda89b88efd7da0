/**
 * Bulk retries: the workflow `bulkRetry` and its activity. Cancelling and terminating many runs is Temporal's own batch
 * operation; a retry is no such thing, since it makes a new run of what the failed one had come to. JSON only.
 */
import type { ListsWanted } from './search-attributes.ts';

export const BULK_RETRY_WORKFLOW = 'bulkRetry';

export interface BulkRetryStart {
  readonly organizationId: string;
  /** As Visibility is asked: made by src/client/runs/run-list.ts, the organization outermost. */
  readonly query: string;
  /** What their lists must hold exactly, where the filter speaks of lists (src/client/visibility/exact-lists.ts). */
  readonly wanted?: ListsWanted;
  /** How many it was when it began. */
  readonly total: number;
}

/** So far, and in the end. */
export interface BulkProgress {
  readonly done: number;
  /** Runs that could not be retried: they had been rolled back, or went on already. */
  readonly failed: number;
}

export interface BulkActivities {
  /** Goes on where the attempt before had come to, by what it said with its heartbeats. */
  retryRuns(start: BulkRetryStart): Promise<BulkProgress>;
}
