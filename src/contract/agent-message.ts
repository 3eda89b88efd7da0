/**
 * A message to a running agent: a message of the run with this name. Every sender of messages to the run may send it.
 */
import { isObject, type Json } from '../json/json.ts';

/** The messages' name. */
export const AGENT_MESSAGE = 'agent_message';

export type AgentMessage = {
  readonly content: string;
  /** The agent interrupts its turn for the message. Default: it reads the message before its next turn. */
  readonly interrupt?: true;
  /** The slug or path of the agent's step; any agent of the run if absent. */
  readonly to?: string;
  /** Who is told the agent's next answer, as a message of that name with `{reply}`. */
  readonly reply?: { readonly executionId: string; readonly name: string };
};

/** The payload read: text, or an object with `content`. Undefined for anything else. */
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
