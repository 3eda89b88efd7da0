/**
 * The answer of an agent's model call: the contract between the activity `agentTurn` and the kind `agent`. JSON only.
 */
import { isPlainObject, type Json, type JsonObject } from '../../json/json.ts';

/** The tools that an agent offers its model, by its config. */
export interface OfferedTools {
  /** MCP servers by name; every one of the organization if absent. */
  readonly servers?: readonly string[];
  /** Only these tools of the servers, as `tool` or `server/tool`; all if absent. */
  readonly only?: readonly string[];
  /** Actions by type. */
  readonly actions: readonly string[];
  readonly workflows: readonly OfferedWorkflow[];
}

export interface OfferedWorkflow {
  readonly workflow: string;
  readonly version?: string;
  /** The description for the model; the definition's own if absent. */
  readonly name?: string;
  readonly description?: string;
}

/** The meaning of a model's call. */
export type CallTarget =
  | { readonly kind: 'tool'; readonly server: string; readonly tool: string }
  | { readonly kind: 'action'; readonly type: string }
  | { readonly kind: 'workflow'; readonly workflow: string; readonly version?: string };

export type AgentCall = {
  readonly id: string;
  /** The name that the model knows. */
  readonly name: string;
  readonly input: Json;
  /** Absent where the call is invalid. */
  readonly target?: CallTarget;
  /** Why the call cannot be made. */
  readonly invalid?: string;
};

/** `data` of the activity's result. Usage is in its meta. */
export interface AgentTurn {
  /** The answer in its format. Null while calls are pending. */
  readonly answer: Json;
  readonly text: string;
  readonly calls: readonly AgentCall[];
  /** The conversation so far, in the provider's form. The next turn sends it again. */
  readonly messages: readonly JsonObject[];
}

/** The value has the form of a turn: an activity that was completed by hand may return anything. */
export function isAgentTurn(value: unknown): value is AgentTurn {
  if (!isPlainObject(value)) return false;
  const { calls, messages } = value;
  return Array.isArray(calls) && calls.every(isCall) && Array.isArray(messages) && messages.every(isPlainObject);
}

const isCall = (call: unknown): boolean =>
  isPlainObject(call) && typeof call['id'] === 'string' && typeof call['name'] === 'string';

/** The names by which a config may refer to the call: the model's name for it, and its name at its origin. */
export function namesOfCall({ name, target }: AgentCall): string[] {
  switch (target?.kind) {
    case 'tool':
      return [name, target.tool, `${target.server}/${target.tool}`, `${target.server}/*`, '*'];
    case 'action':
      return [name, target.type, '*'];
    case 'workflow':
      return [name, target.workflow, '*'];
    default:
      return [name, '*'];
  }
}
