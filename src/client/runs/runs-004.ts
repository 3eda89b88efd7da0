/**
 * Runs as alloy shows them: its names, its statuses, and its lists with flow and state, or in compressed form.
 */

import type { Cost } from '../../contract/models.ts';
import type { RunError, RunStatus } from '../../contract/run.ts';
import type { Definition } from '../../definition/document/types.ts';
import type { Unreadable } from '../../history/events.ts';
import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import { onCode } from '../errors.ts';
import { definitionOf } from '../starts/begin-run.ts';
import type { Access } from '../temporal/access.ts';
import { inGroups } from '../temporal/each-concurrently.ts';
import { legible, writable } from '../temporal/unreadable.ts';
import type { Page } from '../visibility/listing.ts';
import { listRuns, type RunFilter } from './run-list.ts';
import { describeRun, readRun, readStart } from './run-read.ts';
import { shownDefinition } from './run-state.ts';
import type { ExecutionView } from './run-view.ts';
import { readTrace, type Step } from './trace.ts';
import { readFoldedState } from './trace-chain.ts';

interface Run004 {
  readonly id: string;
  readonly run_id: string;
  readonly workflow_id: string;
  readonly status: Status004;
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
  readonly state: State004;
  /** Why most members are missing in a list: Temporal's data of the run is unreadable. */
  readonly unreadable?: Unreadable;
}

export interface State004 {
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
  readonly steps: readonly Step004[];
}

export interface Step004 {
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

export type Status004 = 'created' | 'in_progress' | 'suspended' | 'completed' | 'failed' | 'aborted';

const STATUSES: { readonly [status in RunStatus]: Status004 } = {
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
const MOST_RUNS = 100;
const AT_ONCE = 5;
/** The most steps of one run. The whole trace is at /api/executions/:id/steps. */
const MOST_STEPS = 1_000;
const MOST_STEPS_IN_LISTS = 50;
/** The most characters of a value in a compressed list. */
const MOST_SHOWN = 300;

/** `exclude`: without the flow, and with the state compressed. */
export async function listRuns004(
  access: Access,
  org: string,
  { exclude, ...filter }: RunFilter & { readonly exclude: boolean },
): Promise<Page<Run004>> {
  const page = await listRuns(access, org, { ...filter, limit: Math.min(filter.limit, MOST_RUNS) });
  const items = await inGroups(page.items, AT_ONCE, (listed) => readListed(access, org, listed, exclude));
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
): Promise<Run004 | undefined> {
  const read = legible(() => readRun004(access, org, listed.id, compressed));
  return read.then(
    ({ value, unreadable }) => value ?? { ...run004(listed, []), ...defined({ unreadable }) },
    onCode('not_found', () => undefined),
  );
}

/** @throws ClientError `not_found`. */
export async function readRun004(
  access: Access,
  org: string,
  executionId: string,
  compressed = false,
): Promise<Run004> {
  const [run, trace, more] = await Promise.all([
    readRun(access, org, executionId, new Set(['input', 'output'])),
    readTrace(access, executionId, { limit: compressed ? MOST_STEPS_IN_LISTS : MOST_STEPS }),
    compressed ? undefined : fullOf(access, org, executionId),
  ]);
  const unreadable = run.unreadable ?? trace.unreadable ?? more?.unreadable;
  const shown = {
    ...run004(
      run,
      trace.items.map((step) => stepOf(step, compressed)),
    ),
    ...defined({ unreadable }),
  };
  if (more === undefined) return shown;
  const { state } = shown;
  const runtimeContext = {
    ...state.runtimeContext,
    organizationId: org,
    workflowId: run.workflowId,
    isDebug: more.isDebug,
    state: more.state,
  };
  return { ...shown, flow: more.flow, state: { ...state, runtimeContext } };
}

function run004(run: ExecutionView, steps: readonly Step004[]): Run004 {
  const { origin = {}, costs = [], status, completedAt = null } = run;
  const sum = (of: (cost: Cost) => number) => costs.reduce((total, cost) => total + of(cost), 0);
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

async function fullOf(
  access: Access,
  org: string,
  executionId: string,
): Promise<{ flow: Definition | null; state: Json; isDebug: boolean; unreadable?: Unreadable }> {
  const description = await describeRun(access, org, executionId);
  const [{ value: started, unreadable: unread }, folded] = await Promise.all([
    legible(() => readStart(access, description)),
    readFoldedState(access, executionId),
  ]);
  const { value, unreadable = unread } = writable(
    { flow: started === undefined ? null : shownDefinition(definitionOf(started)), state: folded?.state ?? {} },
    ['flow', 'state'],
  );
  const { flow = null, state = {} }: Partial<typeof value> = value;
  const isDebug = Object.keys(started?.presets ?? {}).length > 0;
  return { flow, state, isDebug, ...defined({ unreadable }) };
}

/** The open step for which the run waits, else its current or last step. */
function currentStep(waiting: string | undefined, steps: readonly Step004[]): string | null {
  if (waiting !== undefined) return waiting;
  return (steps.findLast(({ status }) => status === 'running') ?? steps.at(-1))?.stepId ?? null;
}

function stepOf(step: Step, compressed: boolean): Step004 {
  const shown = (value: Json | undefined): Json => (compressed ? reduced(value ?? null) : (value ?? null));
  return {
    stepId: step.stepSlug,
    type: step.stepType,
    status: step.status,
    input: shown(step.input),
    output: shown(step.output),
    error: step.error?.message ?? null,
    startedAt: step.startedAt,
    completedAt: step.completedAt ?? null,
    ...defined({ unreadable: step.unreadable }),
  };
}

/** A large value becomes the beginning of its JSON. */
function reduced(value: Json): Json {
  const text = JSON.stringify(value);
  return text.length <= MOST_SHOWN ? value : `${text.slice(0, MOST_SHOWN)}…`;
}
