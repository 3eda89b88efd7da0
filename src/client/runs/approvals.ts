/** Lists what an organization's runs ask of people, approvals and input, and who may answer (LANGUAGE.md §6). */

import { includesRole, type Role } from '../../contract/organization/organization.ts';
import { isNamed } from '../../contract/organization/people.ts';
import type { RoleClaims, ShownWaitingFor } from '../../contract/run/run.ts';
import type { Definition } from '../../definition/document/types.ts';
import { runInputOf } from '../../engine/state/start.ts';
import type { Unreadable } from '../../history/events.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { matchingAudience } from '../../steps/kinds/approval/approval-persons.ts';
import { readArgument } from '../history/start-and-close-events.ts';
import type { Access } from '../temporal/access.ts';
import { tryRead } from '../temporal/unreadable-data.ts';
import type { Page, PageRequest } from '../visibility/listing.ts';
import { pageOfSortedChunks } from '../visibility/sorted-chunks.ts';
import { resumeToken } from './resume-token.ts';
import { listRuns } from './run-list.ts';
import { requiresComment } from './run-read.ts';
import type { ExecutionView } from './run-view.ts';

const USER = 'user:';

export const QUESTION_KINDS = ['approval', 'input'] as const;
type QuestionKind = (typeof QUESTION_KINDS)[number];

/** The caller. Without an id there are no persons, and every caller may decide. */
export interface Viewer extends RoleClaims {
  readonly id?: string;
  readonly role: Role;
}

/** A wait as its viewer sees it: an approval that the viewer may decide comes with its token. */
export type ShownWait = ShownWaitingFor & { readonly resumeToken?: string };

export type ApprovalView = ShownWait & {
  readonly executionId: string;
  readonly workflowId: string;
  readonly workflowName?: string;
  /** The person who started the run. */
  readonly requester?: string;
  /** Open questions only. The steps of a run show its decisions. */
  readonly status: 'pending';
  /** Whether the viewer may answer, as far as the list of waits shows. */
  readonly mayAnswer: boolean;
  /** The first person in `audience`. `audience` names all of them. */
  readonly approverMemberId?: string;
  /** Why the other members are missing. */
  readonly unreadable?: Unreadable;
};

interface QuestionFilter {
  /** Any of these. */
  readonly kinds: readonly QuestionKind[];
  readonly workflowId?: string;
  readonly executionId?: string;
  readonly priority?: string;
  /** Resources of any type, unless `waiting` names one. */
  readonly resourceId?: string;
  /** `user:ann`, `role:finance`, `resource:order:17`: runs that wait for all of these. */
  readonly waiting: readonly string[];
}

interface ApprovalFilter extends QuestionFilter, PageRequest {
  /** Only questions that the viewer may answer. */
  readonly mine: boolean;
}

/**
 * The newest question comes first among those of a page of runs, which are read together. Further runs follow, the
 * latest start first.
 */
const RUNS_PER_PAGE = 500;
/** The pages that are counted. */
const MAX_COUNTED_PAGES = 4;

interface FoundQuestion {
  readonly run: ExecutionView;
  readonly view: ApprovalView;
}

/**
 * The newest first. An unreadable run that waits for an answer is an item with the reason, because the list would be
 * incomplete without it.
 * @throws ClientError `invalid_cursor`.
 */
export async function listApprovals(
  access: Access,
  org: string,
  viewer: Viewer,
  { mine, cursor, limit, ...filter }: ApprovalFilter,
): Promise<Page<ApprovalView>> {
  const list = JSON.stringify(['approvals', org, mine, viewer.id ?? null, filter]);
  const pageFrom = async (from: string | undefined): Promise<Page<FoundQuestion>> => {
    const page = await questionPage(access, org, viewer, filter, from);
    return {
      ...page,
      items: page.items.filter(({ view }) => !mine || view.mayAnswer || view.unreadable !== undefined),
    };
  };
  const sortKey = ({ view }: FoundQuestion): string => questionSortKey(view);
  const { items, ...page } = await pageOfSortedChunks(
    access,
    list,
    { limit, ...omitUndefined({ cursor }) },
    pageFrom,
    sortKey,
  );
  return { ...page, items: await Promise.all(items.map((one) => withDefinitionFacts(access, org, one))) };
}

interface QuestionCount {
  /** What the viewer may answer. */
  readonly mine: number;
  readonly all: number;
  /** There are more than were counted. */
  readonly isPartial?: true;
}

/** Counts the open questions, of at most some thousand runs. */
export async function countApprovals(
  access: Access,
  org: string,
  viewer: Viewer,
  filter: QuestionFilter,
): Promise<QuestionCount> {
  let [mine, all] = [0, 0];
  let from: string | undefined;
  for (let pages = 0; pages < MAX_COUNTED_PAGES; pages++) {
    const page = await questionPage(access, org, viewer, filter, from);
    all += page.items.length;
    mine += page.items.filter(({ view }) => view.mayAnswer).length;
    from = page.nextCursor;
    if (from === undefined) return { mine, all };
  }
  return { mine, all, isPartial: true };
}

