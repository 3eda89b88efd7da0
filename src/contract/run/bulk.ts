/**
 * Bulk retries: the workflow `bulkRetry` and its activity. Temporal's batch operations cancel and terminate many runs.
 * They cannot retry, because a retry starts a new run with the state of the failed one. JSON only.
 */
import type { ListAttributeFilters } from '../search-attributes.ts';

export const BULK_RETRY_WORKFLOW = 'bulkRetry';

export interface BulkRetryStart {
  readonly organizationId: string;
  /** The Visibility query, made by src/client/runs/run-list.ts. The organization is its outermost condition. */
  readonly query: string;
  /** The exact list values of the runs, where the filter has lists (src/client/visibility/exact-list-filter.ts). */
  readonly wanted?: ListAttributeFilters;
  /** The error codes of the runs, where only those with some are meant. Visibility does not know them. */
  readonly errorCode?: readonly string[];
  /** The number of runs when the operation began. */
  readonly total: number;
}

/** The counts so far, and in the end the result. */
export interface BulkProgress {
  readonly done: number;
  /** Runs that could not be retried: they had been rolled back, or had continued already. */
  readonly failed: number;
}

export interface BulkActivities {
  /** Continues where the heartbeats of the previous attempt ended. */
  retryRuns(start: BulkRetryStart): Promise<BulkProgress>;
}
