import { actionTool } from '../activities/agent/action-tools.ts';
import type { ActionTool } from '../activities/agent/agent-tools.ts';
import type { ModelReader } from '../activities/llm/open-model.ts';
import type { McpServerStore } from '../activities/mcp/servers.ts';
import type { RunMessenger } from '../activities/runs/message-run.ts';
import type { RunReader } from '../activities/runs/run-reader.ts';
import type { ApprovalUrl, CallbackUrl } from '../activities/runtime/wrap-activity.ts';
import { getServer, listServers, storedTools, storeTools } from '../src/client/organization/mcp-servers.ts';
import { resolveModel } from '../src/client/organization/models.ts';
import { approvalToken } from '../src/client/runs/approval-links.ts';
import { describeChildren } from '../src/client/runs/child-runs.ts';
import { sendMessage } from '../src/client/runs/run-actions.ts';
import { acceptedInput } from '../src/client/starts/accepted-input.ts';
import type { WriteAccess } from '../src/client/temporal/access.ts';
import { callbackToken } from '../src/client/triggers/callbacks.ts';
import { resolveWorkflow } from '../src/client/versions/resolve-workflow.ts';
import type { Config } from '../src/config/config.ts';
import { actionTypes } from '../src/steps/kinds/built-in-actions.ts';

/** Access of activities to definitions, runs, models and MCP servers, and the URLs of callbacks. */
export function runAccess(
  access: WriteAccess,
  config: Config,
): {
  readonly runs: RunReader;
  readonly models: ModelReader;
  readonly mcpServers: McpServerStore;
  readonly messenger: RunMessenger;
  readonly actionTools: readonly ActionTool[];
  readonly callbackUrl: CallbackUrl;
  readonly approvalUrl: ApprovalUrl;
} {
  const publicUrl = publicUrlOf(config);
  return {
    runs: {
      resolve: (org, wanted) => resolveWorkflow(access, org, wanted),
      accept: acceptedInput,
      describeChildren: (org, children) => describeChildren(access, org, children),
    },
    models: { resolve: (org, name) => resolveModel(access, org, name) },
    mcpServers: {
      read: (org, name) => getServer(access, org, name),
      list: (org) => listServers(access, org),
      cachedTools: (org, server) => storedTools(access, org, server),
      cacheTools: (org, server, list) => storeTools(access, org, server, list),
    },
    messenger: { send: (org, executionId, message) => sendMessage(access, org, executionId, message) },
    actionTools: builtInActionTools(),
    callbackUrl: (place) =>
      publicUrl === undefined ? undefined : `${publicUrl}/callbacks/${callbackToken(access.keys.callbacks, place)}`,
    approvalUrl: (question) =>
      publicUrl === undefined ? undefined : `${publicUrl}/approvals/${approvalToken(access.keys.approvals, question)}`,
  };
}

/** The built-in actions as tools of agents. */
export function builtInActionTools(): ActionTool[] {
  return actionTypes.map(({ type, summary, schema }) => actionTool(type, summary, schema()));
}

/** The gateway's URL. If its port was picked at its start, `start` passes SIGNALBOX_PUBLIC_URL to the worker. */
export function publicUrlOf({ publicUrl, host, port }: Config): string | undefined {
  if (publicUrl !== undefined) return publicUrl;
  const name = host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host;
  return port === 0 ? undefined : `http://${name}:${port}`;
}
