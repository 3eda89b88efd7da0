/** Actions on an open run: decisions, submissions, messages, cancelling (ARCHITECTURE.md §3, §5). */

import { ulid } from 'ulid';
import type {
  Accepted,
  DecideSignal,
  Decision,
  DecisionEffect,
  MessageSignal,
  Submission,
  SubmitSignal,
  WaitingFor,
} from '../../contract/run/run.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError, hasCode, rethrowAs } from '../errors.ts';
import { identityFor, type TerminationReason } from '../history/termination-reason.ts';
import { type Access, keysFor, type WriteAccess } from '../temporal/access.ts';
import { isRunIdOf } from '../temporal/ids.ts';
import { read, write, writeUnqueued } from '../temporal/rpc.ts';
import { isOpen } from '../temporal/run-status.ts';
import { sendCounted } from './inbox-limit.ts';
import { isResumeToken } from './resume-token.ts';
import { describeRun, executionOf } from './run-read.ts';
import { type Execution, waitsOf } from './run-view.ts';
import { readTrace } from './trace.ts';

/** The most waits that the memo lists. Beyond this number the run is queried. */
const MAX_MEMO_WAITS = 20;

/** A decision as a caller of the API sends it. */
interface DecideRequest extends Omit<Decision, 'via' | 'override' | 'reason'> {
  /** The slug of a step with one open approval, or the path of a visit. */
  readonly step?: string;
  /** Names the approval: replaces `step`, or confirms it. */
  readonly resumeToken?: string;
  /** How the decision came. Default: `api`. */
  readonly via?: string;
  /** A repeated key gets the same answer. */
  readonly key?: string;
}

/**
 * The effect of a decision, by the present state of its approval, for answers of workers that do not say it. Undefined
 * where the run cannot be queried, or does not answer.
 */
export async function decisionEffectOf(
  access: Access,
  executionId: string,
  path: string,
): Promise<DecisionEffect | undefined> {
  const handle = access.client.workflow.getHandle(executionId);
  const asked = await read(access, () => handle.query<WaitingFor[]>('waiting')).catch(() => undefined);
  const wait = asked?.find((one) => one.path === path && one.kind === 'approval');
  // The list has a limit, so the wait may be missing from it.
  if (asked === undefined || (wait === undefined && asked.length >= MAX_MEMO_WAITS)) return undefined;
  return wait?.votes === undefined ? { recorded: 'decision' } : { recorded: 'vote', votes: wait.votes };
}

/**
 * Decides an approval.
 * @throws ClientError with the codes of Refusal, `closed`, or `resume_token_mismatch`.
 */
export function decide(
  access: WriteAccess,
  org: string,
  executionId: string,
  request: DecideRequest,
): Promise<Accepted> {
  const { resumeToken, step: asked, key, ...decision } = request;
  return orStoredAnswer(access, executionId, key, async () => {
    const step =
      resumeToken === undefined
        ? asked
        : await stepOfToken(access, await demandOpenRun(access, org, executionId), resumeToken, asked);
    const signal: DecideSignal = { via: 'api', ...decision, ...omitUndefined({ step }) };
    return sendUpdate(access, org, executionId, 'decide', signal, key);
  });
}

export interface SubmitRequest extends Omit<Submission, 'via'> {
  readonly step?: string;
  readonly key?: string;
}

/** Answers a user_input step. @throws ClientError with the codes of Refusal, or `closed`. */
export function submit(
  access: WriteAccess,
  org: string,
  executionId: string,
  request: SubmitRequest,
): Promise<Accepted> {
  const { key, ...submission } = request;
  const signal: SubmitSignal = { ...submission, via: 'api' };
  return orStoredAnswer(access, executionId, key, () => sendUpdate(access, org, executionId, 'submit', signal, key));
}

/**
 * Sends a message; it is kept until a listen step takes it.
 * @throws ClientError `closed`, `inbox_overflow`.
 */
export async function sendMessage(
  access: WriteAccess,
  org: string,
  executionId: string,
  message: MessageSignal,
): Promise<void> {
  const readMemo = async () => (await demandOpenRun(access, org, executionId)).memo;
  const handle = access.client.workflow.getHandle(executionId);
  await sendCounted(access, org, executionId, message, readMemo, () =>
    closedIfNotFound(() => writeUnqueued(access, 'runs', () => handle.signal('message', message))),
  );
}

/**
 * Sends an event to a run that Visibility lists as listening. The run drops an event that no listener takes, so events
 * are not counted.
 * @throws ClientError `closed`.
 */
export function sendEvent(access: WriteAccess, executionId: string, message: MessageSignal): Promise<void> {
  const handle = access.client.workflow.getHandle(executionId);
  return closedIfNotFound(() => writeUnqueued(access, 'runs', () => handle.signal('message', message)));
}

/**
 * Asks the run to cancel. It cancels its open commands, and runs the rollback where one is configured.
 * @throws ClientError `closed`.
 */
export function cancelRun(
  access: WriteAccess,
  org: string,
  executionId: string,
  reason: TerminationReason,
): Promise<void> {
  const request = { ...terminationRequest(access, executionId, reason), requestId: ulid() };
  return endRun(access, org, executionId, () => access.client.workflowService.requestCancelWorkflowExecution(request));
}

