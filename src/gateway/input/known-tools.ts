/** What is known of an organization's MCP tools when a document is checked that may use them. */

import type { CheckOptions } from '../../check/check.ts';
import { knownTools } from '../../client/organization/mcp-servers.ts';
import type { Json } from '../../json/json.ts';
import type { Gateway } from '../http/context.ts';

/** Most documents use none, and need not wait for Temporal to be asked. */
const MENTIONED = /"(toolName|tool|mcpServerIds|mcp_server_ids)"/;

/** As it may stand in YAML too, in which the words of comments count: to know too much does no harm. */
const MENTIONED_ANYHOW = /tool|mcp_?server_?ids/i;

/** As toolsFor, of a document that was not read yet. */
export async function toolsForText(
  gateway: Gateway,
  organizationId: string,
  bytes: Buffer,
): Promise<Pick<CheckOptions, 'tools'>> {
  // Escapes may hide a word from the eye, and not from the parser.
  const text = bytes.toString('latin1');
  return MENTIONED_ANYHOW.test(text) || text.includes('\\') ? known(gateway, organizationId) : {};
}

/** Undefined where it does not matter, or cannot be read now: what is not known is not checked. */
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