/** The questions of a page of runs. */
async function questionPage(
  access: Access,
  org: string,
  viewer: Viewer,
  { kinds, priority, resourceId, waiting, ...runs }: QuestionFilter,
  from: string | undefined,
): Promise<Page<FoundQuestion>> {
  const isListed = (wait: ShownWaitingFor): boolean =>
    kinds.some((kind) => kind === wait.kind) &&
    (priority === undefined || wait.priority === priority) &&
    (resourceId === undefined || wait.resourceId === resourceId);
  const page = await listRuns(access, org, {
    ...runs,
    limit: RUNS_PER_PAGE,
    ...omitUndefined({ cursor: from }),
    status: ['pending', 'running', 'waiting', 'rolling_back'],
    waiting,
    awaited: kinds,
  });
  const items = page.items.flatMap((run): FoundQuestion[] =>
    run.unreadable === undefined
      ? run.waitingFor.filter(isListed).map((wait) => ({ run, view: approvalView(access, viewer, run, wait) }))
      : [{ run, view: unreadableApproval(run, run.unreadable) }],
  );
  return { ...page, items };
}

const questionSortKey = ({ since, executionId, path }: ApprovalView): string => `${since} ${executionId} ${path}`;

/** A question of a run as its viewer sees it. */
export function approvalView(access: Access, viewer: Viewer, run: ExecutionView, wait: ShownWaitingFor): ApprovalView {
  const person = wait.kind === 'approval' ? wait.audience?.find((name) => name.startsWith(USER)) : undefined;
  return {
    executionId: run.id,
    workflowId: run.workflowId,
    ...omitUndefined({ requester: run.initiator }),
    status: 'pending',
    mayAnswer: mayAnswer(viewer, wait),
    ...(person === undefined ? {} : { approverMemberId: person.slice(USER.length) }),
    ...shownWait(access, viewer, run.id, wait),
  };
}

/** The open question of the run is unknown. */
function unreadableApproval({ id, workflowId, startedAt }: ExecutionView, unreadable: Unreadable): ApprovalView {
  return {
    executionId: id,
    workflowId,
    status: 'pending',
    mayAnswer: false,
    path: '',
    stepSlug: '',
    kind: 'approval',
    since: startedAt,
    unreadable,
  };
}

/** What a definition says beside a question. */
interface DefinitionFacts {
  readonly name: string;
  /** Approvals that want a comment. */
  readonly commentRequiredSteps: ReadonlySet<string>;
}

const MAX_CACHED_FACTS = 1_000;
/** By organization and hash, the least recently used first. A hash names one definition for ever. */
const factsCache = new BoundedMap<string, Promise<DefinitionFacts | undefined>>(MAX_CACHED_FACTS);

async function withDefinitionFacts(access: Access, org: string, { run, view }: FoundQuestion): Promise<ApprovalView> {
  const facts = await definitionFactsOf(access, org, run);
  if (facts === undefined) return view;
  const { name: workflowName, commentRequiredSteps } = facts;
  return {
    ...view,
    workflowName,
    ...(view.kind === 'approval' && commentRequiredSteps.has(view.stepSlug) ? { commentRequired: true as const } : {}),
  };
}

/** What the definition of the run says; undefined where it cannot be read. */
export function definitionFactsOf(access: Access, org: string, { id, workflowHash, temporal }: ExecutionView) {
  const key = JSON.stringify([access.namespace, org, workflowHash ?? temporal.runId]);
  const facts = factsCache.get(key) ?? readFacts(access, id, temporal.runId);
  factsCache.set(key, facts);
  // What cannot be read now may be readable later.
  void facts.then((read) => {
    if (read === undefined) factsCache.delete(key);
  });
  return facts;
}

async function readFacts(access: Access, id: string, runId: string): Promise<DefinitionFacts | undefined> {
  try {
    const { value } = await tryRead(() => readArgument<unknown>(access, id, runId));
    const definition: Definition | undefined = value === undefined ? undefined : runInputOf(value)?.definition;
    if (definition === undefined) return undefined;
    const commentRequired = Object.keys(definition.steps).filter((slug) => requiresComment(definition, slug));
    return { name: definition.name, commentRequiredSteps: new Set(commentRequired) };
  } catch {
    // The run is gone, or Temporal does not answer: the list itself is right without it.
    return undefined;
  }
}

/** Whether the run would accept the viewer's answer, as far as the list of waits shows. */
function mayAnswer(viewer: Viewer, { kind, audience = [], notBy = [] }: ShownWaitingFor): boolean {
  if (!includesRole(viewer.role, kind === 'input' ? 'runner' : 'approver')) return false;
  const { id } = viewer;
  if (id === undefined) return true;
  if (notBy.some((name) => isNamed(id, viewer.names, name))) return false;
  return audience.length === 0 || matchingAudience(audience, { by: id, as: viewer }).length > 0;
}

/** An approval shows its token only to viewers who may decide it. */
export function shownWait(access: Access, viewer: Viewer, executionId: string, wait: ShownWaitingFor): ShownWait {
  if (wait.kind !== 'approval' || !mayAnswer(viewer, wait)) return wait;
  return { ...wait, resumeToken: resumeToken(access.keys.resumeTokens, executionId, wait) };
}
