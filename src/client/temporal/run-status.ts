/** The status of a run, from Temporal's status of its workflow and the status in the run's memo. */
import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { RunStatus } from '../../contract/run/run.ts';

type TemporalStatus = WorkflowExecutionInfo['status']['name'];

const CLOSED: Partial<Record<TemporalStatus, RunStatus>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  TIMED_OUT: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'aborted',
};

/** Events of a history that has only the start and a scheduled task: no worker has begun the run. */
const UNSTARTED_HISTORY_LENGTH = 2;

/**
 * The status of a run. Temporal's status takes precedence over the memo. A run that no worker has begun is pending
 * where the length of its history is known. Lists do not know the length.
 */
export function statusOf(
  status: TemporalStatus,
  memo: { readonly [field: string]: unknown },
  historyLength?: number,
): RunStatus {
  // A run that has returned keeps its output, even if it was terminated while activities in flight were still ending.
  if (memo['decided'] !== undefined) return 'completed';
  const closed = CLOSED[status];
  if (closed === 'failed' && memo['status'] === 'aborted') return 'aborted';
  if (closed !== undefined) return closed;
  const memoStatus = (memo['status'] as RunStatus | undefined) ?? 'running';
  return memoStatus === 'running' && historyLength !== undefined && historyLength <= UNSTARTED_HISTORY_LENGTH
    ? 'pending'
    : memoStatus;
}

export const isOpen = (status: TemporalStatus): boolean => CLOSED[status] === undefined;
