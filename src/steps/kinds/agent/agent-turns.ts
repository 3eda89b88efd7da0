/**
 * The turns of an agent: model call, tool calls, model call, until there is an answer (agent.ts is its manual page).
 * Each turn has a number. An event of another turn is late, and ignored.
 */

import { isAgentTurn } from '../../../contract/agent.ts';
import { type AgentMessage, agentMessageIn } from '../../../contract/agent-message.ts';
import { addUsage, usageIn } from '../../../contract/models.ts';
import { defined } from '../../../json/defined.ts';
import { asJson, type Json } from '../../../json/json.ts';
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
import type { Asked, CallApproval } from './agent-approval.ts';
import { beginCall, failureToldOf, refused, toldOf } from './agent-calls.ts';
import {
  type AgentState,
  type CallOutput,
  callOf,
  callSuffix,
  modelSuffix,
  mostTurns,
  type OpenCall,
} from './agent-state.ts';

/** The limit of calls in one turn. The model is told that further calls were not made. */
const MOST_CALLS = 64;
const REPLY = '/reply[';
const MAX_STEPS = 'agent_max_steps';

/** The parts of the config that apply between turns. */
export interface Rules {
  readonly approval: CallApproval | undefined;
  /** The calls whose results end the agent; undefined where it goes on. */
  stops(visit: StepContext, state: AgentState, called: readonly OpenCall[]): readonly OpenCall[] | undefined;
}

type Next = Outcome<AgentState>;
type Suspended = Extract<Next, { do: 'suspend' }>;
type AgentContext = OpenStepContext<AgentState>;

export function resume(visit: AgentContext, event: Resume, rules: Rules): Next {
  const { state } = visit;
  switch (event.on) {
    case 'message':
      return hearMessage(visit, state, event.payload);
    case 'decision':
    case 'fired':
      return decided(visit, state, event, rules);
    case 'completed':
    case 'failed':
      if (event.suffix.startsWith(REPLY)) return replySent(state);
      if (event.suffix !== modelSuffix(state.turn)) return callEnded(visit, state, event, rules);
      if (event.on === 'failed') return { do: 'fail', error: event.error };
      return takeAnswer(visit, state, event.result, rules);
    default:
      return { do: 'ignore' };
  }
}

