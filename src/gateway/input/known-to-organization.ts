/** What the checker wants to know of an organization: its MCP tools, and the persons of its keys. */

import type { CheckOptions } from '../../check/check.ts';
import { readPeople } from '../../client/organization/api-keys.ts';
import { knownTools } from '../../client/organization/mcp-servers.ts';
import type { Access } from '../../client/temporal/access.ts';
import type { Json } from '../../json/json.ts';
import type { Gateway } from '../http/context.ts';

type Known = Pick<CheckOptions, 'tools' | 'people'>;

/**
 * Matches documents that may use tools, and documents whose approvals name persons. Most documents do neither, and
 * need no call to Temporal.
 */
const MENTIONED = { tools: /"(toolName|tool|mcpServerIds|mcp_server_ids)"/, people: /"(notify|approvers|escalateTo)"/ };

/** The same for YAML. Words in comments match too, which only costs an unneeded lookup. */
const MENTIONED_ANYHOW = { tools: /tool|mcp_?server_?ids/i, people: /notify|approvers|escalateTo/ };

/** Like knownFor, for a document that is not parsed yet. */
export async function knownForText(gateway: Gateway, organizationId: string, bytes: Buffer): Promise<Known> {
  const text = bytes.toString('latin1');
  const [tools, people] = [mentions(text, MENTIONED_ANYHOW.tools), mentions(text, MENTIONED_ANYHOW.people)];
  return known(gateway, organizationId, tools, people);
}

/** Members are absent if the documents do not need them, or if they cannot be read now. */
export async function knownFor(
  gateway: Gateway,
  organizationId: string,
  ...documents: readonly Json[]
): Promise<Known> {
  const texts = documents.filter((document) => typeof document === 'string');
  const objects = documents.filter((document) => typeof document !== 'string').map((one) => JSON.stringify(one));
  const mention = (what: keyof typeof MENTIONED): boolean =>
    objects.some((text) => MENTIONED[what].test(text)) || texts.some((text) => mentions(text, MENTIONED_ANYHOW[what]));
  return known(gateway, organizationId, mention('tools'), mention('people'));
}

/** An escape may hide a word from this search but not from the parser. */
const mentions = (text: string, words: RegExp): boolean => words.test(text) || text.includes('\\');

const peopleOf = async (access: Access, organizationId: string, hasOperator: boolean): Promise<Known> => {
  const { people } = await readPeople(access, organizationId, hasOperator);
  return { people };
};

async function known(
  { access, config }: Gateway,
  organizationId: string,
  withTools: boolean,
  withPeople: boolean,
): Promise<Known> {
  const orNothing = (read: Promise<Known>): Promise<Known> => read.catch(() => ({}));
  const [tools, people] = await Promise.all([
    withTools ? orNothing(knownTools(access, organizationId).then((found) => ({ tools: found }))) : {},
    withPeople ? orNothing(peopleOf(access, organizationId, config.adminKey !== undefined)) : {},
  ]);
  return { ...tools, ...people };
}
