/** Reads one run by its id: its input, its status, its end. It needs no worker. */

import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import proto from '@temporalio/proto';
import { DEFAULT_ORGANIZATION } from '../../contract/organization/organization.ts';
import {
  RUN_WORKFLOW,
  type RunError,
  type RunInput,
  type RunStatus,
  type RunTrigger,
  type ShownWaitingFor,
} from '../../contract/run/run.ts';
import type { Definition, StepDefinition } from '../../definition/document/types.ts';
import { restore } from '../../engine/state/serialize.ts';
import { runInputOf } from '../../engine/state/start.ts';
import type { Unreadable } from '../../history/events.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { kindOf } from '../../steps/kinds/table.ts';
import { ClientError, onCode } from '../errors.ts';
import { firstRunId, readArgument, readCloseOutcome } from '../history/start-and-close-events.ts';
import { searchAttributes } from '../search-attributes/keys.ts';
import { cachedEarlyReturns, cacheEarlyReturns } from '../starts/early-returns.ts';
import { positionOf } from '../starts/limiters.ts';
import type { Access } from '../temporal/access.ts';
import { describePartially, type PartialDescription } from '../temporal/actor-calls.ts';
import { isRunIdOf } from '../temporal/ids.ts';
import { isOpen } from '../temporal/run-status.ts';
import { msOf } from '../temporal/timestamps.ts';
import { tryRead, withoutTooDeep } from '../temporal/unreadable-data.ts';
import { hasWorker } from '../temporal/worker-liveness.ts';
import { type RetriedActivity, retriedActivities, storeWaits } from './pending-activities.ts';
import { type Execution, type ExecutionView, executionView, outcomeOf, waitsOf } from './run-view.ts';
import { readFoldedState } from './trace-chain.ts';
import { validMemo } from './valid-memo.ts';

const { PENDING_ACTIVITY_STATE_SCHEDULED } = proto.temporal.api.enums.v1.PendingActivityState;
const { PENDING_WORKFLOW_TASK_STATE_SCHEDULED } = proto.temporal.api.enums.v1.PendingWorkflowTaskState;
/** A task that is due waits so long before somebody asks whether a worker lives. */
const TASK_PICKUP_GRACE_MS = 2_000;

/**
 * The run, if it is one of that organization.
 * @throws ClientError `not_found`, also for a run of another organization.
 */
export async function describeRun(access: Access, org: string, executionId: string): Promise<PartialDescription> {
  const description = await describePartially(access, executionId);
  const missing = () => new ClientError('not_found', 'There is no execution with that id.');
  if (description === undefined || description.type !== RUN_WORKFLOW) throw missing();
  // A run started by hand belongs to `default`. Its attributes show it only after its first wait.
  if (organizationOf(description) !== org) throw missing();
  return description;
}

export function organizationOf({ memo, typedSearchAttributes }: WorkflowExecutionDescription): string {
  const memoOrganization = memo?.['organizationId'] as string | null | undefined;
  return memoOrganization ?? typedSearchAttributes.get(searchAttributes.org) ?? DEFAULT_ORGANIZATION;
}

/** The latest execution of a run, from its description. */
export function executionOf(description: PartialDescription): Execution {
  return {
    workflowId: description.workflowId,
    runId: description.runId,
    status: description.status.name,
    startTime: description.startTime,
    // In a chain, only the first execution can be pending.
    ...(firstRunId(description) === description.runId ? { historyLength: description.historyLength } : {}),
    ...omitUndefined({ closeTime: description.closeTime }),
    memo: validMemo(description.memo ?? {}),
    ...omitUndefined({ unreadable: description.unreadable }),
    attributes: description.typedSearchAttributes,
  };
}

/**
 * The run with its input and, once it has ended, its output or error. `exclude` omits members. `deadWorkers`:
 * identities of workers that are known to have ended.
 */
