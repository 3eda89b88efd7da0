/** An MCP server that puts the headers of the request into the descriptions of its tools. */
import { expect, it } from 'vitest';
import { createActivities } from '../../../activities/registry.ts';
import type { McpToolList } from '../../../src/contract/organization/mcp.ts';
import type { ActivityOutput } from '../../../src/contract/run/activity.ts';
import { environment, inputOf, LOOPBACK, serve } from '../server.ts';

const KEY = 'c4n4ryc4n4ry-header';

it('has its list scrubbed before it is kept or given', async () => {
  const server = await serve((seen, response) => {
    const { id, method } = seen.body === '' ? {} : JSON.parse(seen.body);
    if (id === undefined) return void response.writeHead(202).end();
    const told = String(seen.headers['x-key']);
    const result =
      method === 'initialize'
        ? { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'told', version: '1' } }
        : { tools: [{ name: 'look', description: `Sent ${told}`, inputSchema: { type: 'object', title: told } }] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  const kept: McpToolList[] = [];
  const entry = { name: 'told', updatedAt: '', url: `${server.url}/mcp`, headers: { 'x-key': '{{ secrets.K }}' } };
  const { listTools } = createActivities(LOOPBACK, {
    secrets: { read: async () => KEY },
    mcpServers: {
      read: async () => entry,
      list: async () => [entry],
      cachedTools: async () => undefined,
      cacheTools: async (_org, _server, list) => void kept.push(list),
    },
  });
  const { data } = (await environment().run(listTools!, inputOf({ server: 'told' }))) as ActivityOutput;
  expect(server.seen.some(({ headers }) => headers['x-key'] === KEY)).toBe(true);
  for (const list of [data, kept[0]])
    expect(list).toMatchObject({
      tools: [{ name: 'look', description: 'Sent [secret]', inputSchema: { title: '[secret]' } }],
    });
  expect(JSON.stringify([data, kept])).not.toContain('c4n4ry');
  await server.close();
});
