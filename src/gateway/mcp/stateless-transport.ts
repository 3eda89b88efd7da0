/** MCP's streamable HTTP without sessions and streams: a request has one message, and is answered with JSON. */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import * as streamable from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CallToolRequestSchema, ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { anyObject } from '../answers/named.ts';
import { abortOnDisconnect } from '../http/abort-on-disconnect.ts';
import { type Incoming, type Outcome, SENT } from '../http/route.ts';
import { nameText } from '../validation/validation.ts';

/** One message. Batches were removed from MCP, and would pass the rate limits as one request. */
export const jsonRpcMessage = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z
    .union([nameText(200), z.number().int()])
    .optional()
    .describe('Absent in notifications.'),
  method: nameText(200).describe('Such as tools/list or tools/call.'),
  params: anyObject.optional().describe('What the method takes.'),
});

export const MESSAGE_ANSWERS = {
  200: { text: "The answer, in MCP's JSON-RPC.", schema: anyObject },
  202: { text: 'The notification was taken.' },
  400: { text: "An error of MCP's JSON-RPC, such as an unknown version in MCP-Protocol-Version.", schema: anyObject },
};

/** What the transport reads of a request. Its answers are always JSON, so any Accept will do. */
const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/** As the SDK answers it: McpError would put the code into the text, where clients add it once more. */
export const invalidParams = (text: string): Error => Object.assign(new Error(text), { code: ErrorCode.InvalidParams });

/** Answers the message in the body by a server of its own. `disconnected` is aborted when the caller disconnects. */
export async function answerMessage<Given extends Incoming & { readonly body: z.infer<typeof jsonRpcMessage> }>(
  call: Given,
  serverFor: (call: Given, disconnected: AbortSignal) => Server,
): Promise<Extract<Outcome, symbol> | { readonly status: 202 }> {
  if (call.body.method === 'tools/call' && !CallToolRequestSchema.safeParse(call.body).success) {
    const { jsonrpc, id = null } = call.body;
    const text = 'A call of a tool has `name`, a text, and `arguments`, an object that may be left out.';
    call.res.status(200).json({ jsonrpc, id, error: { code: ErrorCode.InvalidParams, message: text } });
    return SENT;
  }
  const transport = new streamable.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const disconnected = abortOnDisconnect(call.res).signal;
  const server = serverFor(call, disconnected);
  try {
    await server.connect(transport);
    const version = call.req.get('mcp-protocol-version');
    const headers = { ...HEADERS, ...(version === undefined ? {} : { 'mcp-protocol-version': version }) };
    const request = new Request('http://gateway/mcp', { method: 'POST', headers });
    const answer = await Promise.race([
      transport.handleRequest(request, { parsedBody: call.body }),
      disconnection(disconnected),
    ]);
    if (answer === undefined) return SENT;
    const text = await answer.text();
    if (answer.status === 202) return { status: 202 };
    call.res.status(answer.status).type('application/json');
    call.res.send(text);
    return SENT;
  } finally {
    await server.close();
  }
}

/** Resolves when the caller disconnects: the transport may have no answer then. */
const disconnection = (disconnected: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    disconnected.addEventListener('abort', () => resolve(undefined), { once: true });
  });
