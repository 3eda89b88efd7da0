/**
 * Retry (ARCHITECTURE.md §3): a failed run continues as a new Temporal run under the same id. The failed steps begin
 * again (src/history/retry-plan.ts), with the same idempotency keys. A run that was terminated or timed out in Temporal
 * continues where it stopped.
 */

import type { WorkflowExecutionDescription } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { AppliedLimit } from '../../contract/limits/limiter.ts';
import { RUN_WORKFLOW, type RunError, type RunInput, type RunStatus } from '../../contract/run/run.ts';
import { resumedState } from '../../engine/resume/rewind.ts';
import { serialize } from '../../engine/state/serialize.ts';
import { runInputOf } from '../../engine/state/start.ts';
import type { RunState } from '../../engine/state/state.ts';
import type { FoldOptions } from '../../history/fold.ts';
import { NotRetryable, RetryPlan } from '../../history/retry-plan.ts';
import type { RunTrace } from '../../history/run-trace.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError } from '../errors.ts';
import { foldSingleRun } from '../history/histories.ts';
import { readArgument, readCloseOutcome } from '../history/start-and-close-events.ts';
import { searchAttributes } from '../search-attributes/keys.ts';
import { reserveSlots } from '../starts/limiters.ts';
import { consoleLink, demandRunInputSize } from '../starts/start-prepared-run.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { startUnlessTaken } from '../temporal/actor-calls.ts';
import { isOpen, statusOf } from '../temporal/run-status.ts';
import { demandRunnableAgain } from '../versions/version-history.ts';
import { describeRun } from './run-read.ts';
import { outcomeOf } from './run-view.ts';

interface RetriedRun {
  readonly executionId: string;
  readonly status: RunStatus;
  /** Temporal's new run. */
  readonly runId: string;
}

/** The memo's member for the key of the request that retried the run. */
const RETRY_KEY = 'retryKey';

/**
 * A repeated `key` gets the same answer.
 * @throws ClientError `not_found`, `not_failed`, `rolled_back`, `not_retryable`, `version_not_found`,
 * `payload_too_large`, `limit_reached`.
 */
export async function retryRun(
  access: WriteAccess,
  org: string,
  executionId: string,
  key?: string,
): Promise<RetriedRun> {
  const description = await describeRun(access, org, executionId);
  const { runId, memo = {} } = description;
  if (key !== undefined && memo[RETRY_KEY] === key)
    return { executionId, status: statusOf(description.status.name, memo), runId };
  // A run that was terminated while activities were in flight has completed: its output counts.
  if (memo['decided'] !== undefined) throw notFailed('The execution has completed');
  if (isOpen(description.status.name)) throw notFailed('The execution has not ended');
  const closing = await readCloseOutcome(access, executionId, runId);
  if (closing?.how === 'completed' || closing?.how === 'cancelled')
    throw notFailed(`The execution has ${closing.how === 'completed' ? 'completed' : 'been cancelled'}`);
  const argument = runInputOf(await readArgument<unknown>(access, executionId, runId));
  if (closing === undefined || argument === undefined)
    throw new ClientError('not_retryable', 'The execution was started with nothing that can be walked.');
  await demandRunnableAgain(access, org, argument);
  const error = closing.how === 'failed' ? outcomeOf(closing).error : undefined;
  const input = await retryInput(access, org, executionId, runId, argument, error);
  demandRunInputSize(input, access.dataBytes);
  return startRetry(access, org, description, input, key);
}

/** The argument of the new run. */
async function retryInput(
  access: WriteAccess,
  org: string,
  executionId: string,
  runId: string,
  argument: RunInput,
  error: RunError | undefined,
): Promise<RunInput> {
  try {
    const { state, program } = await findRetryState(access, executionId, runId, error);
    const reserve = (limiters: readonly AppliedLimit[]) => reserveSlots(access, org, executionId, limiters);
    if (state === undefined || program === undefined) {
      // The run was terminated before a worker took it, so it begins. Without limiters in its argument it asks the
      // limiters of its definition.
      const { gates } = argument;
      return { ...argument, ...(gates === undefined ? {} : { gates: await reserve(gates) }), retryOf: { runId } };
    }
    const { run, postponed } = state;
    const limiters = await reserve(run.genesis.gates ?? []);
    const resumed = resumedState(program, run, { work: postponed, at: Date.now(), limiters });
    const { input: _given, presets: _set, carried: _before, ...rest } = argument;
    return { ...rest, carried: serialize(program, resumed), retryOf: { runId } };
  } catch (reason) {
    if (reason instanceof NotRetryable) throw new ClientError(reason.code, reason.message, { cause: reason });
    throw reason;
  }
}

