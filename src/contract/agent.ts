/**
 * The answer of an agent's model call: the contract between the activity `agentTurn` and the kind `agent`. JSON only.
 */
import type { Json, JsonObject } from '../json/json.ts';

/** Which tools an agent offers its model, as its config says. */
export interface OfferedTools {
  /** MCP servers by name; every one of the organization if absent. */
  readonly servers?: readonly string[];
  /** Of their tools only these, as `tool` or `server/tool`; all if absent. */
  readonly only?: readonly string[];
  /** Actions by type. */
  readonly actions: readonly string[];
  readonly workflows: readonly OfferedWorkflow[];
}

export interface OfferedWorkflow {
  readonly workflow: string;
  readonly version?: string;
  /** What the model is told; the definition's own if absent. */
  readonly name?: string;
  readonly description?: string;
}

/** What a call of the model means. */
export type CallTarget =
  | { readonly kind: 'tool'; readonly server: string; readonly tool: string }
  | { readonly kind: 'action'; readonly type: string }
  | { readonly kind: 'workflow'; readonly workflow: string; readonly version?: string };

export type AgentCall = {
  readonly id: string;
  /** As the model was told it. */
  readonly name: string;
  readonly input: Json;
  /** Absent where the call is invalid. */
  readonly target?: CallTarget;
  /** Why it cannot be made. */
  readonly invalid?: string;
};

/** `data` of the activity's result. Usage is in its meta. */
export interface AgentTurn {
  /** The answer in its form; null while there are calls. */
  readonly answer: Json;
  readonly text: string;
  readonly calls: readonly AgentCall[];
  /** The conversation so far, in the provider's form. The next turn sends it again. */
  readonly messages: readonly JsonObject[];
}

/** The names under which a config may mean the call: as the model says it, and as it is called where it comes from. */
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
