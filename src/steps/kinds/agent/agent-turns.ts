/**
 * The turns of an agent: model call, tool calls, model call, until there is an answer (agent.ts is its manual page).
 * Each turn has a number. An event of another turn is late, and ignored.
 */

import { addUsage, usageIn } from '../../../contract/organization/models.ts';
import { isAgentTurn } from '../../../contract/run/agent.ts';
import { type AgentMessage, agentMessageIn } from '../../../contract/run/agent-message.ts';
import { asJson, type Json } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import {
  type AskSpec,
  type ChildSpec,
  type EffectResult,
  type FailureShape,
  type OpenStepContext,
  type Outcome,
  type Resume,
  type RetryDecision,
  type RunSpec,
  type StepContext,
  StepFailure,
  type TimerSpec,
  type VisitFailure,
} from '../../kind.ts';
import { MODEL_HEARTBEAT_MS, MODEL_TIMEOUT_MS } from '../model-config.ts';
import type { CallApproval, CallApprovalStatus } from './agent-approval.ts';
import { beginCall, errorForModel, failureForModel, resultForModel } from './agent-calls.ts';
import {
  type AgentState,
  type CallOutput,
  callOf,
  callSuffix,
  maxTurns,
  modelSuffix,
  type OpenCall,
} from './agent-state.ts';

/** The limit of calls in one turn. The model gets an error for each further call. */
const MAX_CALLS = 64;
const REPLY = '/reply[';
const MAX_STEPS_CODE = 'agent_max_steps';

/** The parts of the config that apply between turns. */
export interface Rules {
  readonly approval: CallApproval | undefined;
  /** The calls whose results end the agent; undefined where it continues. */
  stops(visit: StepContext, state: AgentState, called: readonly OpenCall[]): readonly OpenCall[] | undefined;
}

type AgentOutcome = Outcome<AgentState>;
type Suspended = Extract<AgentOutcome, { do: 'suspend' }>;
type AgentContext = OpenStepContext<AgentState>;

export function resume(visit: AgentContext, event: Resume, rules: Rules): AgentOutcome {
  const { state } = visit;
  switch (event.on) {
    case 'message':
      return receiveAgentMessage(visit, state, event.payload);
    case 'decision':
    case 'fired':
      return applyDecision(visit, state, event, rules);
    case 'completed':
    case 'failed':
      if (event.suffix.startsWith(REPLY)) return replySent(state);
      if (event.suffix !== modelSuffix(state.turn)) return callEnded(visit, state, event, rules);
      if (event.on === 'failed') return { do: 'fail', error: event.error };
      return applyModelResult(visit, state, event.result, rules);
    default:
      return { do: 'ignore' };
  }
}

/** Begins a model call with all new messages. @throws StepFailure `agent_max_steps`. */
export function callModel(state: AgentState): Suspended {
  const { tools, maxSteps: _most, stopTools: _stop, ...request } = state.request;
  const turnLimit = maxTurns(state);
  if (state.turn >= turnLimit)
    throw new StepFailure(
      MAX_STEPS_CODE,
      `The agent has asked its model ${state.turn} times and has no answer. Raise maxSteps, or ask for less.`,
      { details: { maxSteps: turnLimit, toolCalls: state.toolCalls } },
    );
  for (const { content, reply } of state.queue) {
    state.messages = [...state.messages, { role: 'user', content }];
    if (reply !== undefined) state.replies.push(reply);
  }
  state.queue = [];
  state.calls = [];
  const value: Json = { ...request, tools: tools ?? null, messages: state.messages };
  const run: RunSpec = {
    activity: 'agentTurn',
    suffix: modelSuffix(state.turn),
    inner: 'llm',
    config: { value, secrets: [] },
    timeoutMs: MODEL_TIMEOUT_MS,
    heartbeatMs: MODEL_HEARTBEAT_MS,
  };
  return { do: 'suspend', state, run: [run] };
}

/** The model has returned calls, or the answer. */
function applyModelResult(visit: StepContext, state: AgentState, result: EffectResult, rules: Rules): AgentOutcome {
  const turn: unknown = result.data;
  if (!isAgentTurn(turn))
    throw new StepFailure(
      'invalid_result',
      "The model's call was completed by hand with something else than {answer, text, calls, messages}.",
    );
  const { answer, calls, messages } = turn;
  const usage = usageIn(result.meta);
  if (usage !== undefined) {
    const { key_type: _type, model, ...used } = usage;
    state.usage = { model, ...(state.usage === undefined ? used : addUsage(state.usage, used)) };
  }
  state.messages = [...state.messages, ...asJson(messages)];
  if (calls.length === 0) return withGrowth(conclude(state, answer), asJson(messages));
  state.calls = calls.map((call, i) =>
    i < MAX_CALLS ? call : { ...call, output: errorForModel('Too many calls at once.') },
  );
  state.toolCalls += state.calls.length;
  return withGrowth(beginCalls(visit, state, [...state.calls.keys()], rules), result.data);
}

