/** How activities read an organization's MCP servers and the cached lists of their tools. */
import type { McpServerEntry, McpTool, McpToolList } from '../../src/contract/organization/mcp.ts';
import { parseTemplate, render } from '../../src/template/template.ts';
import { callService, type WorkerService } from '../runtime/failure.ts';
import type { ActivityContext } from '../runtime/wrap-activity.ts';

export type McpServer = McpServerEntry & { readonly name: string };

/** Throws errors with a `code`: `mcp_server_not_found`. */
export interface McpServerStore {
  read(organizationId: string, name: string): Promise<McpServer>;
  list(organizationId: string): Promise<readonly McpServer[]>;
  /** The cached tools of this version of the entry, however old. */
  cachedTools(organizationId: string, server: McpServer): Promise<McpToolList | undefined>;
  cacheTools(organizationId: string, server: string, list: McpToolList): Promise<void>;
}

const MCP_SERVICE: WorkerService = {
  code: 'mcp_servers_unavailable',
  lacking: 'cannot read MCP servers',
  failed: 'The MCP servers could not be read.',
  final: ['mcp_server_not_found'],
};
const EMPTY_SCOPE = { root: () => undefined };

/** A tool and its server. */
export interface ServedTool {
  readonly server: McpServer;
  readonly tool: McpTool;
}

/** @throws ActivityError `mcp_server_not_found`, `mcp_servers_unavailable`. */
export function callStore<T>(
  store: McpServerStore | undefined,
  act: (store: McpServerStore) => Promise<T>,
): Promise<T> {
  return callService(store, MCP_SERVICE, act);
}

/** The server's headers with their secrets, which are scrubbed from then on. @throws ActivityError */
export async function headersOf(server: McpServer, context: ActivityContext): Promise<{ [name: string]: string }> {
  const headers: { [name: string]: string } = {};
  const host = server.url === undefined ? '' : new URL(server.url).host;
  for (const [name, written] of Object.entries(server.headers ?? {})) {
    const { value, secrets } = render(parseTemplate(written, { secrets: true, callbacks: false }), EMPTY_SCOPE, {
      now: 0,
    });
    let text = '';
    for (const part of secrets[0]?.parts ?? [String(value)])
      text += typeof part === 'string' || !('secret' in part) ? String(part) : await context.secret(part.secret, host);
    headers[name] = text;
  }
  return headers;
}