export async function readRun(
  access: Access,
  org: string,
  executionId: string,
  exclude: ReadonlySet<string> = new Set(),
  deadWorkers?: ReadonlySet<string>,
): Promise<ExecutionView> {
  const description = await describeRun(access, org, executionId);
  const execution = executionOf(description);
  const [start, end] = await Promise.all([
    tryRead(() => readStart(access, description)),
    tryRead(() => readEnd(access, description)),
  ]);
  const argument = start.value;
  const listedView = executionView(access, execution, argument);
  const view = await withQueuePositions(access, {
    ...listedView,
    waitingFor: withComments(listedView.waitingFor, argument),
  });
  const converter = access.client.options.loadedDataConverter;
  // Temporal still lists the activities that a terminated run had.
  const pending = isOpen(description.status.name) ? description.raw.pendingActivities : [];
  const [retrying, storing] = await Promise.all([
    retriedActivities(converter, pending),
    storeWaits(converter, pending),
  ]);
  const waitingFor = [
    ...view.waitingFor,
    ...retryWaits(retrying),
    ...storing.map((wait): ShownWaitingFor => ({ ...wait, kind: 'store', stepSlug: slugOf(wait.path) })),
    ...(await workerWait(access, description, deadWorkers)),
  ];
  const { output, error } = end.value ?? {};
  const fullView = {
    ...view,
    waitingFor,
    ...(retrying.length === 0 ? {} : { retrying }),
    ...(argument === undefined || exclude.has('input')
      ? {}
      : { input: argument.input === undefined ? {} : argument.input }),
    ...(output === undefined || exclude.has('output') ? {} : { output }),
    ...omitUndefined({ error }),
  };
  const { value, unreadable } = withoutTooDeep(fullView, ['input', 'output', 'error']);
  const reason = view.unreadable ?? start.unreadable ?? end.unreadable ?? unreadable;
  return reason === undefined ? value : { ...value, unreadable: reason };
}

/** The end of the run, or the output that it returned before its end. */
async function readEnd(access: Access, description: PartialDescription): Promise<Partial<Outcome>> {
  const decided = await decidedOutcome(access, description);
  if (decided !== undefined || isOpen(description.status.name)) return decided ?? {};
  const closing = await readCloseOutcome(access, description.workflowId, description.runId);
  return closing === undefined ? {} : outcomeOf(closing);
}

/** Adds the place in the queue to the wait for a slot. The limiter knows it. */
async function withQueuePositions(access: Access, view: ExecutionView): Promise<ExecutionView> {
  const waitingFor = await Promise.all(
    view.waitingFor.map(async (wait) => {
      const position = wait.gate === undefined ? undefined : await positionOf(access, wait.gate, view.id);
      return position === undefined ? wait : { ...wait, position };
    }),
  );
  return { ...view, waitingFor };
}

/** The activities that wait for their next attempt, and those that were paused. */
function retryWaits(retrying: readonly RetriedActivity[]): ShownWaitingFor[] {
  return retrying.flatMap((effect): ShownWaitingFor[] => {
    const { path, attempt, maxAttempts, lastError, lastEndedAt, nextAttemptAt, pausedSince } = effect;
    const at = { path, stepSlug: slugOf(path), attempt, ...omitUndefined({ maxAttempts }) };
    if (nextAttemptAt !== undefined) {
      const since = lastEndedAt ?? nextAttemptAt;
      return [{ ...at, kind: 'retry', since, until: nextAttemptAt, ...omitUndefined({ message: lastError?.message }) }];
    }
    if (pausedSince === undefined) return [];
    return [{ ...at, kind: 'unpause', since: pausedSince, ...omitUndefined({ message: effect.pauseReason }) }];
  });
}

/** A shortened path does not name its step. */
const slugOf = (path: string): string =>
  path.includes('~~') ? '' : (/^[\w-]+/.exec(path.slice(path.lastIndexOf('/') + 1))?.[0] ?? '');

/** The wait of a run with a task that nobody has taken for a while, where no worker lives. */
async function workerWait(
  access: Access,
  { status, raw, taskQueue }: PartialDescription,
  deadWorkers: ReadonlySet<string> | undefined,
): Promise<ShownWaitingFor[]> {
  if (!isOpen(status.name)) return [];
  const { pendingWorkflowTask: task, pendingActivities } = raw;
  const due = [
    ...(task?.state === PENDING_WORKFLOW_TASK_STATE_SCHEDULED ? [msOf(task.scheduledTime)] : []),
    ...(pendingActivities ?? [])
      .filter(({ state, paused }) => state === PENDING_ACTIVITY_STATE_SCHEDULED && paused !== true)
      .map(({ nextAttemptScheduleTime, scheduledTime }) => msOf(nextAttemptScheduleTime) ?? msOf(scheduledTime)),
  ].flatMap((at) => at ?? []);
  const since = Math.min(...due);
  if (Date.now() - since < TASK_PICKUP_GRACE_MS || due.length === 0) return [];
  // A run that was started by hand may be on a queue of its own.
  if (await hasWorker({ ...access, taskQueue }, deadWorkers)) return [];
  const message = taskQueue === access.taskQueue ? undefined : `No worker polls its task queue '${taskQueue}'.`;
  return [
    { path: '', stepSlug: '', kind: 'worker', since: new Date(since).toISOString(), ...omitUndefined({ message }) },
  ];
}

