/** One question of a run: an approval or an input, open or answered, with the facts that an answer needs. */

import type { MadeDecision, WaitingFor } from '../../contract/run/run.ts';
import { waitAt } from '../../engine/inbound/view.ts';
import type { Unreadable } from '../../history/events.ts';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { kindOf } from '../../steps/kinds/table.ts';
import { ClientError, hasCode } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { isOpen } from '../temporal/run-status.ts';
import { tryRead, withoutTooDeep } from '../temporal/unreadable-data.ts';
import { type ApprovalView, approvalView, QUESTION_KINDS, type Viewer } from './approvals.ts';
import { approvalRules, describeRun, executionOf, readStart } from './run-read.ts';
import { type ExecutionView, executionView, waitsOf } from './run-view.ts';
import { readTrace, type Step } from './trace.ts';
import { readFoldedState } from './trace-chain.ts';

/** How a question ended: by a decision or a submission, without one in time, or with its step or run. */
type AnsweredStatus = 'approved' | 'rejected' | 'submitted' | 'timeout' | 'failed' | 'cancelled';

export interface GivenAnswer {
  readonly status: AnsweredStatus;
  /** ISO 8601. */
  readonly at: string;
  /** Null for a caller without an id, such as a signal. Absent where nobody answered. */
  readonly by?: string | null;
  /** `api`, `link`, `link to ADDRESS`, `temporal`, or `timeout`. */
  readonly via?: string;
  readonly comments?: string | null;
  /** The values of the form, or what was submitted. */
  readonly data?: Json;
  readonly votes?: Json;
}

export interface Question extends Omit<ApprovalView, 'status' | 'unreadable'> {
  readonly status: 'pending' | AnsweredStatus;
  readonly workflowVersion?: string;
  readonly executionStatus: ExecutionView['status'];
  /** The input of the run. */
  readonly input?: Json;
  /** What the step was given: its config, rendered. */
  readonly stepInput?: Json;
  /** Links also decide for addresses that no key has. */
  readonly outsiders?: true;
  /** Of an answered question. */
  readonly answer?: GivenAnswer;
  /** Why the input of the run or of the step is missing. */
  readonly unreadable?: Unreadable;
}

/** Where lists cut a message off. */
const ELLIPSIS = '…';

/**
 * The question at that path.
 * @throws ClientError `not_found` for a run of another organization, `no_such_step` where no question was ever asked at
 * the path.
 */
export async function readQuestion(
  access: Access,
  org: string,
  viewer: Viewer,
  executionId: string,
  path: string,
): Promise<Question> {
  const description = await describeRun(access, org, executionId);
  const execution = executionOf(description);
  const [start, step] = await Promise.all([
    tryRead(() => readStart(access, description)),
    stepAt(access, executionId, path),
  ]);
  const run = executionView(access, execution, start.value);
  const listed = waitsOf(execution).find((wait) => wait.path === path);
  const isComplete = listed !== undefined && listed.message?.endsWith(ELLIPSIS) !== true;
  const state =
    isComplete || !isOpen(execution.status) ? undefined : await readFoldedState(access, executionId, execution.runId);
  const wait = isComplete ? listed : waitIn(state, path);
  const question = isQuestion(wait) ? wait : questionOfStep(step, path);
  const { status: _pending, ...shown } = approvalView(access, viewer, run, question);
  const answer = isQuestion(wait)
    ? undefined
    : (answerOfQuestion(question, step, run) ??
      pendingDecisionIn(state, path) ??
      // It may have ended after the step was read.
      answerOfQuestion(question, await stepAt(access, executionId, path), run));
  const { value: given, unreadable } = withoutTooDeep(
    omitUndefined({ input: start.value?.input, stepInput: step?.input }),
    ['input', 'stepInput'],
  );
  return {
    ...shown,
    status: answer?.status ?? 'pending',
    // A decision may be made already, and its messages on their way.
    mayAnswer: answer === undefined && isQuestion(wait) && shown.mayAnswer,
    executionStatus: run.status,
    ...omitUndefined({ workflowName: run.workflowName, workflowVersion: run.workflowVersion }),
    ...(question.kind === 'approval' ? ruleFlagsOf(approvalRules(start.value?.definition, question.stepSlug)) : {}),
    ...given,
    ...omitUndefined({ answer, unreadable: start.unreadable ?? step?.unreadable ?? unreadable }),
  };
}

const ruleFlagsOf = ({ commentRequired, outsiders }: JsonObject): Pick<Question, 'commentRequired' | 'outsiders'> => ({
  ...(commentRequired === true ? { commentRequired } : {}),
  ...(outsiders === true ? { outsiders } : {}),
});

/**
 * Adds to a refusal of an answer who has answered, when and how, where the question was answered. `step` is the slug or
 * the path that the caller named; without it the last question that was answered.
 */
