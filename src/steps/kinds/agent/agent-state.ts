/** What an open agent remembers between its turns: plain JSON, carried with the run. */

import type { AgentCall } from '../../../contract/agent.ts';
import type { AgentMessage } from '../../../contract/agent-message.ts';
import type { Usage } from '../../../contract/models.ts';
import type { Json, JsonObject } from '../../../json/json.ts';
import type { ApprovalState } from '../approval/approval-state.ts';

/** A result as models are told it (the AI SDK's forms). */
export type CallOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'json'; readonly value: Json };

export type OpenCall = AgentCall & {
  /** What it gave, once it has ended. */
  readonly output?: CallOutput;
  /** The same for the run: the data itself, uncut. */
  readonly data?: Json;
};

export type AgentState = {
  /** The model's config, without messages: evaluated once. */
  readonly request: JsonObject;
  messages: Json[];
  /** Model calls begun, from 0. */
  turn: number;
  /** Of the turn: those that the model has made, in order. */
  calls: OpenCall[];
  /** By suffix of the call: what its approval holds, and the suffixes of its timers. */
  approvals: { [suffix: string]: { readonly hold: ApprovalState; readonly timers: string[] } };
  /** Said by others, and not yet told to the model. */
  queue: AgentMessage[];
  /** Who waits for the answer to what was told. */
  replies: NonNullable<AgentMessage['reply']>[];
  /** Replies begun, and those of them that are under way. */
  replied: number;
  replying: number;
  toolCalls: number;
  /** Turns beyond maxSteps that retries of the run have granted. */
  granted?: number;
  usage?: Usage & { readonly model: string };
  /** The end, while replies are under way. */
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
export function mostTurns({ request, granted = 0 }: AgentState): number {
  return Number(request['maxSteps']) + granted;
}

export const modelSuffix = (turn: number): string => `/turn[${turn}]/model`;
export const callSuffix = (turn: number, call: number): string => `/turn[${turn}]/tool[${call}]`;
/** Of the timers of a call's approval. */
export const APPROVAL = '/approval';

const CALL = /^(\/turn\[(\d+)\]\/tool\[(\d+)\])(\/approval(.*))?$/s;

/**
 * The call that a suffix is of, if it is one of this turn that has not ended; `timer` is the suffix of its approval's
 * timer.
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
