/**
 * Bulk retries: the workflow `bulkRetry` and its activity. Temporal's batch operations cancel and terminate many runs.
 * They cannot retry, because a retry starts a new run with the state of the failed one. JSON only.
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
  /** Continues where the heartbeats of the previous attempt ended. */
  retryRuns(start: BulkRetryStart): Promise<BulkProgress>;
}
