/** The workflow `bulkRetry`: retries the failed runs of a filter, also when the caller does not wait for it. */
import { proxyActivities } from '@temporalio/workflow';
import type { BulkActivities, BulkProgress, BulkRetryStart } from '../../src/contract/run/bulk.ts';

const { retryRuns } = proxyActivities<BulkActivities>({
  startToCloseTimeout: '1d',
  heartbeatTimeout: '60s',
  retry: { initialInterval: '1s', maximumInterval: '60s' },
});

export function bulkRetry(start: BulkRetryStart): Promise<BulkProgress> {
  return retryRuns(start);
}
