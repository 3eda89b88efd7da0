/**
 * The states of the runs that a run has started. A parent asks for them when it did not receive their ends
 * (ARCHITECTURE.md §3).
 */

import type { DescribedChildren, EndedChild, OpenChild } from '../../contract/run/children.ts';
import { RUN_WORKFLOW, type RunError } from '../../contract/run/run.ts';
import { exactJsonBytes } from '../../json/bytes.ts';
import { readCloseOutcome } from '../history/start-and-close-events.ts';
import type { Access } from '../temporal/access.ts';
import { describe } from '../temporal/actor-calls.ts';
import { isOpen } from '../temporal/run-status.ts';
import { outcomeOf } from './run-view.ts';

/** The answer becomes one activity's result, which Temporal keeps below 2 MB. */
const MAX_ANSWER_BYTES = 1_800_000;
const DESCRIBE_CONCURRENCY = 10;

/** The children that have ended, with their output or error. `more` is set where not all of them fit. */
export async function describeChildren(
  access: Access,
  org: string,
  children: readonly OpenChild[],
): Promise<DescribedChildren> {
  const ended: EndedChild[] = [];
  let bytes = 0;
  for (let from = 0; from < children.length; from += DESCRIBE_CONCURRENCY) {
    const some = await Promise.all(
      children.slice(from, from + DESCRIBE_CONCURRENCY).map((child) => childEndOf(access, org, child)),
    );
    for (const end of some) {
      if (end === undefined) continue;
      bytes += exactJsonBytes(end);
      // A single one always fits: a run's output is smaller than this.
      if (bytes > MAX_ANSWER_BYTES && ended.length > 0) return { ended, more: true };
      ended.push(end);
    }
  }
  return { ended, more: false };
}

async function childEndOf(
  access: Access,
  org: string,
  { id, executionId }: OpenChild,
): Promise<EndedChild | undefined> {
  const description = await describe(access, executionId);
  const isChild = description?.type === RUN_WORKFLOW && description.memo?.['organizationId'] === org;
  if (description === undefined || !isChild)
    return { id, error: childError('child_not_found', `Temporal no longer knows the run ${executionId}.`) };
  if (isOpen(description.status.name)) return undefined;
  const closing = await readCloseOutcome(access, executionId, description.runId);
  if (closing === undefined || closing.how === 'continued') return undefined;
  switch (closing.how) {
    case 'cancelled':
      return { id, error: childError('child_cancelled', `The run ${executionId} was cancelled.`) };
    case 'terminated':
      return { id, error: childError('child_terminated', `The run ${executionId} was terminated.`) };
    case 'timedOut':
      return {
        id,
        error: childError('child_timed_out', `The run ${executionId} took longer than Temporal was told to allow.`),
      };
    default: {
      const { output, error } = outcomeOf(closing);
      if (error === undefined) return { id, output: output ?? null };
      const { path: _path, stepSlug: _slug, attempts: _attempts, ...failure } = error;
      return { id, error: failure };
    }
  }
}

function childError(code: string, message: string): RunError {
  return { code, message, retryable: false };
}
