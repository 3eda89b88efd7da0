/**
 * Lists the decided approvals of an organization: those of steps and of agents' calls. Visibility finds the runs, by
 * what their decisions wrote into the searchable state; the decisions themselves are read from their traces. Decisions
 * of workers before version 0.4 wrote nothing, and are not found.
 */

import type { DECIDED_FILTERS } from '../../contract/run/run.ts';
import { DECIDED_MORE, decidedResource, deciderValue, verdictValue } from '../../contract/search-attributes.ts';
import type { Unreadable } from '../../history/events.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { mapInBatches } from '../concurrency/each-concurrently.ts';
import { hasCode } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import type { Page, PageRequest } from '../visibility/listing.ts';
import { pageOfSortedChunks } from '../visibility/sorted-chunks.ts';
import { type ApprovalView, definitionFactsOf } from './approvals.ts';
import { answerBy, type GivenAnswer } from './question.ts';
import { listRuns, type RunFilter } from './run-list.ts';
import type { ExecutionView } from './run-view.ts';
import { readTrace, type Step } from './trace.ts';

export interface DecidedFilter {
  readonly decided: (typeof DECIDED_FILTERS)[number];
  /** Persons who all voted for or against. */
  readonly approvers: readonly string[];
  readonly resourceType?: string;
  readonly resourceId?: string;
  readonly workflowId?: string;
  readonly executionId?: string;
}

type DecidedApprovalView = Omit<ApprovalView, 'kind' | 'status' | 'unreadable'> & {
  readonly kind: 'approval';
  /** `decided`: the run has decisions, and its history cannot be read. */
  readonly status: 'approved' | 'rejected' | 'decided';
  readonly answer?: GivenAnswer;
  readonly unreadable?: Unreadable;
};

/** The newest decision comes first among those of a page of runs. Further runs follow, the latest start first. */
const RUNS_PER_PAGE = 25;
/** Traces that are folded at the same time. */
const FOLD_CONCURRENCY = 5;
const TRACE_PAGE_SIZE = 10_000;

/** @throws ClientError `invalid_cursor`. */
export function listDecidedApprovals(
  access: Access,
  org: string,
  { limit, cursor, ...filter }: DecidedFilter & PageRequest,
): Promise<Page<DecidedApprovalView>> {
  const list = JSON.stringify(['decided', org, filter]);
  const pageFrom = async (from: string | undefined): Promise<Page<DecidedApprovalView>> => {
    const runs = await listRuns(access, org, runFilterOf(filter, from));
    const found = await mapInBatches(runs.items, FOLD_CONCURRENCY, (run) => decisionsOfRun(access, org, run, filter));
    return { ...runs, items: found.flat() };
  };
  return pageOfSortedChunks(access, list, { limit, ...omitUndefined({ cursor }) }, pageFrom, decisionSortKey);
}

const decisionSortKey = ({ answer, since, executionId, path }: DecidedApprovalView): string =>
  `${answer?.at ?? since} ${executionId} ${path}`;

/** The runs that may have such a decision. */
function runFilterOf(filter: DecidedFilter, from: string | undefined): RunFilter {
  const { decided, approvers, resourceType, resourceId, workflowId, executionId } = filter;
  const verdicts = decided === 'any' ? (['approved', 'rejected'] as const) : [decided];
  const values = [
    ...approvers.map(deciderValue),
    ...(resourceType === undefined || resourceId === undefined ? [] : [decidedResource(resourceType, resourceId)]),
  ];
  return {
    limit: RUNS_PER_PAGE,
    stateGroups: [verdicts.map(verdictValue), ...values.map((value) => [value, DECIDED_MORE])],
    ...omitUndefined({ cursor: from, workflowId, executionId }),
  };
}

async function decisionsOfRun(access: Access, org: string, run: ExecutionView, filter: DecidedFilter) {
  const { id: executionId, workflowId, initiator: requester } = run;
  const name = (await definitionFactsOf(access, org, run))?.name;
  const base = {
    executionId,
    workflowId,
    ...omitUndefined({ requester, workflowName: name }),
    kind: 'approval',
    mayAnswer: false,
  } as const;
  const found: DecidedApprovalView[] = [];
  try {
    for (let cursor: string | undefined; ; ) {
      const page = await readTrace(access, executionId, {
        decided: true,
        exclude: WITHOUT_VALUES,
        limit: TRACE_PAGE_SIZE,
        ...omitUndefined({ cursor }),
      });
      for (const step of page.items) if (isWanted(step, filter)) found.push({ ...base, ...viewOf(step) });
      cursor = page.nextCursor;
      if (page.unreadable !== undefined)
        return [...found, { ...base, ...UNREADABLE_DECISION, since: run.startedAt, unreadable: page.unreadable }];
      if (cursor === undefined) return found;
    }
  } catch (error) {
    // Past its retention, and still in the list.
    if (hasCode(error, 'not_found')) return [];
    throw error;
  }
}

const WITHOUT_VALUES = new Set(['input', 'output', 'error'] as const);
const UNREADABLE_DECISION = { status: 'decided', path: '', stepSlug: '' } as const;

type DecidedStep = Step & Required<Pick<Step, 'decision'>>;

function isWanted(step: Step, { decided, approvers, resourceType, resourceId }: DecidedFilter): step is DecidedStep {
  const { decision } = step;
  return (
    decision !== undefined &&
    (decided === 'any' || decision.status === decided) &&
    approvers.every((person) => decision.voters.includes(person)) &&
    (resourceType === undefined || decision.resourceType === resourceType) &&
    (resourceId === undefined || decision.resourceId === resourceId)
  );
}

function viewOf({ path, stepSlug, startedAt, decision }: DecidedStep) {
  const { status, message, resourceType, resourceId } = decision;
  return {
    status,
    path,
    stepSlug,
    since: startedAt,
    message,
    ...omitUndefined({ resourceType, resourceId }),
    answer: answerBy(decision),
  };
}
