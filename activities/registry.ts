/** The activities of steps, by the names that workflows call. A new one is a file in a folder here and a line below. */
import { type HostActions, NO_ACTIONS } from '../src/actions/load.ts';
import type { Config } from '../src/config/config.ts';
import { dataLimitOf, valueLimitOf } from '../src/definition/document/limits.ts';
import { omitUndefined } from '../src/json/omit-undefined.ts';
import { hostActionTools } from './agent/action-tools.ts';
import type { ActionTool } from './agent/agent-tools.ts';
import { agentTurnActivity } from './agent/agent-turn.ts';
import { type BashOptions, bashActivity } from './bash/bash.ts';
import { hostActionActivity } from './host-action.ts';
import { type EgressPolicy, guardedAgent } from './http/guarded-agent.ts';
import { guardedFetch } from './http/guarded-fetch.ts';
import { hostOf, httpActivity } from './http/http.ts';
import { parseUrl } from './http/request.ts';
import { llmActivity } from './llm/llm.ts';
import type { ModelReader } from './llm/open-model.ts';
import { McpConnections } from './mcp/connections.ts';
import type { McpServerStore } from './mcp/servers.ts';
import { listToolsActivity, toolActivity, toolHostOf } from './mcp/tool.ts';
import { runCodeActivity } from './run-code/run-code.ts';
import { describeChildrenActivity } from './runs/describe-children.ts';
import { messageRunActivity, type RunMessenger } from './runs/message-run.ts';
import { resolveWorkflowActivity } from './runs/resolve-workflow.ts';
import type { RunReader } from './runs/run-reader.ts';
import type { SecretReader } from './runtime/read-secrets.ts';
import type { ResultStore } from './runtime/store-result.ts';
import { type Activity, type ApprovalUrl, type CallbackUrl, wrapActivity } from './runtime/wrap-activity.ts';
import type { EffectObserver } from './segment/attempt.ts';
import { segmentActivity } from './segment/segment.ts';
import type { InboxWriter } from './send-message/inbox.ts';
import { messageHostOf, sendMessageActivity } from './send-message/send-message.ts';

const DEFAULT_TEMPORAL_PORT = 7233;

export interface ActivityDependencies {
  /** The folders that bash's sandbox hides, and its limits. */
  readonly bash?: BashOptions;
  /** The host's own actions. */
  readonly actions?: HostActions;
  /** Reads the organizations' secrets. */
  readonly secrets?: SecretReader;
  /** Reads definitions and runs for steps that start runs. */
  readonly runs?: RunReader;
  /** Stores messages for people. */
  readonly inbox?: InboxWriter;
  /** Reads the organizations' models. */
  readonly models?: ModelReader;
  /** Reads the organizations' MCP servers and caches lists of their tools. */
  readonly mcpServers?: McpServerStore;
  /** Sends messages to runs. */
  readonly messenger?: RunMessenger;
  /** The built-in actions, as tools of agents. */
  readonly actionTools?: readonly ActionTool[];
  /** Stores large results. */
  readonly results?: ResultStore;
  /** Observes the effects of segments. */
  readonly observeEffect?: EffectObserver;
  /** Creates the URLs of wait_callback steps. */
  readonly callbackUrl?: CallbackUrl;
  /** Creates the links by which people decide approvals. */
  readonly approvalUrl?: ApprovalUrl;
}

export type ActivitySettings = Pick<
  Config,
  'bash' | 'bashFolders' | 'mail' | 'mcpStdioAllowed' | 'mcpCommands' | 'httpAllow' | 'ownPorts' | 'port' | 'temporal'
> &
  Partial<Pick<Config, 'blobs'>>;

/** Creates the activities. They share connections: call this once per process. */
export function createActivities(config: ActivitySettings, given: ActivityDependencies = {}): Record<string, Activity> {
  const resultBytes = valueLimitOf(dataLimitOf(config.blobs?.isOn === true));
  const parts = { ...given, resultBytes };
  const results = omitUndefined({ results: given.results });
  const policy = egressPolicyOf(config);
  const agent = guardedAgent(policy);
  const http = httpActivity(agent, resultBytes);
  const fetch = guardedFetch(agent);
  const mcp = new McpConnections({ fetch, stdio: config.mcpStdioAllowed, commands: config.mcpCommands });
  const table: Record<string, Activity> = {
    /** The core's `yield`: lets other workflow tasks run. */
    noop: async () => ({ data: null }),
    http: wrapActivity(http, { ...parts, hostOf }),
    llm: wrapActivity(llmActivity(parts.models, fetch), parts),
    tool: wrapActivity(toolActivity(parts.mcpServers, mcp), { ...parts, hostOf: toolHostOf(parts.mcpServers) }),
    listTools: wrapActivity(listToolsActivity(parts.mcpServers, mcp), parts),
    agentTurn: wrapActivity(
      agentTurnActivity(parts.models, fetch, {
        mcpServers: parts.mcpServers,
        mcp,
        runs: parts.runs,
        actions: [...(parts.actionTools ?? []), ...hostActionTools(parts.actions ?? NO_ACTIONS)],
      }),
      parts,
    ),
    messageRun: wrapActivity(messageRunActivity(parts.messenger), parts),
    hostAction: wrapActivity(hostActionActivity(parts.actions ?? NO_ACTIONS), parts),
    bash: wrapActivity(bashActivity(config, parts.bash), parts),
    runCode: wrapActivity(runCodeActivity(resultBytes), { resultBytes, ...results }),
    sendMessage: wrapActivity(sendMessageActivity(http, policy, config, parts.inbox), {
      ...parts,
      hostOf: messageHostOf(config),
    }),
    resolveWorkflow: wrapActivity(resolveWorkflowActivity(parts.runs, parts.actions ?? NO_ACTIONS), results),
    describeChildren: wrapActivity(describeChildrenActivity(parts.runs), results),
  };
  return { ...table, segment: segmentActivity(table, given) };
}

/** Where outgoing requests may go (SIGNALBOX_HTTP_ALLOW). */
export function egressPolicyOf(config: ActivitySettings): EgressPolicy {
  const { address } = config.temporal;
  const temporal = address === undefined ? undefined : parseUrl(`tcp://${address.replace(/^\w+:\/\//, '')}`);
  return {
    allow: config.httpAllow,
    ownPorts: [config.port, ...config.ownPorts].filter((port) => port !== 0),
    own:
      temporal === undefined ? [] : [{ host: temporal.hostname, port: Number(temporal.port) || DEFAULT_TEMPORAL_PORT }],
  };
}
