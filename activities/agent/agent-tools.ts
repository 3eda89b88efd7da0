/** The tools of an agent's model, under names that every provider accepts, and the target of a call of each. */
import type { CallTarget, OfferedTools, OfferedWorkflow } from '../../src/contract/run/agent.ts';
import { asJsonSchema } from '../../src/definition/payload/format-schema.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import type { OfferedTool } from '../llm/model-call.ts';
import type { McpConnections } from '../mcp/connections.ts';
import type { McpServerStore, ServedTool } from '../mcp/servers.ts';
import { hasToolName, servedTools } from '../mcp/tool.ts';
import { resolveDefinition } from '../runs/resolve-workflow.ts';
import type { RunReader } from '../runs/run-reader.ts';
import { ActivityError } from '../runtime/failure.ts';
import type { ActivityContext } from '../runtime/wrap-activity.ts';

/** An action as a tool. */
export interface ActionTool {
  readonly type: string;
  readonly description: string;
  /** JSON Schema of its parameters. */
  readonly inputSchema: JsonObject;
}

export interface ToolSources {
  readonly mcpServers: McpServerStore | undefined;
  readonly mcp: McpConnections;
  readonly runs: RunReader | undefined;
  readonly actions: readonly ActionTool[];
}

export interface AgentTool extends OfferedTool {
  readonly target: CallTarget;
}

const MAX_NAME_CHARACTERS = 64;
const MAX_DESCRIPTION_CHARACTERS = 1_024;
/** The providers' limit of tools per request. */
const MAX_TOOLS = 128;
const ANY_INPUT: JsonObject = { type: 'object', properties: {} };

/**
 * @throws ActivityError `unknown_tool`, `unknown_action`, `too_many_tools`, or an error of reading servers or
 * definitions
 */
export async function agentTools(
  offered: OfferedTools,
  sources: ToolSources,
  context: ActivityContext,
): Promise<AgentTool[]> {
  const { servers, workflows } = offered;
  // Names without a server may be actions of this host.
  const isAction = (name: string): boolean => sources.actions.some(({ type }) => type === name);
  const toolNames = offered.only?.filter((name) => !isAction(name));
  const only = toolNames?.length === 0 ? undefined : toolNames;
  const actions = new Set([...offered.actions, ...(offered.only ?? []).filter(isAction)]);
  // Without servers and tools in the config, no server is asked.
  const asksServers = servers === undefined ? only !== undefined : servers.length > 0;
  const [served, runs] = await Promise.all([
    asksServers ? servedTools(servers, only ?? [], sources.mcpServers, sources.mcp, context) : [],
    Promise.all(workflows.map((workflow) => workflowTool(workflow, sources.runs, context))),
  ]);
  const chosen = only === undefined ? served : selectTools(served, only);
  const tools = [...[...actions].map((type) => actionTool(type, sources.actions)), ...runs, ...chosen.map(servedTool)];
  if (tools.length > MAX_TOOLS)
    throw new ActivityError(
      'too_many_tools',
      `The agent has ${tools.length} tools; the limit is ${MAX_TOOLS}. Select some with 'tools'.`,
      { details: { tools: tools.length, limit: MAX_TOOLS } },
    );
  return withUniqueNames(tools);
}

function selectTools(served: readonly ServedTool[], only: readonly string[]): ServedTool[] {
  return only.flatMap((name) => {
    const found = served.filter((one) => hasToolName(one, name));
    if (found.length === 0) throw new ActivityError('unknown_tool', `No MCP server of the agent has a tool '${name}'.`);
    return found;
  });
}

function servedTool({ server, tool }: ServedTool): AgentTool {
  const description = tool.description ?? tool.title;
  return {
    name: tool.name,
    inputSchema: tool.inputSchema,
    target: { kind: 'tool', server: server.name, tool: tool.name },
    ...omitUndefined({ description }),
  };
}

function actionTool(type: string, actions: readonly ActionTool[]): AgentTool {
  const action = actions.find((one) => one.type === type);
  if (action === undefined)
    throw new ActivityError(
      'unknown_action',
      `This worker has no action '${type}'. Add it to SIGNALBOX_ACTIONS, or remove it from the step.`,
    );
  const { description, inputSchema } = action;
  return { name: type, description, inputSchema, target: { kind: 'action', type } };
}

async function workflowTool(
  { workflow, version, name, description }: OfferedWorkflow,
  reader: RunReader | undefined,
  context: ActivityContext,
): Promise<AgentTool> {
  const { definition } = await resolveDefinition(reader, context.input.execution.organizationId, {
    workflow,
    ...omitUndefined({ version }),
  });
  const toolDescription = description ?? definition.description ?? definition.name;
  return {
    name: name ?? workflow,
    inputSchema: definition.input === undefined ? ANY_INPUT : asJsonSchema(definition.input),
    target: { kind: 'workflow', workflow, ...omitUndefined({ version }) },
    description: toolDescription,
  };
}

/**
 * Makes names valid (at most 64 letters, digits, _ and -) and unique, by the server's name as a prefix or by a number.
 */
function withUniqueNames(tools: readonly AgentTool[]): AgentTool[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const { target, description } = tool;
    const plain = sanitizeName(tool.name);
    const candidates = [plain, ...(target.kind === 'tool' ? [sanitizeName(`${target.server}_${tool.name}`)] : [])];
    let name = candidates.find((one) => !taken.has(one));
    for (let n = 2; name === undefined; n++) {
      const numbered = `${plain.slice(0, MAX_NAME_CHARACTERS - 4)}_${n}`;
      if (!taken.has(numbered)) name = numbered;
    }
    taken.add(name);
    return {
      ...tool,
      name,
      ...(description === undefined ? {} : { description: description.slice(0, MAX_DESCRIPTION_CHARACTERS) }),
    };
  });
}

function sanitizeName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME_CHARACTERS);
}