export async function withAnswer(access: Access, executionId: string, step: string | undefined, refusal: unknown) {
  if (!hasCode(refusal, 'already_decided', 'not_waiting', 'closed', 'no_such_step')) return refusal;
  try {
    const page = await readTrace(access, executionId, { limit: 10_000, ...omitUndefined({ step }) });
    const last = page.items.findLast((one) => questionKindOf(one) !== undefined && one.completedAt !== undefined);
    const question = last === undefined ? undefined : questionOfStep(last, last.path);
    const answer = question === undefined ? undefined : answerOfStep(question, last);
    if (answer === undefined || last === undefined) return refusal;
    const { votes: _votes, data: _data, ...answerDetails } = answer;
    const details = isObject(refusal.details) ? refusal.details : {};
    return new ClientError(refusal.code, refusal.message, {
      details: { ...details, answer: { path: last.path, ...answerDetails } },
      cause: refusal,
    });
  } catch {
    // The refusal stands without it.
    return refusal;
  }
}

async function stepAt(access: Access, executionId: string, path: string): Promise<Step | undefined> {
  const { items } = await readTrace(access, executionId, { step: path });
  return items.findLast((one) => one.path === path);
}

type FoldedState = Awaited<ReturnType<typeof readFoldedState>>;

const waitIn = (state: FoldedState, path: string): WaitingFor | undefined =>
  state === undefined ? undefined : waitAt(state, path);

const isQuestion = (wait: WaitingFor | undefined): wait is WaitingFor =>
  wait !== undefined && QUESTION_KINDS.some((kind) => kind === wait.kind);

/** The kind of question that the step asks. */
function questionKindOf({ stepType, decision }: Step): 'approval' | 'input' | undefined {
  if (decision !== undefined) return 'approval';
  const type = kindOf(stepType)?.type;
  if (type === 'approval') return 'approval';
  return type === 'user_input' ? 'input' : undefined;
}

/** A question that is open no longer, as its visit shows it. @throws ClientError `no_such_step`. */
function questionOfStep(step: Step | undefined, path: string): WaitingFor {
  const kind = step === undefined ? undefined : questionKindOf(step);
  if (step === undefined || kind === undefined)
    throw new ClientError('no_such_step', `The run has asked nobody anything at '${path}'.`);
  const message = step.decision?.message ?? (isObject(step.input) ? step.input['message'] : undefined);
  return {
    path,
    stepSlug: step.stepSlug,
    kind,
    since: step.startedAt,
    ...(typeof message === 'string' ? { message } : {}),
  };
}

/** The decision of an approval whose messages about it are still being sent. */
function pendingDecisionIn(state: FoldedState, path: string): GivenAnswer | undefined {
  const visit = Object.values(state?.frames ?? {}).find((frame) => frame.visit?.path === path)?.visit;
  const ending = visit?.answered === true && isObject(visit.state) ? visit.state['ending'] : undefined;
  const decisionData = ending !== undefined && isObject(ending) ? ending['data'] : undefined;
  return decisionData !== undefined && isObject(decisionData)
    ? decisionIn(decisionData, new Date(state?.now ?? 0).toISOString())
    : undefined;
}

/** The end of a question; one whose visit is open ended with its run. */
function answerOfQuestion(question: WaitingFor, step: Step | undefined, run: ExecutionView): GivenAnswer | undefined {
  const end = answerOfStep(question, step);
  if (end !== undefined || run.completedAt === undefined) return end;
  return { status: 'cancelled', at: run.completedAt };
}

function answerOfStep({ kind }: WaitingFor, step: Step | undefined): GivenAnswer | undefined {
  // The output of an agent's call is not the decision about it.
  if (step?.decision !== undefined && kindOf(step.stepType)?.type !== 'approval') return answerBy(step.decision);
  if (step?.completedAt === undefined) return undefined;
  const at = step.completedAt;
  const output = isObject(step.output) ? step.output : {};
  const { data = null, meta = {} } = output as { data?: Json; meta?: Json };
  const answerFields: JsonObject = kind === 'approval' ? (isObject(data) ? data : {}) : isObject(meta) ? meta : {};
  const decided = kind === 'approval' ? decisionIn(answerFields, at) : undefined;
  if (decided !== undefined) return decided;
  if (kind === 'input' && step.status === 'completed') {
    const { via, submittedBy } = answerFields;
    if (via === 'timeout') return { status: 'timeout', at, via, data };
    return { status: 'submitted', at, by: textOrDefault(null, submittedBy), via: textOrDefault('api', via), data };
  }
  return { status: step.status === 'cancelled' || step.status === 'skipped' ? 'cancelled' : 'failed', at };
}

export const answerBy = ({ status, at, by, via, comments }: MadeDecision): GivenAnswer => ({
  status,
  at,
  ...(via === 'timeout' ? {} : { by }),
  via,
  comments,
});

/** The decision in the output of an approval; undefined where it has none. */
function decisionIn(answerFields: JsonObject, at: string): GivenAnswer | undefined {
  const { decision, decidedBy, comments, submittedData, reviewedAt, votes, via } = answerFields;
  if (decision !== 'approved' && decision !== 'rejected' && decision !== 'timeout') return undefined;
  return {
    status: decision,
    at: textOrDefault(at, reviewedAt),
    ...(via === 'timeout' ? {} : { by: textOrDefault(null, decidedBy) }),
    via: textOrDefault('api', via),
    ...(comments === undefined ? {} : { comments: textOrDefault(null, comments) }),
    ...(submittedData === undefined || submittedData === null ? {} : { data: submittedData }),
    ...(Array.isArray(votes) && votes.length > 0 ? { votes } : {}),
  };
}

const textOrDefault = <Other>(other: Other, value: Json | undefined): string | Other =>
  typeof value === 'string' ? value : other;
