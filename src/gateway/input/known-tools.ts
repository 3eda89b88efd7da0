/** The known MCP tools of an organization, for checking documents that may use them. */

import type { CheckOptions } from '../../check/check.ts';
import { knownTools } from '../../client/organization/mcp-servers.ts';
import type { Json } from '../../json/json.ts';
import type { Gateway } from '../http/context.ts';

/** Matches documents that may use tools. Most documents do not, and need no call to Temporal. */
const MENTIONED = /"(toolName|tool|mcpServerIds|mcp_server_ids)"/;

/** The same for YAML. Words in comments match too, which only costs an unneeded lookup. */
const MENTIONED_ANYHOW = /tool|mcp_?server_?ids/i;

/** Like toolsFor, for a document that is not parsed yet. */
export async function toolsForText(
  gateway: Gateway,
  organizationId: string,
  bytes: Buffer,
): Promise<Pick<CheckOptions, 'tools'>> {
  // An escape may hide a word from this search but not from the parser.
  const text = bytes.toString('latin1');
  return MENTIONED_ANYHOW.test(text) || text.includes('\\') ? known(gateway, organizationId) : {};
}

/** Undefined if the document uses no tools, or if the tools cannot be read now. Unknown tools are not checked. */
export async function toolsFor(
  gateway: Gateway,
  organizationId: string,
  ...documents: readonly Json[]
): Promise<Pick<CheckOptions, 'tools'>> {
  return documents.some((document) => MENTIONED.test(JSON.stringify(document))) ? known(gateway, organizationId) : {};
}

async function known({ access }: Gateway, organizationId: string): Promise<Pick<CheckOptions, 'tools'>> {
  try {
    return { tools: await knownTools(access, organizationId) };
  } catch {
    return {};
  }
}
