/** The status of a run, made of Temporal's status of its workflow and of what the run says of itself in its memo. */
import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { RunStatus } from '../../contract/run.ts';

export type TemporalStatus = WorkflowExecutionInfo['status']['name'];

const CLOSED: Partial<Record<TemporalStatus, RunStatus>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  TIMED_OUT: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'aborted',
};

/** Started, and a task scheduled: no worker has looked at it. */
const UNTOUCHED_EVENTS = 2;

/**
 * The status of a run. Temporal's status takes precedence over the memo. A run that no worker has begun is pending
 * where the length of its history is known, which lists do not know.
 */
export function statusOf(
  status: TemporalStatus,
  memo: { readonly [field: string]: unknown },
  historyLength?: number,
): RunStatus {
  // A run that has returned keeps its output, also where it was terminated while effects in flight were still ending.
  if (memo['decided'] !== undefined) return 'completed';
  const closed = CLOSED[status];
  if (closed === 'failed' && memo['status'] === 'aborted') return 'aborted';
  if (closed !== undefined) return closed;
  const own = (memo['status'] as RunStatus | undefined) ?? 'running';
  return own === 'running' && historyLength !== undefined && historyLength <= UNTOUCHED_EVENTS ? 'pending' : own;
}

export const isOpen = (status: TemporalStatus): boolean => CLOSED[status] === undefined;