/** Ends the run immediately, without a rollback. @throws ClientError `closed`. */
export function terminateRun(
  access: WriteAccess,
  org: string,
  executionId: string,
  reason: TerminationReason,
): Promise<void> {
  const request = terminationRequest(access, executionId, reason);
  return endRun(access, org, executionId, () => access.client.workflowService.terminateWorkflowExecution(request));
}

async function endRun(
  access: WriteAccess,
  org: string,
  executionId: string,
  end: () => Promise<unknown>,
): Promise<void> {
  await demandOpenRun(access, org, executionId);
  await closedIfNotFound(() => write(access, 'runs', executionId, end));
}

/** The reason that Temporal receives. readRun shows its words again. */
const terminationRequest = ({ namespace }: Access, workflowId: string, { reason, by }: TerminationReason) => ({
  namespace,
  workflowExecution: { workflowId },
  identity: identityFor(by),
  ...omitUndefined({ reason }),
});

/** All waits of an open run: the memo's list, or the run's own answer where the memo's list is incomplete. */
function openWaits(access: Access, execution: Execution): Promise<readonly WaitingFor[]> | readonly WaitingFor[] {
  const waits = waitsOf(execution);
  if (waits.length < MAX_MEMO_WAITS) return waits;
  return read(access, () => access.client.workflow.getHandle(execution.workflowId).query<WaitingFor[]>('waiting'));
}

/** @throws ClientError `not_found`, `closed`. */
async function demandOpenRun(access: Access, org: string, executionId: string): Promise<Execution> {
  const execution = executionOf(await describeRun(access, org, executionId));
  if (!isOpen(execution.status)) throw runClosed();
  return execution;
}

/**
 * Sends an update to an open run. An id that names the organization is not looked up first: the update itself tells
 * whether the run is open.
 * @throws ClientError `not_found`, `closed`, and the refusal of the run.
 */
async function sendUpdate(
  access: WriteAccess,
  org: string,
  executionId: string,
  name: string,
  signal: DecideSignal | SubmitSignal,
  key = ulid(),
): Promise<Accepted> {
  const isNamed = isRunIdOf(org, executionId);
  if (!isNamed) await demandOpenRun(access, org, executionId);
  const handle = access.client.workflow.getHandle(executionId);
  const options = { args: [{ ...signal, key }] as [object], updateId: key };
  try {
    return await write(access, 'runs', executionId, () => handle.executeUpdate<Accepted, [object]>(name, options));
  } catch (error) {
    if (!hasCode(error, 'not_found')) throw error;
    if (isNamed) await demandOpenRun(access, org, executionId);
    throw runClosed();
  }
}

/** The answer of `act`. Where the run has ended in the meantime, the stored answer of the key. */
async function orStoredAnswer(
  access: Access,
  executionId: string,
  key: string | undefined,
  act: () => Promise<Accepted>,
): Promise<Accepted> {
  try {
    return await act();
  } catch (error) {
    if (key === undefined || !hasCode(error, 'closed')) throw error;
    const answered = access.client.workflow.getHandle(executionId).getUpdateHandle<Accepted>(key);
    return read(access, () => answered.result()).catch(() => {
      throw error;
    });
  }
}

/** A run that ends in the meantime is `closed`, not `not_found`. */
const closedIfNotFound = <T>(act: () => Promise<T>): Promise<T> => act().catch(rethrowAs('not_found', runClosed));

const runClosed = (): ClientError =>
  new ClientError('closed', 'The execution has ended: there is nothing left to do to it.');

/** The most rows of the trace that are searched for a past approval. */
const MAX_SEARCHED_ROWS = 50_000;

/** Whether the token belongs to an approval that is no longer open. */
async function wasResumeToken(
  access: Access,
  executionId: string,
  token: string,
  keys: readonly Uint8Array[],
): Promise<boolean> {
  let cursor: string | undefined;
  for (let seen = 0; seen < MAX_SEARCHED_ROWS; ) {
    const page = await readTrace(access, executionId, { limit: 10_000, ...omitUndefined({ cursor }) });
    for (const { path, startedAt: since } of page.items)
      if (keys.some((key) => isResumeToken(key, executionId, { path, since }, token))) return true;
    seen += page.items.length;
    cursor = page.nextCursor;
    if (cursor === undefined || page.items.length === 0) break;
  }
  return false;
}

/** The path of the approval that a token names. */
async function stepOfToken(
  access: Access,
  execution: Execution,
  token: string,
  step: string | undefined,
): Promise<string> {
  const approvals = (await openWaits(access, execution)).filter((wait) => wait.kind === 'approval');
  const named = approvals.filter((wait) => step === undefined || wait.path === step || wait.stepSlug === step);
  if (named.length === 0) {
    throw new ClientError('not_waiting', 'No such approval is open: it has been decided, or it is not reached yet.');
  }
  const keys = keysFor(access, 'resumeTokens');
  const match = named.find((wait) => keys.some((key) => isResumeToken(key, execution.workflowId, wait, token)));
  if (match === undefined) {
    if (await wasResumeToken(access, execution.workflowId, token, keys))
      throw new ClientError(
        'already_decided',
        'The resume token is of an approval that is over: it was used, or nobody decided in time.',
      );
    throw new ClientError(
      'resume_token_mismatch',
      'The resume token belongs to no open approval of this execution. Read the execution again for the current one.',
    );
  }
  return match.path;
}
