/** Every activity that the worker offers, by the name under which workflows call it. A new one is a file here and a line. */
import { type HostActions, NO_ACTIONS } from '../src/actions/load.ts';
import type { Config } from '../src/config.ts';
import { dataLimitOf, valueLimitOf } from '../src/definition/document/limits.ts';
import { hostActionTools } from './action-tools.ts';
import type { ActionTool } from './agent-tools.ts';
import { agentTurnEffect } from './agent-turn.ts';
import { type BashParts, bashEffect } from './bash.ts';
import { describeChildrenEffect } from './describe-children.ts';
import { type Activity, effect } from './effect.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { hostActionEffect } from './host-action.ts';
import { hostOf, httpEffect } from './http.ts';
import { guardedAgent, type Reach } from './http-address.ts';
import { parseUrl } from './http-request.ts';
import { llmEffect } from './llm.ts';
import { McpConnections } from './mcp-connection.ts';
import type { McpServerStore } from './mcp-servers.ts';
import { messageRunEffect, type RunMessenger } from './message-run.ts';
import type { ModelReader } from './models.ts';
import { resolveWorkflowEffect } from './resolve-workflow.ts';
import { runCodeEffect } from './run-code.ts';
import type { CallbackUrl, RunReader } from './runs.ts';
import type { SecretReader } from './secrets.ts';
import type { InboxWriter } from './send-message/inbox.ts';
import { messageHostOf, sendMessageEffect } from './send-message.ts';
import { listToolsEffect, toolEffect, toolHostOf } from './tool.ts';

const DEFAULT_TEMPORAL_PORT = 7233;

export interface ActivityParts {
  /** What bash's sandbox hides, and its limits. */
  readonly bash?: BashParts;
  /** The host's own. */
  readonly actions?: HostActions;
  /** Reads the organizations' secrets. */
  readonly secrets?: SecretReader;
  /** Reads definitions and runs, for steps that start runs. */
  readonly runs?: RunReader;
  /** Keeps messages for people. */
  readonly inbox?: InboxWriter;
  /** Reads the organizations' models. */
  readonly models?: ModelReader;
  /** Reads the organizations' MCP servers, and keeps lists of their tools. */
  readonly mcpServers?: McpServerStore;
  /** Sends runs messages. */
  readonly messenger?: RunMessenger;
  /** The actions that every host offers, as agents are offered them. */
  readonly actionTools?: readonly ActionTool[];
  /** Makes the URLs of wait_callback steps. */
  readonly callbackUrl?: CallbackUrl;
}

export type Settings = Pick<
  Config,
  'bash' | 'bashFolders' | 'mail' | 'mcpStdioAllowed' | 'mcpCommands' | 'httpAllow' | 'ownPorts' | 'port' | 'temporal'
> &
  Partial<Pick<Config, 'blobs'>>;

/** Activities hold the connections of their agents: make them once for a process. */
export function createActivities(config: Settings, given: ActivityParts = {}): Record<string, Activity> {
  const resultBytes = valueLimitOf(dataLimitOf(config.blobs?.isOn === true));
  const parts = { ...given, resultBytes };
  const reach = reachOf(config);
  const agent = guardedAgent(reach);
  const http = httpEffect(agent, resultBytes);
  const fetch = guardedFetch(agent);
  const mcp = new McpConnections({ fetch, stdio: config.mcpStdioAllowed, commands: config.mcpCommands });
  return {
    /** The core's `yield`: gives way to other workflow tasks. */
    noop: async () => ({ data: null }),
    http: effect(http, { ...parts, hostOf }),
    llm: effect(llmEffect(parts.models, fetch), parts),
    tool: effect(toolEffect(parts.mcpServers, mcp), { ...parts, hostOf: toolHostOf(parts.mcpServers) }),
    listTools: effect(listToolsEffect(parts.mcpServers, mcp), parts),
    agentTurn: effect(
      agentTurnEffect(parts.models, fetch, {
        mcpServers: parts.mcpServers,
        mcp,
        runs: parts.runs,
        actions: [...(parts.actionTools ?? []), ...hostActionTools(parts.actions ?? NO_ACTIONS)],
      }),
      parts,
    ),
    messageRun: effect(messageRunEffect(parts.messenger), parts),
    hostAction: effect(hostActionEffect(parts.actions ?? NO_ACTIONS), parts),
    bash: effect(bashEffect(config, parts.bash), parts),
    runCode: effect(runCodeEffect(resultBytes), { resultBytes }),
    sendMessage: effect(sendMessageEffect(http, reach, config, parts.inbox), {
      ...parts,
      hostOf: messageHostOf(config),
    }),
    resolveWorkflow: effect(resolveWorkflowEffect(parts.runs)),
    describeChildren: effect(describeChildrenEffect(parts.runs)),
  };
}

/** What outgoing requests may reach: ARCHITECTURE.md §5, SIGNALBOX_HTTP_ALLOW. */
export function reachOf(config: Settings): Reach {
  const { address } = config.temporal;
  const temporal = address === undefined ? undefined : parseUrl(`tcp://${address.replace(/^\w+:\/\//, '')}`);
  return {
    allow: config.httpAllow,
    ownPorts: [config.port, ...config.ownPorts].filter((port) => port !== 0),
    own:
      temporal === undefined ? [] : [{ host: temporal.hostname, port: Number(temporal.port) || DEFAULT_TEMPORAL_PORT }],
  };
}
