/**
 * Runs as alloy shows them: its names, its statuses, and its lists with flow and state, or in compressed form.
 */

import { mapInBatches } from '../../../client/concurrency/each-concurrently.ts';
import { onCode } from '../../../client/errors.ts';
import { listRuns, type RunFilter } from '../../../client/runs/run-list.ts';
import { describeRun, readRun, readStart } from '../../../client/runs/run-read.ts';
import { shownDefinition } from '../../../client/runs/run-state.ts';
import type { ExecutionView } from '../../../client/runs/run-view.ts';
import { readTrace, type Step } from '../../../client/runs/trace.ts';
import { readFoldedState } from '../../../client/runs/trace-chain.ts';
import { definitionOf } from '../../../client/starts/start-prepared-run.ts';
import type { Access } from '../../../client/temporal/access.ts';
import { tryRead, withoutTooDeep } from '../../../client/temporal/unreadable-data.ts';
import type { Page } from '../../../client/visibility/listing.ts';
import type { Cost } from '../../../contract/organization/models.ts';
import type { RunError, RunStatus } from '../../../contract/run/run.ts';
import type { Definition } from '../../../definition/document/types.ts';
import type { Unreadable } from '../../../history/events.ts';
import type { Json } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';

interface AlloyRun {
  readonly id: string;
  readonly run_id: string;
  readonly workflow_id: string;
  readonly status: AlloyStatus;
  readonly parent_workflow: string | null;
  readonly conversation_id: string | null;
  readonly conversation_channel: string | null;
  readonly conversation_title: string | null;
  readonly model: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly channel: string | null;
  readonly ai_employee_id: string | null;
  readonly trigger_id: string | null;
  readonly trigger_url: string | null;
  readonly debounce_key: string | null;
  readonly costs: readonly Cost[];
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly failed_at: string | null;
  readonly flow?: Definition | null;
  readonly state: AlloyState;
  /** Why most members are missing in a list: Temporal's data of the run is unreadable. */
  readonly unreadable?: Unreadable;
}

interface AlloyState {
  readonly currentStepId: string | null;
  readonly error: RunError | null;
  readonly runtimeContext: {
    readonly userId: string | null;
    readonly employeeId: string | null;
    /** Every run goes through a queue of Temporal's. */
    readonly isAsync: true;
    /** Whether steps have preset results. */
    readonly isDebug?: boolean;
    readonly organizationId?: string;
    readonly workflowId?: string;
    readonly state?: Json;
  };
  readonly steps: readonly AlloyStep[];
}

interface AlloyStep {
  readonly stepId: string;
  readonly type: string;
  readonly status: Step['status'];
  readonly input: Json;
  readonly output: Json;
  readonly error: string | null;
  readonly startedAt: string;
  readonly completedAt: string | null;
  /** Why input or output are missing. */
  readonly unreadable?: Unreadable;
}

type AlloyStatus = 'created' | 'in_progress' | 'suspended' | 'completed' | 'failed' | 'aborted';

const STATUSES: { readonly [status in RunStatus]: AlloyStatus } = {
  pending: 'created',
  running: 'in_progress',
  rolling_back: 'in_progress',
  waiting: 'suspended',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'aborted',
  aborted: 'aborted',
};

/** The most runs of a page: the history of each is read. */
const MAX_RUNS = 100;
const READ_CONCURRENCY = 5;
/** The most steps of one run. The whole trace is at /api/executions/:id/steps. */
const MAX_STEPS = 1_000;
const MAX_STEPS_IN_LISTS = 50;
/** The most characters of a value in a compressed list. */
const MAX_VALUE_LENGTH = 300;

/** `exclude`: without the flow, and with the state compressed. */
export async function listAlloyRuns(
  access: Access,
  org: string,
  { exclude, ...filter }: RunFilter & { readonly exclude: boolean },
): Promise<Page<AlloyRun>> {
  const page = await listRuns(access, org, { ...filter, limit: Math.min(filter.limit, MAX_RUNS) });
  const items = await mapInBatches(page.items, READ_CONCURRENCY, (listed) => readListed(access, org, listed, exclude));
  return { ...page, items: items.filter((item) => item !== undefined) };
}

/**
 * Undefined for a run that was deleted in the meantime. An unreadable run is shown with the reason, so that the others
 * stay readable.
 */
async function readListed(
  access: Access,
  org: string,
  listed: ExecutionView,
  compressed: boolean,
): Promise<AlloyRun | undefined> {
  const read = tryRead(() => readAlloyRun(access, org, listed.id, compressed));
  return read.then(
    ({ value, unreadable }) => value ?? { ...alloyRun(listed, []), ...omitUndefined({ unreadable }) },
    onCode('not_found', () => undefined),
  );
}