type RetryState = Pick<RunTrace, 'program'> & {
  readonly state?: { readonly run: RunState; readonly postponed: RetryPlan['postponed'] };
};

async function findRetryState(
  access: Access,
  executionId: string,
  lastRunId: string,
  error: RunError | undefined,
): Promise<RetryState> {
  const plan = new RetryPlan(error);
  const fold = (runId: string, options: FoldOptions) => foldSingleRun(access, executionId, runId, options);
  const last = await fold(lastRunId, plan.searchOptions(lastRunId));
  const { program } = last;
  if (last.state?.rollback !== undefined) {
    throw new ClientError(
      'rolled_back',
      'The run was rolled back when it failed: what it had done is undone. Start it anew, or fork it from a step.',
    );
  }
  if (program === undefined) {
    if (error === undefined) return { program };
    throw new NotRetryable('The run could not begin, since its definition cannot be walked. Mend it, and start anew.');
  }
  const runs = [lastRunId];
  let oldest: RunTrace = last;
  while (!plan.found && oldest.continuedFrom !== undefined && !oldest.restarted) {
    const { continuedFrom } = oldest;
    oldest = await fold(continuedFrom, plan.searchOptions(continuedFrom));
    runs.unshift(continuedFrom);
  }
  let state: RunState | undefined;
  for (const runId of runs) {
    const without = plan.replayOptions(runId);
    state = (await fold(runId, state === undefined ? without : { ...without, initialState: state })).state;
  }
  return { program, state: { run: plan.checkedState(state), postponed: plan.postponed } };
}

async function startRetry(
  access: WriteAccess,
  org: string,
  failed: WorkflowExecutionDescription,
  input: RunInput,
  key: string | undefined,
): Promise<RetriedRun> {
  const executionId = failed.workflowId;
  const { paused: _paused, ...memo } = failed.memo ?? {};
  const before = await describeRun(access, org, executionId);
  if (before.runId !== failed.runId) throw notFailed('The execution was retried meanwhile');
  const runId = await startUnlessTaken(access, 'starts', RUN_WORKFLOW, {
    workflowId: executionId,
    args: [input],
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    memo: { ...memo, status: 'running', waitingFor: [], ...omitUndefined({ [RETRY_KEY]: key }) },
    typedSearchAttributes: attributesOf(failed),
    ...(input.definition.name === undefined ? {} : { staticSummary: input.definition.name.slice(0, 190) }),
    ...consoleLink(access, executionId),
  });
  if (runId !== undefined) return { executionId, status: 'pending', runId };
  // An earlier attempt of this call succeeded, or another caller was faster.
  const now = await describeRun(access, org, executionId);
  const begun = runInputOf(await readArgument<unknown>(access, executionId, now.runId));
  if (begun?.retryOf?.runId !== failed.runId) throw notFailed('The execution was retried meanwhile');
  return { executionId, status: 'pending', runId: now.runId };
}

/** The search attributes of the failed run, without the attributes that describe its end. */
function attributesOf(failed: WorkflowExecutionDescription): TypedSearchAttributes {
  const { durationMs, status, waiting } = searchAttributes;
  const endAttributes: readonly string[] = [durationMs.name, status.name, waiting.name];
  const copied = failed.typedSearchAttributes.getAll().filter(({ key }) => !endAttributes.includes(key.name));
  return new TypedSearchAttributes([
    ...copied.filter(({ key }) => key.name.startsWith('Signalbox')),
    { key: status, value: 'running' },
  ]);
}

const notFailed = (what: string): ClientError =>
  new ClientError('not_failed', `${what}: what failed, timed out or was terminated can be retried, and nothing else.`);