/** Begins the turn's calls that have not ended, and asks for those that need approval. */
function beginCalls(
  visit: StepContext,
  state: AgentState,
  indices: readonly number[],
  rules: Rules,
  approved = false,
): AgentOutcome {
  const run: RunSpec[] = [];
  const children: ChildSpec[] = [];
  const timers: TimerSpec[] = [];
  const asks: { [suffix: string]: AskSpec | null } = {};
  for (const index of indices) {
    const call = state.calls[index]!;
    if (call.output !== undefined) continue;
    const suffix = callSuffix(state.turn, index);
    if (!approved && rules.approval?.wanted(call) === true) {
      const status = rules.approval.begin(visit, state, suffix, call);
      if (status.is === 'over') return status.outcome;
      if (status.is === 'open') {
        if (status.ask !== undefined) asks[suffix] = status.ask;
        timers.push(...status.timers);
        continue;
      }
    }
    const callStart = beginCall(visit, suffix, call);
    if ('run' in callStart) run.push(callStart.run);
    else if ('child' in callStart) children.push(callStart.child);
    else state.calls[index] = { ...call, output: callStart.output };
  }
  const open: Suspended = { do: 'suspend', state, run, children, timers, asks };
  return allEnded(state) ? endTurn(visit, state, open, rules) : open;
}

function callEnded(
  visit: StepContext,
  state: AgentState,
  event: Extract<Resume, { on: 'completed' | 'failed' }>,
  rules: Rules,
): AgentOutcome {
  const found = callOf(state, event.suffix);
  if (found === undefined) return { do: 'ignore' };
  const { index, call } = found;
  const output = event.on === 'completed' ? resultForModel(event.result.data) : failureForModel(event.error);
  state.calls[index] = { ...call, output, ...(event.on === 'completed' ? { data: event.result.data } : {}) };
  const open: Suspended = {
    do: 'suspend',
    state,
    grown: event.on === 'completed' ? event.result.data : output.value,
  };
  return allEnded(state) ? endTurn(visit, state, open, rules) : open;
}

/** A decision on a call, or a timer of its approval. */
function applyDecision(
  visit: StepContext,
  state: AgentState,
  event: Extract<Resume, { on: 'decision' | 'fired' }>,
  rules: Rules,
): AgentOutcome {
  const found = callOf(state, event.suffix ?? '');
  if (found === undefined || rules.approval === undefined) return { do: 'ignore' };
  const { suffix, index, call, timer } = found;
  const approvalEvent: Resume = event.on === 'fired' ? { on: 'fired', suffix: timer } : event;
  const status = rules.approval.resume(visit, state, suffix, call, approvalEvent);
  return applyApproval(visit, state, { suffix, index, call }, status, rules);
}

function applyApproval(
  visit: StepContext,
  state: AgentState,
  { suffix, index, call }: { readonly suffix: string; readonly index: number; readonly call: OpenCall },
  status: CallApprovalStatus,
  rules: Rules,
): AgentOutcome {
  switch (status.is) {
    case 'over':
      return status.outcome;
    case 'open':
      if (status.ask === undefined && status.timers.length === 0) return { do: 'ignore' };
      return {
        do: 'suspend',
        state,
        timers: status.timers,
        ...(status.ask === undefined ? {} : { asks: { [suffix]: status.ask } }),
      };
    case 'approved':
      return endApproval(state, suffix, () => beginCalls(visit, state, [index], rules, true));
    case 'denied': {
      state.calls[index] = { ...call, output: errorForModel(status.error.message) };
      const open: Suspended = { do: 'suspend', state };
      const continueTurn = (): AgentOutcome => (allEnded(state) ? endTurn(visit, state, open, rules) : open);
      return endApproval(state, suffix, continueTurn, status.error);
    }
  }
}

/** Cancels the open timers of a call's approval, and continues. `denied`: the call is not made. */
function endApproval(
  state: AgentState,
  suffix: string,
  continueTurn: () => AgentOutcome,
  denied: FailureShape | null = null,
): AgentOutcome {
  const timers = state.approvals[suffix]?.timers ?? [];
  delete state.approvals[suffix];
  const outcome = continueTurn();
  if (outcome.do !== 'suspend') return outcome;
  return { ...outcome, cancel: [...(outcome.cancel ?? []), ...timers], asks: { ...outcome.asks, [suffix]: denied } };
}

function allEnded(state: AgentState): boolean {
  return state.calls.every((call) => call.output !== undefined);
}

/** Reports the results of the turn's calls to the model. `missingOutput`: for calls without a result. */
function reportResults(state: AgentState, missingOutput: CallOutput | null): void {
  const content = state.calls.map(({ id, name, output }) => ({
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output: asJson(output ?? missingOutput),
  }));
  state.messages = [...state.messages, { role: 'tool', content }];
}

/** All calls of the turn have ended: passes their results to the model, unless they end the agent. */
function endTurn(visit: StepContext, state: AgentState, open: Suspended, rules: Rules): AgentOutcome {
  const called = state.calls;
  reportResults(state, null);
  const ending = rules.stops(visit, state, called);
  if (ending !== undefined) {
    const results = ending.map(({ data, output }) => data ?? output?.value ?? null);
    return merge(open, conclude(state, results.length === 1 ? results[0]! : results));
  }
  state.turn++;
  return merge(open, callModel(state));
}

