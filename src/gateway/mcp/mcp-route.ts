/**
 * `/mcp`: the API as tools for models, over MCP's streamable HTTP, without sessions: each request stands alone and is
 * answered with JSON. Whoever may call a route of the API may call its tool, with the same key.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../json/json.ts';
import { type Incoming, route } from '../http/route.ts';
import { jsonOf } from '../http/route-body.ts';
import { API_VERSION } from '../manual/openapi-document.ts';
import { dispatchInternally } from './internal-request.ts';
import { answerMessage, invalidParams, jsonRpcMessage, MESSAGE_ANSWERS } from './stateless-transport.ts';
import { refusalOf, toolsOf } from './tools.ts';

export const INSTRUCTIONS = `Signalbox stores workflows as definitions and runs them durably.
A definition has a name, a slug and steps; a step has stepType, config and nextSteps (port: next step). For example:
{"name": "Refund", "slug": "refund", "steps": {
  "review": {"stepType": "approval", "config": {"message": "Refund {{ input.amount }}?"},
    "nextSteps": {"approved": "done", "rejected": "done"}},
  "done": {"stepType": "finish", "config": {"output": "{{ steps.review.output.data.decision }}"}}}}
Check a definition with VALIDATE_WORKFLOW and DRY_RUN_WORKFLOW, store it with COLLECTION_WORKFLOW_CREATE, start it with
COLLECTION_WORKFLOW_EXECUTION_CREATE, and wait with GET_EXECUTION_RESULT. A run that waits shows what for in waitingFor.
READ_MANUAL describes the language (page definition) and each step kind (such as page approval); the JSON Schema of
definitions is at /schema.json of this gateway.`;

export const mcpRoutes = [
  route({
    method: 'POST',
    path: '/mcp',
    role: 'viewer',
    idempotency: 'none',
    isAudited: false,
    asksTemporal: false,
    id: 'mcp',
    summary: 'The API as tools for models: an MCP server.',
    description:
      'Without sessions and without streams. A call of a tool counts as a request to its route too: for roles, ' +
      'rate limits and the audit.',
    body: jsonOf(jsonRpcMessage),
    answers: MESSAGE_ANSWERS,
    handle: (call) => answerMessage(call, serverFor),
  }),
];

/** A server for one request. */
function serverFor({ req, res, routes, gateway }: Incoming, disconnected: AbortSignal): Server {
  const tools = toolsOf(routes);
  const info = { name: 'signalbox', version: API_VERSION };
  const server = new Server(info, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools.values()].map(({ tool }) => tool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const tool = tools.get(params.name);
    if (tool === undefined) throw invalidParams('There is no tool of that name.');
    try {
      const request = tool.requestOf((params.arguments ?? {}) as JsonObject);
      return tool.resultOf(await dispatchInternally({ req, res }, request, disconnected));
    } catch (error) {
      return refusalOf(error, gateway, disconnected);
    }
  });
  return server;
}
