/** What is known of an organization's MCP tools when a document is checked that may use them. */

import type { CheckOptions } from '../check/check.ts';
import { knownTools } from '../client/mcp-servers.ts';
import type { Json } from '../template/types.ts';
import type { Gateway } from './context.ts';

/** Most documents use none, and need not wait for Temporal to be asked. */
const MENTIONED = /"(toolName|tool|mcpServerIds|mcp_server_ids)"/;

/** Undefined where it does not matter, or cannot be read now: what is not known is not checked. */
export async function toolsFor(
  { access }: Gateway,
  organizationId: string,
  ...documents: readonly Json[]
): Promise<Pick<CheckOptions, 'tools'>> {
  if (!documents.some((document) => MENTIONED.test(JSON.stringify(document)))) return {};
  try {
    return { tools: await knownTools(access, organizationId) };
  } catch {
    return {};
  }
}