/** Adds whether a decision needs a comment, as the definition of the step says. */
function withComments<Wait extends ShownWaitingFor>(
  waits: readonly Wait[],
  started: RunInput | undefined,
): readonly Wait[] {
  return waits.map((wait) =>
    wait.kind === 'approval' && requiresComment(started?.definition, wait.stepSlug)
      ? { ...wait, commentRequired: true as const }
      : wait,
  );
}

/** The written rules of a step's approval: of an approval itself, or of an agent that asks about its calls. */
export function approvalRules(definition: Definition | undefined, slug: string): JsonObject {
  const steps = (definition?.steps ?? {}) as { readonly [slug: string]: StepDefinition | null | undefined };
  const step = Object.hasOwn(steps, slug) ? steps[slug] : undefined;
  return kindOf(step?.stepType ?? '')?.needs?.(step?.config ?? {}).approval?.rules ?? {};
}

/** Whether no decision without a comment ends the step's approval. */
export const requiresComment = (definition: Definition | undefined, slug: string): boolean =>
  approvalRules(definition, slug)['commentRequired'] === true;

/** The present status of the run. Undefined where Temporal no longer has it. */
export async function readStatus(access: Access, org: string, executionId: string): Promise<RunStatus | undefined> {
  const description = await describeRun(access, org, executionId).catch(onCode('not_found', () => undefined));
  return description && executionView(access, executionOf(description)).status;
}

/** The argument of the first run of the chain. Undefined where Temporal no longer has it. */
export async function readStart(
  access: Access,
  description: WorkflowExecutionDescription,
): Promise<RunInput | undefined> {
  const argument = readArgument<unknown>(access, description.workflowId, firstRunId(description));
  const started = runInputOf(await argument.catch(onCode('not_found', () => undefined)));
  // A retry or a fork has a carried state, which contains the input.
  if (started?.carried === undefined) return started;
  const { input, trigger } = restore(started.carried).genesis;
  return { ...started, input, trigger: trigger as RunTrigger };
}

type Outcome = ReturnType<typeof outcomeOf>;

async function returnsEarly(access: Access, description: WorkflowExecutionDescription): Promise<boolean> {
  const { workflowId } = description;
  const known = cachedEarlyReturns(access, workflowId);
  if (known !== undefined) return known;
  const { value: start } = await tryRead(() => readStart(access, description));
  return start === undefined ? false : cacheEarlyReturns(access, workflowId, start.definition);
}

/**
 * The output of a run that has returned while its activities are still in flight. A run that closed since has its
 * output in its end, unless it was terminated.
 */
async function decidedOutcome(access: Access, description: WorkflowExecutionDescription): Promise<Outcome | undefined> {
  const { decided } = validMemo(description.memo ?? {});
  if (decided === undefined || description.status.name === 'COMPLETED') return undefined;
  const output =
    decided.output ?? (await readFoldedState(access, description.workflowId, description.runId))?.draining?.output;
  return { status: 'completed', output: output ?? null };
}

export type RunResult =
  | {
      readonly ended: true;
      readonly status: RunStatus;
      readonly output?: Json;
      readonly error?: RunError;
      /** Why the output or the error is missing. */
      readonly unreadable?: Unreadable;
    }
  | ({ readonly ended: false } & Pick<ExecutionView, 'status' | 'waitingFor' | 'paused' | 'pausedSince'>);

/** Temporal answers a long poll after 20 s at the latest, so a longer wait asks again. */
const MAX_POLL_MS = 20_000;
/**
 * Near the deadline of a long poll Temporal answers immediately. Without this pause the last second would have hundreds
 * of requests.
 */
const MIN_POLL_MS = 100;
/** The time between two reads of a run that may return before it closes. */
const EARLY_RETURN_POLL_MS = 500;

/** How long a result is waited for before the run is described, if it may return early. */
const QUICK_RESULT_MS = 100;

/**
 * The end of a run that completes while it is waited for, without a description: that is one call. Undefined where
 * more must be known, and for runs that may return early.
 */
