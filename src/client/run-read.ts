/** Reading one run by its id: what it was started with, where it stands, how it ended. Needs no worker. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import {
  RUN_WORKFLOW,
  type RunError,
  type RunInput,
  type RunMemo,
  type RunStatus,
  type RunTrigger,
  type WaitingFor,
} from '../definition/run.ts';
import type { Definition } from '../definition/types.ts';
import { restore } from '../engine/carry.ts';
import { DEFAULT_ORGANIZATION, runInputOf } from '../engine/start.ts';
import type { Json } from '../template/types.ts';
import type { Access } from './access.ts';
import { describe } from './actor-calls.ts';
import { ClientError, hasCode } from './errors.ts';
import { firstRunId, readArgument, readClosing } from './first-event.ts';
import { positionOf } from './gates.ts';
import { retriedEffects } from './pending.ts';
import { type Execution, type ExecutionView, executionView, isOpen, outcomeOf, saidBy, waitsOf } from './run-view.ts';
import { readFoldedState } from './trace.ts';

/**
 * The run, if it is one of that organization.
 * @throws ClientError `not_found`, also for a run of another organization.
 */
export async function describeRun(
  access: Access,
  org: string,
  executionId: string,
): Promise<WorkflowExecutionDescription> {
  const description = await describe(access, executionId);
  const missing = () => new ClientError('not_found', 'There is no execution with that id.');
  if (description === undefined || description.type !== RUN_WORKFLOW) throw missing();
  // A run started by hand belongs to `default`, and says so only once it has come to wait.
  if ((description.memo?.['organizationId'] ?? DEFAULT_ORGANIZATION) !== org) throw missing();
  return description;
}

/** The latest execution of a run, as its description tells of it. */
export function executionOf(description: WorkflowExecutionDescription): Execution {
  return {
    workflowId: description.workflowId,
    runId: description.runId,
    status: description.status.name,
    startTime: description.startTime,
    // Of a chain, only the first execution can be one that nobody has begun to walk.
    ...(firstRunId(description) === description.runId ? { historyLength: description.historyLength } : {}),
    ...(description.closeTime === undefined ? {} : { closeTime: description.closeTime }),
    memo: description.memo ?? {},
    ...saidBy(description.typedSearchAttributes),
  };
}

/** The run with its input and, once it has ended, its output or error. `exclude` leaves out what is not needed. */
export async function readRun(
  access: Access,
  org: string,
  executionId: string,
  exclude: ReadonlySet<string> = new Set(),
): Promise<ExecutionView> {
  const description = await describeRun(access, org, executionId);
  const execution = executionOf(description);
  const [argument, closing] = await Promise.all([
    readStart(access, description),
    isOpen(execution.status) ? undefined : readClosing(access, executionId, description.runId),
  ]);
  const told = executionView(access, execution, argument);
  const view = await withPositions(access, { ...told, waitingFor: withComments(told.waitingFor, argument) });
  const converter = access.client.options.loadedDataConverter;
  const retrying = await retriedEffects(converter, description.raw.pendingActivities);
  const decided = await decidedOutcome(access, description);
  const { output, error }: Partial<Outcome> = decided ?? (closing === undefined ? {} : outcomeOf(closing));
  return {
    ...view,
    ...(retrying.length === 0 ? {} : { retrying }),
    ...(argument === undefined || exclude.has('input') ? {} : { input: argument.input ?? {} }),
    ...(output === undefined || exclude.has('output') ? {} : { output }),
    ...(error === undefined ? {} : { error }),
  };
}

/** A run that waits for a slot says at which gate; that one knows the place in its queue. */
async function withPositions(access: Access, view: ExecutionView): Promise<ExecutionView> {
  const waitingFor = await Promise.all(
    view.waitingFor.map(async (wait) => {
      const position = wait.gate === undefined ? undefined : await positionOf(access, wait.gate, view.id);
      return position === undefined ? wait : { ...wait, position };
    }),
  );
  return { ...view, waitingFor };
}

/** Whether a decision needs a comment is what the definition says of the step. */
function withComments(waits: readonly WaitingFor[], started: RunInput | undefined): readonly WaitingFor[] {
  const steps = started?.definition.steps ?? {};
  return waits.map((wait) => {
    const step = wait.kind === 'approval' ? steps[wait.stepSlug] : undefined;
    return step?.stepType === 'approval' && step.config?.['commentRequired'] === true
      ? { ...wait, commentRequired: true as const }
      : wait;
  });
}

/** How the run goes; undefined where Temporal no longer keeps it. */
export async function readStatus(access: Access, org: string, executionId: string): Promise<RunStatus | undefined> {
  try {
    return executionView(access, executionOf(await describeRun(access, org, executionId))).status;
  } catch (error) {
    if (hasCode(error, 'not_found')) return undefined;
    throw error;
  }
}

