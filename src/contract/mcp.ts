/** The MCP servers of an organization and the tools that they offer: the contract between their store, the activities and the checker. */
import type { JsonObject } from '../json/json.ts';

/** What is stored under a server's name: an address, or a command where the host allows it. */
export interface McpServerEntry {
  /** Streamable HTTP. */
  readonly url?: string;
  /** Values may hold `{{ secrets.NAME }}`, by the names of the organization's store. */
  readonly headers?: { readonly [name: string]: string };
  readonly command?: string;
  readonly args?: readonly string[];
  /** ISO 8601. */
  readonly updatedAt: string;
}

/**
 * Whether an organization's MCP server may be this program: any, of the organization that the host's own people have; else
 * one of the host's list, argument by argument. A last part `*` of an entry stands for any further arguments.
 */
export function mayStartProgram(
  organizationId: string,
  { command, args = [] }: Pick<McpServerEntry, 'command' | 'args'>,
  listed: readonly (readonly string[])[],
): boolean {
  if (organizationId === HOST_ORGANIZATION) return true;
  const given = [command, ...args];
  return listed.some((entry) => {
    const isOpen = entry.at(-1) === '*';
    const fixed = isOpen ? entry.slice(0, -1) : entry;
    const fits = isOpen ? given.length >= fixed.length : given.length === fixed.length;
    return fixed.length > 0 && fits && fixed.every((part, at) => part === given[at]);
  });
}

/** The organization of those who run this host. */
const HOST_ORGANIZATION = 'default';

/** A tool as its server lists it. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** JSON Schema. */
  readonly inputSchema: JsonObject;
}

/** The tools of a server as they were found last. */
export interface McpToolList {
  readonly tools: readonly McpTool[];
  /** ISO 8601. */
  readonly listedAt: string;
  /** When the server's entry was written that they were listed with: those of another entry count no more. */
  readonly of: string;
}

/** The workflow that lists a server's tools: an activity for the gateway, which itself connects to nobody. */
export const MCP_TOOLS_WORKFLOW = 'mcpTools';

export interface McpToolsInput {
  readonly organizationId: string;
  readonly server: string;
}

/** For so long a list of tools counts as fresh. */
export const TOOLS_FRESH_MS = 600_000;
/** More than a model can tell apart; what a server lists beyond is left out. */
export const MOST_TOOLS = 500;
/** What is kept of one server's tools, so that the organization's other entries have room. */
export const TOOL_LIST_BYTES = 200_000;