/** Adds to the growth of the step state, which has a limit. */
function withGrowth(outcome: AgentOutcome, added: Json): AgentOutcome {
  return outcome.do === 'suspend' ? { ...outcome, grown: [outcome.grown ?? null, added] } : outcome;
}

function merge(open: Suspended, next: AgentOutcome): AgentOutcome {
  if (next.do !== 'suspend') return next;
  return { ...open, ...next, run: [...(open.run ?? []), ...(next.run ?? [])] };
}

/** The agent has its answer: replies are sent, messages that arrived meanwhile are handled, and then the step ends. */
function conclude(state: AgentState, answer: Json): AgentOutcome {
  const replies = state.replies.map(({ executionId, name }, i): RunSpec => {
    const value: Json = { executionId, name, payload: { reply: answer } };
    return { activity: 'messageRun', suffix: `${REPLY}${state.replied + i}]`, config: { value, secrets: [] } };
  });
  state.replied += replies.length;
  state.replying += replies.length;
  state.replies = [];
  if (state.queue.length > 0 && hasTurnsLeft(state)) {
    state.turn++;
    return merge({ do: 'suspend', state, run: replies }, callModel(state));
  }
  if (state.replying === 0) return end(state, answer);
  state.end = { data: answer };
  return { do: 'suspend', state, run: replies };
}

/** An agent that has its answer and no turn left ignores further messages. */
function hasTurnsLeft(state: AgentState): boolean {
  return state.turn + 1 < maxTurns(state);
}

/** A reply has ended. A failed one is ignored, since the agent cannot repair it. */
function replySent(state: AgentState): AgentOutcome {
  state.replying--;
  if (state.end !== undefined && state.replying === 0) return end(state, state.end.data);
  return { do: 'suspend', state };
}

function end({ turn: last, toolCalls, usage }: AgentState, data: Json): AgentOutcome {
  const { model, ...used } = usage ?? {};
  return {
    do: 'end',
    port: 'success',
    data,
    meta: {
      ...omitUndefined({ model }),
      turns: last + 1,
      toolCalls,
      ...(usage === undefined ? {} : { usage: { ...used } }),
    },
  };
}

/** A message for the agent has arrived. */
function receiveAgentMessage(visit: StepContext, state: AgentState, payload: Json): AgentOutcome {
  const message = agentMessageIn(payload);
  if (!isAddressedTo(visit, message) || (state.end !== undefined && !hasTurnsLeft(state))) return { do: 'ignore' };
  state.queue.push(message);
  const open: Suspended = { do: 'suspend', state };
  if (state.end !== undefined) {
    // The agent was about to end, and handles this message first.
    delete state.end;
    state.turn++;
    return merge(open, callModel(state));
  }
  return message.interrupt === true && hasTurnsLeft(state) ? interrupt(state, open) : open;
}

/** Cancels the model call, or the calls in flight, and tells the model so. */
function interrupt(state: AgentState, suspended: Suspended): AgentOutcome {
  if (state.calls.length === 0) {
    const cancel = [modelSuffix(state.turn)];
    state.turn++;
    return merge({ ...suspended, cancel }, callModel(state));
  }
  const open = state.calls.flatMap((call, i) => (call.output === undefined ? [callSuffix(state.turn, i)] : []));
  const asks = Object.fromEntries(Object.keys(state.approvals).map((suffix) => [suffix, null]));
  const cancel = open.flatMap((suffix) => [suffix, ...(state.approvals[suffix]?.timers ?? [])]);
  state.approvals = {};
  const interrupted = errorForModel('This call was left: somebody has interrupted.');
  reportResults(state, interrupted);
  state.turn++;
  return merge({ ...suspended, cancel, asks }, callModel(state));
}

/** A retry of the run repeats no completed call. An agent without turns left is granted the same number again. */
export function onRetry(state: AgentState, { code, suffix }: VisitFailure): RetryDecision {
  if (code === MAX_STEPS_CODE) {
    state.granted = (state.granted ?? 0) + Number(state.request['maxSteps']);
    return 'continue';
  }
  return suffix !== undefined && callOf(state, suffix) !== undefined ? 'refuse' : 'repeat';
}

/** Whether the message is valid and addressed to this agent. */
export function isAddressedTo(visit: StepContext, message: AgentMessage | undefined): message is AgentMessage {
  return message !== undefined && (message.to === undefined || [visit.slug, visit.path].includes(message.to));
}

/** The text of the model's last message. */
export function textOf({ messages }: AgentState): string {
  return messages
    .filter((message) => (message as { role?: Json })['role'] === 'assistant')
    .slice(-1)
    .flatMap((message) => {
      const { content } = message as { content?: Json };
      if (typeof content === 'string') return [content];
      return Array.isArray(content) ? content.map((part) => String((part as { text?: Json }).text ?? '')) : [];
    })
    .join('');
}

export function shownCall({ name, input, data, output }: OpenCall): Json {
  return { name, input, output: data ?? output?.value ?? null };
}
