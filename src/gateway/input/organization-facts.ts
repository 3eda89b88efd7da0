/** The facts about an organization that the checker uses: its MCP tools, and the persons of its keys. */

import type { CheckOptions } from '../../check/check.ts';
import { readPeople } from '../../client/organization/api-keys.ts';
import { knownTools } from '../../client/organization/mcp-servers.ts';
import type { Access } from '../../client/temporal/access.ts';
import type { Json } from '../../json/json.ts';
import type { Gateway } from '../http/context.ts';

type OrganizationFacts = Pick<CheckOptions, 'tools' | 'people'>;

/**
 * Matches documents that may use tools, and documents whose approvals name persons. Most documents do neither, and
 * need no call to Temporal.
 */
const JSON_MENTIONS = {
  tools: /"(toolName|tool|mcpServerIds|mcp_server_ids)"/,
  people: /"(notify|approvers|escalateTo)"/,
};

/** The same for YAML. Words in comments match too, which only costs an unneeded lookup. */
const TEXT_MENTIONS = { tools: /tool|mcp_?server_?ids/i, people: /notify|approvers|escalateTo/ };

/** Like factsForDocuments, for a document that is not parsed yet. */
export async function factsForText(
  gateway: Gateway,
  organizationId: string,
  bytes: Buffer,
): Promise<OrganizationFacts> {
  const text = bytes.toString('latin1');
  const [tools, people] = [mentions(text, TEXT_MENTIONS.tools), mentions(text, TEXT_MENTIONS.people)];
  return readFacts(gateway, organizationId, tools, people);
}

/** Members are absent if the documents do not need them, or if they cannot be read now. */
export async function factsForDocuments(
  gateway: Gateway,
  organizationId: string,
  ...documents: readonly Json[]
): Promise<OrganizationFacts> {
  const texts = documents.filter((document) => typeof document === 'string');
  const objects = documents.filter((document) => typeof document !== 'string').map((one) => JSON.stringify(one));
  const mention = (what: keyof typeof JSON_MENTIONS): boolean =>
    objects.some((text) => JSON_MENTIONS[what].test(text)) || texts.some((text) => mentions(text, TEXT_MENTIONS[what]));
  return readFacts(gateway, organizationId, mention('tools'), mention('people'));
}

/** An escape may hide a word from this search but not from the parser. */
const mentions = (text: string, words: RegExp): boolean => words.test(text) || text.includes('\\');

const peopleOf = async (access: Access, organizationId: string, hasOperator: boolean): Promise<OrganizationFacts> => {
  const { people } = await readPeople(access, organizationId, hasOperator);
  return { people };
};

async function readFacts(
  { access, config }: Gateway,
  organizationId: string,
  withTools: boolean,
  withPeople: boolean,
): Promise<OrganizationFacts> {
  const orNothing = (read: Promise<OrganizationFacts>): Promise<OrganizationFacts> => read.catch(() => ({}));
  const [tools, people] = await Promise.all([
    withTools ? orNothing(knownTools(access, organizationId).then((found) => ({ tools: found }))) : {},
    withPeople ? orNothing(peopleOf(access, organizationId, config.adminKey !== undefined)) : {},
  ]);
  return { ...tools, ...people };
}