async function pollForCompletion(
  access: Access,
  executionId: string,
  until: number,
  signal: AbortSignal | undefined,
): Promise<RunResult | undefined> {
  const begun = Date.now();
  const isLongPoll = cachedEarlyReturns(access, executionId) === false;
  const pollSignal = isLongPoll
    ? signal
    : AbortSignal.any([AbortSignal.timeout(QUICK_RESULT_MS), ...(signal ? [signal] : [])]);
  const deadline = isLongPoll ? until : Math.min(until, begun + QUICK_RESULT_MS);
  // The latest run of the chain.
  let runId = '';
  while (Date.now() < deadline && pollSignal?.aborted !== true) {
    const polledAt = Date.now();
    const { value: closing, unreadable } = await tryRead(() =>
      readCloseOutcome(access, executionId, runId, Math.min(until - polledAt, MAX_POLL_MS), pollSignal),
    );
    if (closing?.how === 'completed') return resultOf(outcomeOf(closing));
    if (closing?.how === 'continued') runId = closing.runId;
    else if (closing !== undefined || unreadable !== undefined) return undefined;
    if (Date.now() - polledAt < MIN_POLL_MS) await delay(Math.max(0, Math.min(MIN_POLL_MS, deadline - Date.now())));
  }
  return undefined;
}

/** The run's result. Waits up to `waitMs` for it, across continue-as-new. */
export async function readResult(
  access: Access,
  org: string,
  executionId: string,
  waitMs: number,
  signal?: AbortSignal,
): Promise<RunResult> {
  const until = Date.now() + waitMs;
  if (waitMs > 0 && isRunIdOf(org, executionId)) {
    const soon = pollForCompletion(access, executionId, until, signal);
    // The description says the same of an id that does not exist, in the words of all routes.
    const end = await soon.catch(onCode('not_found', () => undefined));
    if (end !== undefined) return end;
  }
  let description = await describeRun(access, org, executionId);
  let runId = description.runId;
  const pollsForEarlyReturn =
    waitMs > 0 && isOpen(description.status.name) && (await returnsEarly(access, description));
  for (;;) {
    const early = await tryRead(() => decidedOutcome(access, description));
    if (early.value !== undefined) return { ended: true, ...early.value };
    const polledAt = Date.now();
    const remaining = until - polledAt;
    const isClosed = !isOpen(description.status.name) && runId === description.runId;
    if (isClosed || remaining > 0) {
      const pollMs = isClosed ? 0 : Math.min(remaining, pollsForEarlyReturn ? EARLY_RETURN_POLL_MS : MAX_POLL_MS);
      const { value: closing, unreadable } = await tryRead(() =>
        readCloseOutcome(access, executionId, runId, pollMs, signal),
      );
      if (unreadable !== undefined) {
        description = await describeRun(access, org, executionId);
        if (!isOpen(description.status.name)) return unreadableResult(access, description, unreadable);
        runId = description.runId;
      } else if (closing?.how === 'continued') runId = closing.runId;
      else if (closing !== undefined) return resultOf(outcomeOf(closing));
    }
    if (signal?.aborted || Date.now() >= until) break;
    if (Date.now() - polledAt < MIN_POLL_MS) await delay(Math.min(MIN_POLL_MS, until - Date.now()));
    if (pollsForEarlyReturn) description = await describeRun(access, org, executionId);
  }
  if (waitMs > 0) description = await describeRun(access, org, executionId);
  const end = await tryRead(() => readEnd(access, description));
  if (end.unreadable !== undefined && !isOpen(description.status.name))
    return unreadableResult(access, description, end.unreadable);
  if (end.value?.status !== undefined) return resultOf({ ...end.value, status: end.value.status });
  const execution = executionOf(description);
  const { status, paused, pausedSince } = executionView(access, execution);
  const waits = waitsOf(execution);
  const awaitsApproval = waits.some(({ kind }) => kind === 'approval');
  return {
    ended: false,
    status,
    waitingFor: awaitsApproval
      ? withComments(waits, (await tryRead(() => readStart(access, description))).value)
      : waits,
    ...omitUndefined({ paused, pausedSince }),
  };
}

function resultOf(outcome: Outcome): RunResult {
  const { value, unreadable } = withoutTooDeep(outcome, ['output', 'error']);
  return { ended: true, ...value, ...omitUndefined({ unreadable }) };
}

/** The run has ended, but its end is unreadable. */
function unreadableResult(access: Access, description: PartialDescription, unreadable: Unreadable): RunResult {
  return { ended: true, status: executionView(access, executionOf(description)).status, unreadable };
}
