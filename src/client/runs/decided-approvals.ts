/**
 * Lists the decided approvals of an organization: those of steps and of agents' calls. Visibility finds the runs, by
 * what their decisions wrote into the searchable state; the decisions themselves are read from their traces. Decisions
 * of workers before version 0.4 wrote nothing, and are not found.
 */

import type { DECIDED_FILTERS } from '../../contract/run.ts';
import { DECIDED_MORE, decidedResource, deciderValue, verdictValue } from '../../contract/search-attributes.ts';
import type { Unreadable } from '../../history/events.ts';
import { defined } from '../../json/defined.ts';
import { hasCode } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { inGroups } from '../temporal/each-concurrently.ts';
import type { Page, PageRequest } from '../visibility/listing.ts';
import { newestOfParts } from '../visibility/parts.ts';
import { type ApprovalView, factsOf } from './approvals.ts';
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

type DecidedView = Omit<ApprovalView, 'kind' | 'status' | 'unreadable'> & {
  readonly kind: 'approval';
  /** `decided`: the run has decisions, and its history cannot be read. */
  readonly status: 'approved' | 'rejected' | 'decided';
  readonly answer?: GivenAnswer;
  readonly unreadable?: Unreadable;
};

/** The newest decision comes first among those of so many runs. Further runs follow, the latest start first. */
const RUNS_AT_ONCE = 25;
/** Traces that are folded at the same time. */
const FOLDS_AT_ONCE = 5;
const ROWS = 10_000;

/** @throws ClientError `invalid_cursor`. */
export function listDecided(
  access: Access,
  org: string,
  { limit, cursor, ...filter }: DecidedFilter & PageRequest,
): Promise<Page<DecidedView>> {
  const list = JSON.stringify(['decided', org, filter]);
  const partFrom = async (from: string | undefined): Promise<Page<DecidedView>> => {
    const runs = await listRuns(access, org, runsOf(filter, from));
    const found = await inGroups(runs.items, FOLDS_AT_ONCE, (run) => decidedIn(access, org, run, filter));
    return { ...runs, items: found.flat() };
  };
  return newestOfParts(access, list, { limit, ...defined({ cursor }) }, partFrom, placeOf);
}

const placeOf = ({ answer, since, executionId, path }: DecidedView): string =>
  `${answer?.at ?? since} ${executionId} ${path}`;

/** The runs that may have such a decision. */
function runsOf(filter: DecidedFilter, from: string | undefined): RunFilter {
  const { decided, approvers, resourceType, resourceId, workflowId, executionId } = filter;
  const verdicts = decided === 'any' ? (['approved', 'rejected'] as const) : [decided];
  const values = [
    ...approvers.map(deciderValue),
    ...(resourceType === undefined || resourceId === undefined ? [] : [decidedResource(resourceType, resourceId)]),
  ];
  return {
    limit: RUNS_AT_ONCE,
    stateGroups: [verdicts.map(verdictValue), ...values.map((value) => [value, DECIDED_MORE])],
    ...defined({ cursor: from, workflowId, executionId }),
  };
}

async function decidedIn(access: Access, org: string, run: ExecutionView, filter: DecidedFilter) {
  const { id: executionId, workflowId, initiator: requester } = run;
  const name = (await factsOf(access, org, run))?.name;
  const about = {
    executionId,
    workflowId,
    ...defined({ requester, workflowName: name }),
    kind: 'approval',
    mayAnswer: false,
  } as const;
  const found: DecidedView[] = [];
  try {
    for (let cursor: string | undefined; ; ) {
      const page = await readTrace(access, executionId, {
        decided: true,
        exclude: WITHOUT_VALUES,
        limit: ROWS,
        ...defined({ cursor }),
      });
      for (const step of page.items) if (isWanted(step, filter)) found.push({ ...about, ...viewOf(step) });
      cursor = page.nextCursor;
      if (page.unreadable !== undefined)
        return [...found, { ...about, ...NOWHERE, since: run.startedAt, unreadable: page.unreadable }];
      if (cursor === undefined) return found;
    }
  } catch (error) {
    // Past its retention, and still in the list.
    if (hasCode(error, 'not_found')) return [];
    throw error;
  }
}

const WITHOUT_VALUES = new Set(['input', 'output', 'error'] as const);
const NOWHERE = { status: 'decided', path: '', stepSlug: '' } as const;

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
    ...defined({ resourceType, resourceId }),
    answer: answerBy(decision),
  };
}
