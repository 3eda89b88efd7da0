/** `/api/mcp-servers`: the MCP servers of an organization. Headers name secrets, which workers resolve. */
import { z } from 'zod';
import {
  deleteServer,
  getServer,
  listServers,
  type McpServerSettings,
  putServer,
  readTools,
} from '../../../client/organization/mcp-servers.ts';
import { missingSecrets } from '../../../client/organization/secrets.ts';
import type { Config } from '../../../config/config.ts';
import { mayStartProgram } from '../../../contract/organization/mcp.ts';
import { references } from '../../../template/references.ts';
import { parseTemplate } from '../../../template/template.ts';
import { mcpServer, toolPage } from '../../answers/organization.ts';
import { namedPage } from '../../http/pagination.ts';
import { ok, route } from '../../http/route.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { LIST_PROBLEMS } from '../../validation/problem-codes.ts';
import { nameText, pageQuery } from '../../validation/validation.ts';
import { namedCollection } from './named-collection.ts';

const serverName = nameText(100).regex(
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
  'Expected letters, digits and . _ -, such as github.',
);

const headerName = z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}$/, 'Expected the name of a header.');
const headerValue = z
  .string()
  .max(8_000)
  .refine((text) => !/[\r\n\0]/.test(text), 'A header has one line.')
  .refine(readsSecretsOnly, "Expected text in which {{ secrets.NAME }} or {{ secrets['a/name'] }} may stand.");

const serverBody = z.union(
  [
    z.strictObject({
      url: z
        .url({ protocol: /^https?$/, error: 'Expected an http or https URL.' })
        .max(2_000)
        .describe('Streamable HTTP.'),
      headers: z
        .record(headerName, headerValue)
        .optional()
        .describe('Sent with every request. Values may contain `{{ secrets.NAME }}`.'),
    }),
    z.strictObject({
      command: nameText(1_000).describe(
        'A program that speaks MCP on its standard input and output, where the host allows it.',
      ),
      args: z.array(nameText(4_000)).max(100).optional(),
    }),
  ],
  'Expected `url`, with `headers` if it needs any, or `command`, with its `args`, and not both.',
);

export const mcpServerRoutes = [
  ...namedCollection({
    collection: 'mcp-servers',
    operation: { one: 'McpServer', many: 'McpServers' },
    noun: { one: 'server', many: 'servers' },
    // Admin, because a server may be a program that the workers start.
    roles: { read: 'viewer', write: 'admin' },
    name: serverName,
    item: mcpServer,
    missing: 'mcp_server_not_found',
    list: {
      summary: 'Lists MCP servers by name.',
      description: 'With their addresses or programs, and without their tools. Headers name secrets, not values.',
      all: listServers,
    },
    get: {
      summary: 'Reads the connection of an MCP server.',
      description: 'As it was stored: its headers name secrets, not values.',
      read: getServer,
    },
    put: {
      summary: 'Stores the connection of an MCP server.',
      description: 'An address, with headers that may hold secrets; or a program, where the host allows it.',
      body: serverBody,
      problems: ['mcp_stdio_disabled', 'mcp_command_not_allowed', 'too_many', 'too_large'],
      write: async ({ config }, access, org, name, body) => {
        const settings = body as McpServerSettings;
        if (settings.command !== undefined) demandProgram(config, org, settings);
        const { created, server } = await putServer(access, org, name, settings);
        const missing = await missingSecrets(access, org, secretsOf(settings));
        return { created, item: { ...server, ...(missing.length === 0 ? {} : { missingSecrets: missing }) } };
      },
    },
    remove: {
      summary: 'Deletes an MCP server.',
      description: 'Steps that name it fail from then on (`mcp_server_not_found`).',
      remove: deleteServer,
    },
  }),
  route({
    method: 'GET',
    path: '/api/mcp-servers/:name/tools',
    role: 'viewer',
    id: 'listMcpTools',
    summary: "Lists an MCP server's tools by name.",
    description: 'The list that a worker read at most ten minutes ago; otherwise a worker reads it now.',
    params: { name: serverName },
    query: z.strictObject({
      ...pageQuery(),
      refresh: z
        .enum(['true', 'false'])
        .optional()
        .describe('true reads the list from the server even if a recent one is kept.'),
    }),
    answers: { 200: { text: 'A page of tools.', schema: toolPage } },
    problems: [...LIST_PROBLEMS, 'mcp_server_not_found', 'mcp_server_failed', 'outcome_unknown'],
    handle: async ({ gateway, access, principal: { organizationId }, params: { name }, query }) => {
      const { refresh, ...page } = query;
      const { tools, listedAt } = await readTools(access, organizationId, name, refresh === 'true');
      const byName = [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
      const shown = namedPage(gateway, `mcp-servers/${name}/tools`, organizationId, byName, page);
      return ok({ ...shown, listedAt });
    },
  }),
];

/** @throws HttpProblem `mcp_stdio_disabled`, `mcp_command_not_allowed`. */
function demandProgram(config: Config, org: string, settings: McpServerSettings): void {
  if (!config.mcpStdioAllowed)
    throw new HttpProblem(
      'mcp_stdio_disabled',
      'This host starts no programs as MCP servers. Give a url, or set SIGNALBOX_MCP_STDIO=1 where the worker ' +
        'and the gateway start.',
    );
  if (!mayStartProgram(org, settings, config.mcpCommands))
    throw new HttpProblem(
      'mcp_command_not_allowed',
      'This host does not start that program for your organization. Give a url, or ask those who run the host to ' +
        'put the command line into SIGNALBOX_MCP_COMMANDS.',
    );
}

const referencesIn = (text: string) => references(parseTemplate(text, { secrets: true, callbacks: false }));

/** The secrets that its headers name. */
const secretsOf = ({ headers = {} }: McpServerSettings): string[] =>
  Object.values(headers).flatMap((value) => referencesIn(value).map(({ path: [name] }) => String(name)));

function readsSecretsOnly(text: string): boolean {
  try {
    return referencesIn(text).every(({ root }) => root === 'secrets');
  } catch {
    return false;
  }
}