/** Begins a model call with all new messages. @throws StepFailure `agent_max_steps`. */
export function askModel(state: AgentState): Suspended {
  const { tools, maxSteps: _most, stopTools: _stop, ...request } = state.request;
  const most = mostTurns(state);
  if (state.turn >= most)
    throw new StepFailure(
      MAX_STEPS,
      `The agent has asked its model ${state.turn} times and has no answer. Raise maxSteps, or ask for less.`,
      { details: { maxSteps: most, toolCalls: state.toolCalls } },
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
function takeAnswer(visit: StepContext, state: AgentState, result: EffectResult, rules: Rules): Next {
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
    i < MOST_CALLS ? call : { ...call, output: refused('Too many calls at once.') },
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
): Next {
  const run: RunSpec[] = [];
  const children: ChildSpec[] = [];
  const timers: TimerSpec[] = [];
  const asks: { [suffix: string]: AskSpec | null } = {};
  for (const index of indices) {
    const call = state.calls[index]!;
    if (call.output !== undefined) continue;
    const suffix = callSuffix(state.turn, index);
    if (!approved && rules.approval?.wanted(call) === true) {
      const asked = rules.approval.begin(visit, state, suffix, call);
      if (asked.is === 'over') return asked.outcome;
      if (asked.is === 'open') {
        if (asked.ask !== undefined) asks[suffix] = asked.ask;
        timers.push(...asked.timers);
        continue;
      }
    }
    const begun = beginCall(visit, suffix, call);
    if ('run' in begun) run.push(begun.run);
    else if ('child' in begun) children.push(begun.child);
    else state.calls[index] = { ...call, output: begun.output };
  }
  const open: Suspended = { do: 'suspend', state, run, children, timers, asks };
  return allEnded(state) ? endTurn(visit, state, open, rules) : open;
}

function callEnded(
  visit: StepContext,
  state: AgentState,
  event: Extract<Resume, { on: 'completed' | 'failed' }>,
  rules: Rules,
): Next {
  const found = callOf(state, event.suffix);
  if (found === undefined) return { do: 'ignore' };
  const { index, call } = found;
  const output = event.on === 'completed' ? toldOf(event.result.data) : failureToldOf(event.error);
  state.calls[index] = { ...call, output, ...(event.on === 'completed' ? { data: event.result.data } : {}) };
  const open: Suspended = {
    do: 'suspend',
    state,
    grown: event.on === 'completed' ? event.result.data : output.value,
  };
  return allEnded(state) ? endTurn(visit, state, open, rules) : open;
}

/** A decision on a call, or a timer of its approval. */
function decided(
  visit: StepContext,
  state: AgentState,
  event: Extract<Resume, { on: 'decision' | 'fired' }>,
  rules: Rules,
): Next {
  const found = callOf(state, event.suffix ?? '');
  if (found === undefined || rules.approval === undefined) return { do: 'ignore' };
  const { suffix, index, call, timer } = found;
  const heard: Resume = event.on === 'fired' ? { on: 'fired', suffix: timer } : event;
  const asked = rules.approval.resume(visit, state, suffix, call, heard);
  return applyApproval(visit, state, { suffix, index, call }, asked, rules);
}

function applyApproval(
  visit: StepContext,
  state: AgentState,
  { suffix, index, call }: { readonly suffix: string; readonly index: number; readonly call: OpenCall },
  asked: Asked,
  rules: Rules,
): Next {
  switch (asked.is) {
    case 'over':
      return asked.outcome;
    case 'open':
      if (asked.ask === undefined && asked.timers.length === 0) return { do: 'ignore' };
      return {
        do: 'suspend',
        state,
        timers: asked.timers,
        ...(asked.ask === undefined ? {} : { asks: { [suffix]: asked.ask } }),
      };
    case 'approved':
      return endApproval(state, suffix, () => beginCalls(visit, state, [index], rules, true));
    case 'denied': {
      state.calls[index] = { ...call, output: refused(asked.error.message) };
      const open: Suspended = { do: 'suspend', state };
      const goOn = (): Next => (allEnded(state) ? endTurn(visit, state, open, rules) : open);
      return endApproval(state, suffix, goOn, asked.error);
    }
  }
}

/** Cancels the open timers of a call's approval, and goes on. `denied`: the call is not made. */
function endApproval(state: AgentState, suffix: string, goOn: () => Next, denied: FailureShape | null = null): Next {
  const timers = state.approvals[suffix]?.timers ?? [];
  delete state.approvals[suffix];
  const outcome = goOn();
  if (outcome.do !== 'suspend') return outcome;
  return { ...outcome, cancel: [...(outcome.cancel ?? []), ...timers], asks: { ...outcome.asks, [suffix]: denied } };
}

function allEnded(state: AgentState): boolean {
  return state.calls.every((call) => call.output !== undefined);
}

/** Tells the model how the calls of the turn ended. `without`: of those that have no result. */
function tellResults(state: AgentState, without: CallOutput | null): void {
  const content = state.calls.map(({ id, name, output }) => ({
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output: asJson(output ?? without),
  }));
  state.messages = [...state.messages, { role: 'tool', content }];
}

/** All calls of the turn have ended: passes their results to the model, unless they end the agent. */
function endTurn(visit: StepContext, state: AgentState, open: Suspended, rules: Rules): Next {
  const called = state.calls;
  tellResults(state, null);
  const ending = rules.stops(visit, state, called);
  if (ending !== undefined) {
    const results = ending.map(({ data, output }) => data ?? output?.value ?? null);
    return merge(open, conclude(state, results.length === 1 ? results[0]! : results));
  }
  state.turn++;
  return merge(open, askModel(state));
}

/** Adds to the growth of the step state, which has a limit. */
function withGrowth(outcome: Next, added: Json): Next {
  return outcome.do === 'suspend' ? { ...outcome, grown: [outcome.grown ?? null, added] } : outcome;
}

function merge(open: Suspended, next: Next): Next {
  if (next.do !== 'suspend') return next;
  return { ...open, ...next, run: [...(open.run ?? []), ...(next.run ?? [])] };
}

/** The agent has its answer: replies are sent, messages that arrived meanwhile are handled, and then the step ends. */
function conclude(state: AgentState, answer: Json): Next {
  const replies = state.replies.map(({ executionId, name }, i): RunSpec => {
    const value: Json = { executionId, name, payload: { reply: answer } };
    return { activity: 'messageRun', suffix: `${REPLY}${state.replied + i}]`, config: { value, secrets: [] } };
  });
  state.replied += replies.length;
  state.replying += replies.length;
  state.replies = [];
  if (state.queue.length > 0 && mayAskAgain(state)) {
    state.turn++;
    return merge({ do: 'suspend', state, run: replies }, askModel(state));
  }
  if (state.replying === 0) return end(state, answer);
  state.end = { data: answer };
  return { do: 'suspend', state, run: replies };
}

/** An agent that has its answer and no turn left ignores further messages. */
function mayAskAgain(state: AgentState): boolean {
  return state.turn + 1 < mostTurns(state);
}

/** A reply has ended. A failed one is ignored, since the agent cannot repair it. */
function replySent(state: AgentState): Next {
  state.replying--;
  if (state.end !== undefined && state.replying === 0) return end(state, state.end.data);
  return { do: 'suspend', state };
}

function end({ turn: last, toolCalls, usage }: AgentState, data: Json): Next {
  const { model, ...used } = usage ?? {};
  return {
    do: 'end',
    port: 'success',
    data,
    meta: {
      ...defined({ model }),
      turns: last + 1,
      toolCalls,
      ...(usage === undefined ? {} : { usage: { ...used } }),
    },
  };
}

/** A message for the agent has arrived. */
function hearMessage(visit: StepContext, state: AgentState, payload: Json): Next {
  const message = agentMessageIn(payload);
  if (!isFor(visit, message) || (state.end !== undefined && !mayAskAgain(state))) return { do: 'ignore' };
  state.queue.push(message);
  const open: Suspended = { do: 'suspend', state };
  if (state.end !== undefined) {
    // The agent was about to end, and handles this message first.
    delete state.end;
    state.turn++;
    return merge(open, askModel(state));
  }
  return message.interrupt === true && mayAskAgain(state) ? interrupt(state, open) : open;
}

/** Cancels the model call, or the calls in flight, and tells the model so. */
function interrupt(state: AgentState, suspended: Suspended): Next {
  if (state.calls.length === 0) {
    const cancel = [modelSuffix(state.turn)];
    state.turn++;
    return merge({ ...suspended, cancel }, askModel(state));
  }
  const open = state.calls.flatMap((call, i) => (call.output === undefined ? [callSuffix(state.turn, i)] : []));
  const asks = Object.fromEntries(Object.keys(state.approvals).map((suffix) => [suffix, null]));
  const cancel = open.flatMap((suffix) => [suffix, ...(state.approvals[suffix]?.timers ?? [])]);
  state.approvals = {};
  const left = refused('This call was left: somebody has interrupted.');
  tellResults(state, left);
  state.turn++;
  return merge({ ...suspended, cancel, asks }, askModel(state));
}

/** A retry of the run repeats no completed call. An agent without turns left is granted the same number again. */
export function onRetry(state: AgentState, { code, suffix }: VisitFailure): RetryDecision {
  if (code === MAX_STEPS) {
    state.granted = (state.granted ?? 0) + Number(state.request['maxSteps']);
    return 'continue';
  }
  return suffix !== undefined && callOf(state, suffix) !== undefined ? 'refuse' : 'repeat';
}

/** Whether the message is valid and addressed to this agent. */
export function isFor(visit: StepContext, message: AgentMessage | undefined): message is AgentMessage {
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