/** What the first run of the chain was started with; undefined where Temporal no longer keeps it. */
export async function readStart(
  access: Access,
  description: WorkflowExecutionDescription,
): Promise<RunInput | undefined> {
  try {
    const started = runInputOf(await readArgument<unknown>(access, description.workflowId, firstRunId(description)));
    // A retry or a fork was given a state, and the input is in it.
    if (started?.carried === undefined) return started;
    const { input, trigger } = restore(started.carried).genesis;
    return { ...started, input, trigger: trigger as RunTrigger };
  } catch (error) {
    if (hasCode(error, 'not_found')) return undefined;
    throw error;
  }
}

type Outcome = ReturnType<typeof outcomeOf>;

const returnsEarly = async (access: Access, description: WorkflowExecutionDescription): Promise<boolean> =>
  mayDrain((await readStart(access, description))?.definition);

/**
 * What a run has returned whose effects in flight have not ended. One that has closed since tells its output by its end,
 * unless it was ended from outside.
 */
async function decidedOutcome(access: Access, description: WorkflowExecutionDescription): Promise<Outcome | undefined> {
  const { decided } = (description.memo ?? {}) as Partial<RunMemo>;
  if (decided === undefined || description.status.name === 'COMPLETED') return undefined;
  const output =
    decided.output ?? (await readFoldedState(access, description.workflowId, description.runId))?.draining?.output;
  return { status: 'completed', output: output ?? null };
}

/** Whether the run may show its output before it closes. */
function mayDrain(definition: Definition | undefined): boolean {
  if (definition === undefined || definition.output !== undefined) return false;
  return Object.values(definition.steps).some(({ stepType, config }) =>
    stepType === 'return' ? config?.['drain'] !== false : stepType === 'finish' && config?.['drain'] === true,
  );
}

export type RunResult =
  | { readonly ended: true; readonly status: RunStatus; readonly output?: Json; readonly error?: RunError }
  | ({ readonly ended: false } & Pick<ExecutionView, 'status' | 'waitingFor' | 'paused' | 'pausedSince'>);

/** Temporal answers a long poll after 20 s at the latest, so a longer wait asks again. */
const LONGEST_POLL_MS = 20_000;
/** Near its deadline Temporal answers a long poll at once, and would be asked hundreds of times in the last second. */
const SHORTEST_POLL_MS = 100;
/** How long a run that may return before it closes is waited for between two looks at it. */
const LOOK_EVERY_MS = 500;

/** The run's result; waits up to `waitMs` for it, across continue-as-new. */
export async function readResult(
  access: Access,
  org: string,
  executionId: string,
  waitMs: number,
  signal?: AbortSignal,
): Promise<RunResult> {
  const until = Date.now() + waitMs;
  let description = await describeRun(access, org, executionId);
  let runId = description.runId;
  const looks = waitMs > 0 && isOpen(description.status.name) && (await returnsEarly(access, description));
  for (;;) {
    const decided = await decidedOutcome(access, description);
    if (decided !== undefined) return { ended: true, ...decided };
    const asked = Date.now();
    const remaining = until - asked;
    const isClosed = !isOpen(description.status.name) && runId === description.runId;
    if (isClosed || remaining > 0) {
      const closing = await readClosing(
        access,
        executionId,
        runId,
        isClosed ? 0 : Math.min(remaining, looks ? LOOK_EVERY_MS : LONGEST_POLL_MS),
        signal,
      );
      if (closing?.how === 'continued') runId = closing.runId;
      else if (closing !== undefined) return { ended: true, ...outcomeOf(closing) };
    }
    if (signal?.aborted || Date.now() >= until) break;
    if (Date.now() - asked < SHORTEST_POLL_MS) await delay(Math.min(SHORTEST_POLL_MS, until - Date.now()));
    if (looks) description = await describeRun(access, org, executionId);
  }
  description = await describeRun(access, org, executionId);
  const decided = await decidedOutcome(access, description);
  if (decided !== undefined) return { ended: true, ...decided };
  const execution = executionOf(description);
  if (!isOpen(execution.status)) {
    const closing = await readClosing(access, executionId, description.runId);
    if (closing !== undefined) return { ended: true, ...outcomeOf(closing) };
  }
  const { status, paused, pausedSince } = executionView(access, execution);
  const waits = waitsOf(execution);
  const isAsked = waits.some(({ kind }) => kind === 'approval');
  return {
    ended: false,
    status,
    waitingFor: isAsked ? withComments(waits, await readStart(access, description)) : waits,
    ...(paused === undefined ? {} : { paused }),
    ...(pausedSince === undefined ? {} : { pausedSince }),
  };
}
