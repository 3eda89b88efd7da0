/**
 * `/mcp`: the API as tools for models, over MCP's streamable HTTP, without sessions: each request stands alone and is
 * answered with JSON. Whoever may call a route of the API may call its tool, with the same key.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import * as streamable from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { JsonObject } from '../../json/json.ts';
import { anyObject } from '../answers/named.ts';
import { callerGone } from '../http/caller-gone.ts';
import { asProblem } from '../http/problem.ts';
import { type Incoming, type Route, route, SENT } from '../http/route.ts';
import { jsonOf } from '../http/route-body.ts';
import { API_VERSION } from '../manual/openapi-document.ts';
import { nameText } from '../validation/validation.ts';
import { askInside } from './inner-request.ts';
import { refusalOf, toolsOf } from './tools.ts';

const INSTRUCTIONS = `Signalbox stores workflows as definitions and runs them durably.
A definition has a name, a slug and steps; a step has stepType, config and nextSteps (port: next step). For example:
{"name": "Refund", "slug": "refund", "steps": {
  "review": {"stepType": "approval", "config": {"message": "Refund {{ input.amount }}?"},
    "nextSteps": {"approved": "done", "rejected": "done"}},
  "done": {"stepType": "finish", "config": {"output": "{{ steps.review.output.decision }}"}}}}
Check a definition with VALIDATE_WORKFLOW and DRY_RUN_WORKFLOW, store it with COLLECTION_WORKFLOW_CREATE, start it with
COLLECTION_WORKFLOW_EXECUTION_CREATE, and wait with GET_EXECUTION_RESULT. A run that waits shows what for in waitingFor.
The language is described at /docs/definition.md of this gateway, its JSON Schema at /schema.json.`;

/** One message. Batches were removed from MCP, and would pass the rate limits as one request. */
const message = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z
    .union([nameText(200), z.number().int()])
    .optional()
    .describe('Absent in notifications.'),
  method: nameText(200).describe('Such as tools/list or tools/call.'),
  params: anyObject.optional().describe('What the method takes.'),
});

/** What the transport reads of a request. Its answers are always JSON, so any Accept will do. */
const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

export const mcpRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/mcp',
    role: 'viewer',
    idempotency: 'none',
    isAudited: false,
    asksTemporal: false,
    id: 'mcp',
    tag: 'gateway',
    summary: 'The API as tools for models: an MCP server.',
    description:
      'Without sessions and without streams. A call of a tool counts as a request to its route too: for roles, ' +
      'rate limits and the audit.',
    body: jsonOf(message),
    answers: {
      200: { text: "The answer, in MCP's JSON-RPC.", schema: anyObject },
      202: { text: 'The notification was taken.' },
    },
    handle: async (call) => {
      const transport = new streamable.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      const gone = callerGone(call.res).signal;
      const server = serverFor(call, gone);
      try {
        await server.connect(transport);
        const version = call.req.get('mcp-protocol-version');
        const headers = { ...HEADERS, ...(version === undefined ? {} : { 'mcp-protocol-version': version }) };
        const request = new Request('http://gateway/mcp', { method: 'POST', headers });
        const answer = await Promise.race([transport.handleRequest(request, { parsedBody: call.body }), left(gone)]);
        if (answer === undefined) return SENT;
        const text = await answer.text();
        if (answer.status === 202) return { status: 202 };
        call.res.status(answer.status).type('application/json');
        call.res.send(text);
        return SENT;
      } finally {
        await server.close();
      }
    },
  }),
];

/** Resolves when the caller has gone: the transport may have no answer then. */
const left = (gone: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    gone.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** A server for one request. */
function serverFor({ req, res, routes, gateway }: Incoming, gone: AbortSignal): Server {
  const tools = toolsOf(routes);
  const info = { name: 'signalbox', version: API_VERSION };
  const server = new Server(info, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools.values()].map(({ tool }) => tool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const tool = tools.get(params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, 'There is no tool of that name.');
    try {
      const request = tool.requestOf((params.arguments ?? {}) as JsonObject);
      return tool.resultOf(await askInside({ req, res }, request, gone));
    } catch (error) {
      const problem = asProblem(error);
      if (problem.status === 500 && !gone.aborted) gateway.log.error({ err: problem.cause }, problem.message);
      return refusalOf(problem);
    }
  });
  return server;
}
