/** The operations on models and MCP servers, for the OpenAPI document. */
import { z } from 'zod';
import { MODEL_PROVIDERS } from '../../contract/models.ts';
import { serverBody, serverListQuery, serverName, toolListQuery } from '../routes/organization/mcp-servers.ts';
import { modelBody, modelListQuery, modelName } from '../routes/organization/models.ts';
import { LIST_PROBLEMS, type Operation, pageOf, WRITE_PROBLEMS } from './openapi-operation.ts';

const text = z.string();
const model = z.object({
  name: text,
  provider: z.enum(MODEL_PROVIDERS),
  model: text,
  baseUrl: text.optional(),
  apiKeySecret: text.optional(),
  prices: z.object({ input: z.number(), output: z.number(), cachedInput: z.number().optional() }).optional(),
  default: z.boolean().describe('Whether steps that name no model take this one.'),
  updatedAt: z.iso.datetime().describe('ISO 8601.'),
});
const server = z.object({
  name: text,
  url: text.optional(),
  headers: z.record(z.string(), z.string()).optional().describe('Secrets stand in them by name.'),
  command: text.optional(),
  args: z.array(text).optional(),
  updatedAt: z.iso.datetime().describe('ISO 8601.'),
});
const tools = z.object({
  items: z.array(
    z.object({
      name: text,
      title: text.optional(),
      description: text.optional(),
      inputSchema: z.record(z.string(), z.unknown()).describe('JSON Schema.'),
    }),
  ),
  nextCursor: text.optional().describe('Give it as `cursor` for the next page.'),
  listedAt: z.iso.datetime().describe('When the server was asked.'),
});

export const modelOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/api/models',
    id: 'listModels',
    tag: 'models',
    summary: 'Lists models by name.',
    query: modelListQuery,
    answers: { 200: { text: 'A page of models.', schema: pageOf(model) } },
    problems: LIST_PROBLEMS,
  },
  {
    method: 'GET',
    path: '/api/models/:name',
    id: 'getModel',
    tag: 'models',
    summary: 'Reads a model.',
    parameters: { name: modelName },
    answers: { 200: { text: 'The model.', schema: model } },
    problems: ['not_found'],
  },
  {
    method: 'PUT',
    path: '/api/models/:name',
    id: 'putModel',
    tag: 'models',
    summary: 'Stores how runs reach a model.',
    description: 'The API key is a secret, which is named here. A slash in the name is written %2F.',
    parameters: { name: modelName },
    body: { schema: modelBody },
    answers: {
      201: { text: 'Stored; it is new.', schema: model },
      200: { text: 'Stored.', schema: model },
    },
    problems: [...WRITE_PROBLEMS, 'too_many', 'too_large'],
  },
  {
    method: 'DELETE',
    path: '/api/models/:name',
    id: 'deleteModel',
    tag: 'models',
    summary: 'Deletes a model.',
    parameters: { name: modelName },
    answers: { 204: { text: 'Deleted.' } },
    problems: [...WRITE_PROBLEMS, 'not_found'],
  },
  {
    method: 'GET',
    path: '/api/mcp-servers',
    id: 'listMcpServers',
    tag: 'models',
    summary: 'Lists MCP servers by name.',
    query: serverListQuery,
    answers: { 200: { text: 'A page of servers.', schema: pageOf(server) } },
    problems: LIST_PROBLEMS,
  },
  {
    method: 'GET',
    path: '/api/mcp-servers/:name',
    id: 'getMcpServer',
    tag: 'models',
    summary: 'Reads how an MCP server is reached.',
    parameters: { name: serverName },
    answers: { 200: { text: 'The server.', schema: server } },
    problems: ['mcp_server_not_found'],
  },
  {
    method: 'PUT',
    path: '/api/mcp-servers/:name',
    id: 'putMcpServer',
    tag: 'models',
    summary: 'Stores how an MCP server is reached.',
    description: 'An address, with headers in which secrets may stand; or a program, where the host allows it.',
    parameters: { name: serverName },
    body: { schema: serverBody },
    answers: {
      201: { text: 'Stored; it is new.', schema: server },
      200: { text: 'Stored.', schema: server },
    },
    problems: [...WRITE_PROBLEMS, 'mcp_stdio_disabled', 'mcp_command_not_allowed', 'too_many', 'too_large'],
  },
  {
    method: 'DELETE',
    path: '/api/mcp-servers/:name',
    id: 'deleteMcpServer',
    tag: 'models',
    summary: 'Deletes an MCP server.',
    parameters: { name: serverName },
    answers: { 204: { text: 'Deleted.' } },
    problems: [...WRITE_PROBLEMS, 'mcp_server_not_found'],
  },
  {
    method: 'GET',
    path: '/api/mcp-servers/:name/tools',
    id: 'listMcpTools',
    tag: 'models',
    summary: "Lists an MCP server's tools by name.",
    description: 'As a worker listed them last, at most ten minutes ago; else one asks the server now.',
    parameters: { name: serverName },
    query: toolListQuery,
    answers: { 200: { text: 'A page of tools.', schema: tools } },
    problems: [...LIST_PROBLEMS, 'mcp_server_not_found', 'mcp_server_failed', 'outcome_unknown'],
  },
];
