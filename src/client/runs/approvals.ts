/** Lists the open approvals of an organization, and who may decide them (LANGUAGE.md §6). */

import { includesRole, type Role } from '../../contract/organization.ts';
import type { Standing, WaitingFor } from '../../contract/run.ts';
import type { Unreadable } from '../../history/events.ts';
import { defined } from '../../json/defined.ts';
import type { Access } from '../temporal/access.ts';
import type { Page, PageRequest } from '../visibility/listing.ts';
import { resumeToken } from './resume-token.ts';
import { listRuns } from './run-list.ts';
import type { ExecutionView } from './run-view.ts';

const USER = 'user:';

/** The caller. Without an id there are no persons, and every caller may decide. */
export interface Viewer extends Standing {
  readonly id?: string;
  readonly role: Role;
}

/** A wait as its viewer sees it: an approval that the viewer may decide comes with its token. */
export type ShownWait = WaitingFor & { readonly resumeToken?: string };

export type ApprovalView = ShownWait & {
  readonly executionId: string;
  readonly workflowId: string;
  /** Open approvals only. The steps of a run show its decisions. */
  readonly status: 'pending';
  /** The first person in `audience` (document 000). `audience` names all of them. */
  readonly approverMemberId?: string;
  /** Why the other members are missing. */
  readonly unreadable?: Unreadable;
};

export interface ApprovalFilter extends PageRequest {
  readonly workflowId?: string;
  readonly executionId?: string;
  readonly priority?: string;
  /** Resources of any type, unless `waiting` names one. */
  readonly resourceId?: string;
  /** `user:ann`, `role:finance`, `resource:order:17`: runs that wait for all of these. */
  readonly waiting: readonly string[];
  /** Only approvals that the viewer may decide. */
  readonly mine: boolean;
}

/** Pages without a listed approval that are skipped before an empty page is answered. */
const PATIENCE = 20;

/**
 * A page holds the listed approvals of up to `limit` runs. An unreadable run that waits for an approval is an item with
 * the reason, because the list would be incomplete without it.
 */
export async function listApprovals(
  access: Access,
  org: string,
  viewer: Viewer,
  filter: ApprovalFilter,
): Promise<Page<ApprovalView>> {
  const { mine, priority, resourceId, cursor, ...runs } = filter;
  const isListed = (wait: WaitingFor): boolean =>
    wait.kind === 'approval' &&
    (!mine || mayDecide(viewer, wait)) &&
    (priority === undefined || wait.priority === priority) &&
    (resourceId === undefined || wait.resourceId === resourceId);
  let from = cursor;
  for (let passed = 0; ; passed++) {
    const page = await listRuns(access, org, {
      ...runs,
      ...defined({ cursor: from }),
      status: ['pending', 'running', 'waiting', 'rolling_back'],
      waiting: ['approval', ...filter.waiting],
    });
    const items = page.items.flatMap((run) =>
      run.unreadable === undefined
        ? run.waitingFor.filter(isListed).map((wait) => approvalView(access, viewer, run, wait))
        : [unreadApproval(run, run.unreadable)],
    );
    if (items.length > 0 || page.nextCursor === undefined || passed === PATIENCE) return { ...page, items };
    from = page.nextCursor;
  }
}

function approvalView(access: Access, viewer: Viewer, run: ExecutionView, wait: WaitingFor): ApprovalView {
  const person = wait.audience?.find((name) => name.startsWith(USER));
  return {
    executionId: run.id,
    workflowId: run.workflowId,
    status: 'pending',
    ...(person === undefined ? {} : { approverMemberId: person.slice(USER.length) }),
    ...shownWait(access, viewer, run.id, wait),
  };
}

/** The open approval of the run is unknown. */
function unreadApproval({ id, workflowId, startedAt }: ExecutionView, unreadable: Unreadable): ApprovalView {
  return {
    executionId: id,
    workflowId,
    status: 'pending',
    path: '',
    stepSlug: '',
    kind: 'approval',
    since: startedAt,
    unreadable,
  };
}

/** Whether the run would accept the viewer's decision, as far as the list of waits shows. */
function mayDecide(viewer: Viewer, { audience = [], notBy = [] }: WaitingFor): boolean {
  if (!includesRole(viewer.role, 'approver')) return false;
  const { id, roles, groups } = viewer;
  if (id === undefined) return true;
  if (notBy.includes(id)) return false;
  const names = [`user:${id}`, ...roles.map((name) => `role:${name}`), ...groups.map((name) => `group:${name}`)];
  return audience.length === 0 || audience.some((name) => names.includes(name));
}

/** An approval shows its token only to viewers who may decide it. */
export function shownWait(access: Access, viewer: Viewer, executionId: string, wait: WaitingFor): ShownWait {
  if (wait.kind !== 'approval' || !mayDecide(viewer, wait)) return wait;
  return { ...wait, resumeToken: resumeToken(access.keys.resumeTokens, executionId, wait) };
}
