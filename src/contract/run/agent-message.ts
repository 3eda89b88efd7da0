/**
 * A message to a running agent: a message of the run with this name. Every sender of messages to the run may send it.
 */
import { isObject, type Json } from '../../json/json.ts';

/** The name of the messages. */
export const AGENT_MESSAGE = 'agent_message';

export type AgentMessage = {
  readonly content: string;
  /** The agent interrupts its turn for the message. Default: it reads the message before its next turn. */
  readonly interrupt?: true;
  /** The slug or path of the agent's step; any agent of the run if absent. */
  readonly to?: string;
  /** The receiver of the agent's next answer, which it gets as a message of that name with `{reply}`. */
  readonly reply?: { readonly executionId: string; readonly name: string };
};

/** Reads the payload: text, or an object with `content`. Undefined for any other value. */
export function agentMessageIn(payload: Json): AgentMessage | undefined {
  if (typeof payload === 'string') return payload === '' ? undefined : { content: payload };
  if (!isObject(payload)) return undefined;
  const { content, interrupt, to, reply } = payload;
  if (typeof content !== 'string' || content === '') return undefined;
  const { executionId, name } = isObject(reply) ? reply : {};
  return {
    content,
    ...(interrupt === true ? { interrupt } : {}),
    ...(typeof to === 'string' && to !== '' ? { to } : {}),
    ...(typeof executionId === 'string' && typeof name === 'string' ? { reply: { executionId, name } } : {}),
  };
}
