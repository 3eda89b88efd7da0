/** The step state of an agent between its turns. */

import type { Usage } from '../../../contract/organization/models.ts';
import type { AgentCall } from '../../../contract/run/agent.ts';
import type { AgentMessage } from '../../../contract/run/agent-message.ts';
import type { Json, JsonObject } from '../../../json/json.ts';
import type { ApprovalState } from '../approval/approval-state.ts';

/** A result in the form of the AI SDK. */
export type CallOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'json'; readonly value: Json };

export type OpenCall = AgentCall & {
  /** Its result, once it has ended. */
  readonly output?: CallOutput;
  /** The uncut data of the result. */
  readonly data?: Json;
};

export type AgentState = {
  /** The model's config, without messages: evaluated once. */
  readonly request: JsonObject;
  messages: Json[];
  /** Model calls begun, from 0. */
  turn: number;
  /** The calls of the current turn, in order. */
  calls: OpenCall[];
  /** By suffix of the call: the state of its approval, and the suffixes of its timers. */
  approvals: { [suffix: string]: { readonly state: ApprovalState; readonly timers: string[] } };
  /** Messages that the model has not read yet. */
  queue: AgentMessage[];
  /** Senders that wait for the answer. */
  replies: NonNullable<AgentMessage['reply']>[];
  /** Replies begun, and replies in flight. */
  replied: number;
  replying: number;
  toolCalls: number;
  /** Turns beyond maxSteps that retries of the run have granted. */
  granted?: number;
  usage?: Usage & { readonly model: string };
  /** The answer, while replies are in flight. */
  end?: { readonly data: Json };
};

export function agentState(request: JsonObject, messages: readonly Json[]): AgentState {
  return {
    request,
    messages: [...messages],
    turn: 0,
    calls: [],
    approvals: {},
    queue: [],
    replies: [],
    replied: 0,
    replying: 0,
    toolCalls: 0,
  };
}

/** Most model calls. */
export function maxTurns({ request, granted = 0 }: AgentState): number {
  return Number(request['maxSteps']) + granted;
}

export const modelSuffix = (turn: number): string => `/turn[${turn}]/model`;
export const callSuffix = (turn: number, call: number): string => `/turn[${turn}]/tool[${call}]`;
/** Part of the suffixes of an approval's timers. */
export const APPROVAL = '/approval';

const CALL = /^(\/turn\[(\d+)\]\/tool\[(\d+)\])(\/approval(.*))?$/s;

/**
 * The open call of this turn to which a suffix belongs. `timer` is the suffix of its approval's timer.
 */
export function callOf(
  state: AgentState,
  suffix: string,
): { readonly suffix: string; readonly index: number; readonly call: OpenCall; readonly timer: string } | undefined {
  const match = CALL.exec(suffix);
  if (match === null || Number(match[2]) !== state.turn) return undefined;
  const index = Number(match[3]);
  const call = state.calls[index];
  if (call === undefined || call.output !== undefined) return undefined;
  return { suffix: match[1]!, index, call, timer: match[5] ?? '' };
}
