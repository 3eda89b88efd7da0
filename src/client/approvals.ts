/** What waits for a person: the open approvals of an organization. */
import type { Access } from './access.ts';
import type { Page, PageRequest } from './listing.ts';
import { listRuns } from './run-list.ts';
import type { ExecutionView } from './run-view.ts';

export type ApprovalView = ExecutionView['waitingFor'][number] & {
  readonly executionId: string;
  readonly workflowId: string;
};

export interface ApprovalFilter extends PageRequest {
  readonly workflowId?: string;
  /** `user:ann`, `role:finance`, `resource:order:17`: runs that wait for all of these. */
  readonly waiting: readonly string[];
}

/** A page holds the approvals of up to `limit` runs. */
export async function listApprovals(access: Access, org: string, filter: ApprovalFilter): Promise<Page<ApprovalView>> {
  const page = await listRuns(access, org, {
    ...filter,
    status: ['pending', 'running', 'waiting', 'rolling_back'],
    waiting: ['approval', ...filter.waiting],
  });
  const items = page.items.flatMap((run) =>
    run.waitingFor
      .filter((wait) => wait.kind === 'approval')
      .map((wait) => ({ executionId: run.id, workflowId: run.workflowId, ...wait })),
  );
  return { ...page, items };
}
