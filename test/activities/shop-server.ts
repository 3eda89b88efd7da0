/** A shop as an MCP server on loopback: its tools depend on each other's results. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';

export interface ShopServer {
  readonly url: string;
  /** Calls that were made, as `tool {arguments}`. */
  readonly calls: string[];
  /** The values of the header `x-key` that were sent. */
  readonly keys: Set<string>;
  close(): Promise<void>;
}

const USERS = [
  { id: 42, email: 'ann@example.org', name: 'Ann' },
  { id: 77, email: 'bob@example.org', name: 'Bob' },
];
const ORDERS = [
  { no: 'A-4711', userId: 42, cents: 1250 },
  { no: 'B-9001', userId: 77, cents: 300 },
];
/** Larger than a recording takes. */
const LARGE = 1_100_000;

export async function shopServer(): Promise<ShopServer> {
  const calls: string[] = [];
  const keys = new Set<string>();
  const http = createServer((req, res) => void answer(req, res).catch(() => res.destroy()));
  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const key = req.headers['x-key'];
    if (typeof key === 'string') keys.add(key);
    const server = shop(calls);
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    res.once('close', () => void server.close());
    await server.connect(transport as Transport);
    await transport.handleRequest(req, res);
  }
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    calls,
    keys,
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

function shop(calls: string[]): McpServer {
  const server = new McpServer({ name: 'shop', version: '1' });
  const note = (tool: string, args: object) => void calls.push(`${tool} ${JSON.stringify(args)}`);
  const text = (said: string) => [{ type: 'text' as const, text: said }];
  server.registerTool(
    'get_user',
    { description: 'Finds a user.', inputSchema: { email: z.string().email() }, outputSchema: z.looseObject({}) },
    (args) => {
      note('get_user', args);
      const user = USERS.find(({ email }) => email === args.email);
      if (user === undefined) return { isError: true, content: text(`There is no user ${args.email}.`) };
      return { content: text(JSON.stringify(user)), structuredContent: user };
    },
  );
  // Its answer is JSON in a text, as of most servers.
  server.registerTool('list_orders', { inputSchema: { userId: z.number() } }, (args) => {
    note('list_orders', args);
    return { content: text(JSON.stringify(ORDERS.filter(({ userId }) => userId === args.userId))) };
  });
  server.registerTool('refund', { inputSchema: { order: z.string(), cents: z.number(), note: z.string() } }, (args) => {
    note('refund', args);
    const picture = { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' };
    return { content: [...text(`Refunded ${args.cents} cents of ${args.order}: ${args.note}`), picture] };
  });
  server.registerTool('picture', {}, () => ({
    content: [
      { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' },
      { type: 'resource' as const, resource: { uri: 'shop://42', text: 'forty-two' } },
    ],
  }));
  server.registerTool('list_pictures', {}, () => ({ content: text('[{"type":"image","url":"shop://42"}]') }));
  server.registerTool('catalogue', {}, () => ({ content: text('x'.repeat(LARGE)) }));
  return server;
}
