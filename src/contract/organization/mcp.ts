/**
 * The MCP servers of an organization and their tools: the contract between their store, the activities and the checker.
 */
import type { JsonObject } from '../../json/json.ts';
import { DEFAULT_ORGANIZATION } from './organization.ts';

/** A stored MCP server: an address, or a command where the host allows it. */
export interface McpServerEntry {
  /** Streamable HTTP. */
  readonly url?: string;
  /** Values may contain `{{ secrets.NAME }}`, with names of the organization's store. */
  readonly headers?: { readonly [name: string]: string };
  readonly command?: string;
  readonly args?: readonly string[];
  /** ISO 8601. */
  readonly updatedAt: string;
}

/**
 * Whether an MCP server of the organization may run this program. The operators' organization may run any program.
 * Other organizations may run the programs of the host's list, compared argument by argument. A last part `*` of an
 * entry allows any further arguments.
 */
export function mayStartProgram(
  organizationId: string,
  { command, args = [] }: Pick<McpServerEntry, 'command' | 'args'>,
  listed: readonly (readonly string[])[],
): boolean {
  if (organizationId === DEFAULT_ORGANIZATION) return true;
  const given = [command, ...args];
  return listed.some((entry) => {
    const isOpen = entry.at(-1) === '*';
    const fixed = isOpen ? entry.slice(0, -1) : entry;
    const fits = isOpen ? given.length >= fixed.length : given.length === fixed.length;
    return fixed.length > 0 && fits && fixed.every((part, at) => part === given[at]);
  });
}

/** A tool as its server lists it. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** JSON Schema. */
  readonly inputSchema: JsonObject;
}

/** The tools of a server, as a worker last listed them. */
export interface McpToolList {
  readonly tools: readonly McpTool[];
  /** ISO 8601. */
  readonly listedAt: string;
  /** The time of the server's entry at the listing. A list of another entry is invalid. */
  readonly of: string;
}

/** The workflow that lists a server's tools through an activity, because the gateway connects to no server. */
export const MCP_TOOLS_WORKFLOW = 'mcpTools';

export interface McpToolsInput {
  readonly organizationId: string;
  readonly server: string;
}

/** How long a list of tools is fresh. */
export const TOOLS_FRESH_MS = 600_000;
/** More tools than a model can distinguish. Further tools are omitted. */
export const MAX_TOOLS = 500;
/** The limit of one server's list, which leaves room for the organization's other entries. */
export const TOOL_LIST_BYTES = 200_000;