/** @throws ClientError `not_found`. */
export async function readAlloyRun(
  access: Access,
  org: string,
  executionId: string,
  compressed = false,
): Promise<AlloyRun> {
  const [run, trace, full] = await Promise.all([
    readRun(access, org, executionId, new Set(['input', 'output'])),
    readTrace(access, executionId, { limit: compressed ? MAX_STEPS_IN_LISTS : MAX_STEPS }),
    compressed ? undefined : readFlowAndState(access, org, executionId),
  ]);
  const unreadable = run.unreadable ?? trace.unreadable ?? full?.unreadable;
  const shown = {
    ...alloyRun(
      run,
      trace.items.map((step) => stepOf(step, compressed)),
    ),
    ...omitUndefined({ unreadable }),
  };
  if (full === undefined) return shown;
  const { state } = shown;
  const runtimeContext = {
    ...state.runtimeContext,
    organizationId: org,
    workflowId: run.workflowId,
    isDebug: full.isDebug,
    state: full.state,
  };
  return { ...shown, flow: full.flow, state: { ...state, runtimeContext } };
}

function alloyRun(run: ExecutionView, steps: readonly AlloyStep[]): AlloyRun {
  const { origin = {}, costs = [], status, completedAt = null } = run;
  const sum = (amountOf: (cost: Cost) => number) => costs.reduce((total, cost) => total + amountOf(cost), 0);
  const shown = STATUSES[status];
  return {
    id: run.id,
    run_id: run.id,
    workflow_id: run.workflowId,
    status: shown,
    parent_workflow: run.parentId ?? null,
    conversation_id: origin.conversationId ?? null,
    conversation_channel: origin.channel ?? null,
    conversation_title: origin.conversationTitle ?? null,
    model: run.model ?? null,
    input_tokens: sum((cost) => cost.input_tokens),
    output_tokens: sum((cost) => cost.output_tokens),
    channel: origin.channel ?? null,
    ai_employee_id: origin.employeeId ?? null,
    trigger_id: run.trigger.id ?? null,
    trigger_url: origin.triggerUrl ?? null,
    debounce_key: origin.debounceKey ?? null,
    costs,
    created_at: run.startedAt,
    completed_at: shown === 'completed' ? completedAt : null,
    failed_at: shown === 'failed' || shown === 'aborted' ? completedAt : null,
    state: {
      currentStepId: currentStep(run.waitingFor[0]?.stepSlug, steps),
      error: run.error ?? null,
      runtimeContext: { userId: run.initiator ?? null, employeeId: origin.employeeId ?? null, isAsync: true },
      steps,
    },
  };
}

async function readFlowAndState(
  access: Access,
  org: string,
  executionId: string,
): Promise<{ flow: Definition | null; state: Json; isDebug: boolean; unreadable?: Unreadable }> {
  const description = await describeRun(access, org, executionId);
  const [{ value: started, unreadable: unread }, folded] = await Promise.all([
    tryRead(() => readStart(access, description)),
    readFoldedState(access, executionId),
  ]);
  const { value, unreadable = unread } = withoutTooDeep(
    { flow: started === undefined ? null : shownDefinition(definitionOf(started)), state: folded?.state ?? {} },
    ['flow', 'state'],
  );
  const { flow = null, state = {} }: Partial<typeof value> = value;
  const isDebug = Object.keys(started?.presets ?? {}).length > 0;
  return { flow, state, isDebug, ...omitUndefined({ unreadable }) };
}

/** The open step for which the run waits, else its current or last step. */
function currentStep(waiting: string | undefined, steps: readonly AlloyStep[]): string | null {
  if (waiting !== undefined) return waiting;
  return (steps.findLast(({ status }) => status === 'running') ?? steps.at(-1))?.stepId ?? null;
}

function stepOf(step: Step, compressed: boolean): AlloyStep {
  const shown = (value: Json | undefined): Json => (compressed ? truncatedValue(value ?? null) : (value ?? null));
  return {
    stepId: step.stepSlug,
    type: step.stepType,
    status: step.status,
    input: shown(step.input),
    output: shown(step.output),
    error: step.error?.message ?? null,
    startedAt: step.startedAt,
    completedAt: step.completedAt ?? null,
    ...omitUndefined({ unreadable: step.unreadable }),
  };
}

/** A large value becomes the beginning of its JSON. */
function truncatedValue(value: Json): Json {
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE_LENGTH ? value : `${text.slice(0, MAX_VALUE_LENGTH)}…`;
}
