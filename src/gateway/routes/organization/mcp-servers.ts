/** `/api/mcp-servers`: where an organization's tools are. Secrets stand in headers by their names, and are read by workers. */
import type { Router } from 'express';
import { z } from 'zod';
import {
  deleteServer,
  getServer,
  listServers,
  type McpServerSettings,
  putServer,
  readTools,
} from '../../../client/organization/mcp-servers.ts';
import { mayStartProgram } from '../../../contract/mcp.ts';
import { references } from '../../../template/references.ts';
import { parseTemplate } from '../../../template/template.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { namedPage } from '../../http/named-page.ts';
import { principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { resource } from '../../http/resource.ts';
import { checked, demandNoQuery, nameText, pageQuery, queryAs } from '../../validation/validation.ts';

export const serverName = nameText(100).regex(
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
  'Expected letters, digits and . _ -, such as github.',
);

const headerName = z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}$/, 'Expected the name of a header.');
const headerValue = z
  .string()
  .max(8_000)
  .refine((text) => !/[\r\n\0]/.test(text), 'A header has one line.')
  .refine(readsSecretsOnly, "Expected text in which {{ secrets.NAME }} or {{ secrets['a/name'] }} may stand.");

export const serverBody = z.union(
  [
    z.strictObject({
      url: z
        .url({ protocol: /^https?$/, error: 'Expected an http or https URL.' })
        .max(2_000)
        .describe('Streamable HTTP.'),
      headers: z
        .record(headerName, headerValue)
        .optional()
        .describe('Sent with every request. `{{ secrets.NAME }}` may stand in values.'),
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

export const serverListQuery = z.strictObject(pageQuery());
export const toolListQuery = z.strictObject({
  ...pageQuery(),
  refresh: z.enum(['true', 'false']).optional().describe('true asks the server, whatever is kept.'),
});

export function mcpServerRoutes(router: Router, gateway: Gateway): void {
  const { access, config } = gateway;

  resource(router, '/api/mcp-servers', {
    GET: async (req, res) => {
      const page = queryAs(req, serverListQuery);
      const { organizationId } = principalOf(req);
      const servers = await listServers(access, organizationId);
      res.json(namedPage(gateway, 'mcp-servers', organizationId, servers, page));
    },
  });

  resource(router, '/api/mcp-servers/:name', {
    GET: async (req, res) => {
      demandNoQuery(req);
      const name = checked(serverName, req.params['name'], 'path');
      res.json(await getServer(access, principalOf(req).organizationId, name));
    },
    PUT: async (req, res) => {
      demandNoQuery(req);
      const name = checked(serverName, req.params['name'], 'path');
      const settings = bodyAs(req, serverBody) as McpServerSettings;
      if (settings.command !== undefined && !config.mcpStdioAllowed)
        throw new HttpProblem(
          'mcp_stdio_disabled',
          'This host starts no programs as MCP servers. Give a url, or set SIGNALBOX_MCP_STDIO=1 where the worker and the gateway start.',
        );
      const { organizationId } = principalOf(req);
      if (settings.command !== undefined && !mayStartProgram(organizationId, settings, config.mcpCommands))
        throw new HttpProblem(
          'mcp_command_not_allowed',
          'This host does not start that program for your organization. Give a url, or ask those who run the host to put the command line into SIGNALBOX_MCP_COMMANDS.',
        );
      const { created, server } = await putServer(access, organizationId, name, settings);
      res.status(created ? 201 : 200).json(server);
    },
    DELETE: async (req, res) => {
      demandNoQuery(req);
      const name = checked(serverName, req.params['name'], 'path');
      await deleteServer(access, principalOf(req).organizationId, name);
      res.status(204).end();
    },
  });

  resource(router, '/api/mcp-servers/:name/tools', {
    GET: async (req, res) => {
      const { refresh, ...page } = queryAs(req, toolListQuery);
      const name = checked(serverName, req.params['name'], 'path');
      const { organizationId } = principalOf(req);
      const { tools, listedAt } = await readTools(access, organizationId, name, refresh === 'true');
      const byName = [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
      res.json({ ...namedPage(gateway, `mcp-servers/${name}/tools`, organizationId, byName, page), listedAt });
    },
  });
}

function readsSecretsOnly(text: string): boolean {
  try {
    const template = parseTemplate(text, { secrets: true, callbacks: false });
    return references(template).every(({ root }) => root === 'secrets');
  } catch {
    return false;
  }
}
