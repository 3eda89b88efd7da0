import { type ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { McpServerStore } from '../../../activities/mcp/servers.ts';
import { type ActivitySettings, createActivities } from '../../../activities/registry.ts';
import type { McpServerEntry, McpTool, McpToolList } from '../../../src/contract/organization/mcp.ts';
import type { ActivityOutput } from '../../../src/contract/run/activity.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import type { SecretString } from '../../../src/template/types.ts';
import { EVERYTHING, everythingServer, type ReferenceServer } from '../mcp-server.ts';
import { environment, inputOf, LOOPBACK, serve } from '../server.ts';

const CANARY = 'canary-0123456789';
let everything: ReferenceServer;
beforeAll(async () => {
  everything = await everythingServer();
});
afterAll(() => everything.close());

/** Servers of an organization, and what was kept of their tools. */
function storeOf(servers: {
  [name: string]: Partial<McpServerEntry>;
}): McpServerStore & { lists: Map<string, McpToolList> } {
  const lists = new Map<string, McpToolList>();
  const read = (name: string) => {
    if (servers[name] === undefined)
      throw Object.assign(new Error(`There is no MCP server called ${name}.`), { code: 'mcp_server_not_found' });
    return { name, updatedAt: '2026-01-01T00:00:00Z', ...servers[name] };
  };
  return {
    lists,
    read: async (_org, name) => read(name),
    list: async () => Object.keys(servers).map(read),
    cachedTools: async (_org, server) => lists.get(server.name),
    cacheTools: async (_org, server, list) => void lists.set(server, list),
  };
}

interface Options {
  readonly activity?: 'tool' | 'listTools';
  readonly secrets?: readonly SecretString[];
  readonly settings?: ActivitySettings;
  readonly within?: MockActivityEnvironment;
}

function run(store: McpServerStore, config: JsonObject, options: Options = {}): Promise<ActivityOutput> {
  const { activity = 'tool', secrets = [], settings = LOOPBACK, within = environment() } = options;
  const activities = createActivities(settings, {
    mcpServers: store,
    secrets: { read: async (_org, name, { host }) => `${CANARY}/${name}@${host}` },
  });
  return within.run(activities[activity]!, inputOf(config, secrets));
}

const failing = (...call: Parameters<typeof run>): Promise<ApplicationFailure> =>
  run(...call).then(
    (result) => Promise.reject(new Error(`It did not fail: ${JSON.stringify(result)}`)),
    (error) => error,
  );

const remote = () => storeOf({ everything: { url: everything.url } });

describe('the activity tool, against the reference server', () => {
  it('calls a tool over streamable HTTP', async () => {
    const store = remote();
    expect(await run(store, { server: 'everything', toolName: 'echo', input: { message: '{{ secrets.X }}' } })).toEqual(
      {
        data: 'Echo: {{ secrets.X }}',
        meta: { server: 'everything' },
      },
    );
  });

  it('gives the structured result where there is one', async () => {
    const { data } = await run(remote(), {
      server: 'everything',
      toolName: 'get-structured-content',
      input: { location: 'Chicago' },
    });
    expect(data).toEqual({
      temperature: expect.any(Number),
      conditions: expect.any(String),
      humidity: expect.any(Number),
    });
  });

  it('keeps what is no text in meta', async () => {
    const { data, meta } = await run(remote(), { server: 'everything', toolName: 'get-tiny-image' });
    expect(data).toContain('image');
    expect(meta).toMatchObject({ content: [{ type: 'image', mimeType: 'image/png' }] });
  });

  it('starts a program where the host allows it, which sees nothing of the worker', async () => {
    const store = storeOf({ local: EVERYTHING });
    process.env['SIGNALBOX_CANARY'] = CANARY;
    const { data } = await run(
      store,
      { server: 'local', toolName: 'get-env' },
      { settings: { ...LOOPBACK, mcpStdioAllowed: true } },
    );
    delete process.env['SIGNALBOX_CANARY'];
    expect(data).toContain('PATH');
    expect(data).not.toContain(CANARY);
    expect(await failing(store, { server: 'local', toolName: 'echo' })).toMatchObject({
      type: 'mcp_stdio_disabled',
      nonRetryable: true,
    });
  });

  it('starts a program of another organization only from the list of the host', async () => {
    const store = storeOf({ local: EVERYTHING });
    const settings = { ...LOOPBACK, mcpStdioAllowed: true };
    const { command, args } = EVERYTHING;
    const config = { server: 'local', toolName: 'echo', input: { message: 'hello' } };
    const input = inputOf(config);
    const asAcme = (mcpCommands: string[][]) => {
      const activities = createActivities({ ...settings, mcpCommands }, { mcpServers: store });
      return environment().run(activities['tool']!, {
        ...input,
        execution: { ...input.execution, organizationId: 'acme' },
      });
    };
    await expect(asAcme([])).rejects.toMatchObject({ type: 'mcp_command_not_allowed', nonRetryable: true });
    await expect(asAcme([[command]])).rejects.toMatchObject({ type: 'mcp_command_not_allowed' });
    expect(await asAcme([[command, ...args]])).toMatchObject({ data: 'Echo: hello' });
    expect(await asAcme([[command, '*']])).toMatchObject({ data: 'Echo: hello' });
  });

  it('finds the server that has the tool, and keeps what the servers listed', async () => {
    const store = remote();
    expect(await run(store, { toolName: 'get-sum', input: { a: 2, b: 40 } })).toMatchObject({
      data: expect.stringContaining('42'),
    });
    expect(store.lists.get('everything')?.tools.map(({ name }) => name)).toContain('get-sum');
    expect(await failing(store, { toolName: 'nothing' })).toMatchObject({ type: 'unknown_tool', nonRetryable: true });
    const two = storeOf({ one: { url: everything.url }, two: { url: everything.url } });
    expect(await failing(two, { toolName: 'echo' })).toMatchObject({ type: 'ambiguous_tool' });
  });

  it('finds it also where another server cannot be asked', async () => {
    const gone = await serve((_seen, response) => response.end());
    await gone.close();
    const store = storeOf({ gone: { url: gone.url }, there: { url: everything.url } });
    expect(await run(store, { toolName: 'echo', input: { message: 'hello' } })).toMatchObject({ data: 'Echo: hello' });
    // Nobody knows what the other one has.
    expect(await failing(store, { toolName: 'nothing' })).toMatchObject({ type: 'mcp_connect', nonRetryable: false });
    // It is known of the other one that it has the tool too.
    const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
    store.lists.set('gone', { tools, listedAt: '2026-01-01T00:00:00Z', of: '2026-01-01T00:00:00Z' });
    expect(await failing(store, { toolName: 'echo' })).toMatchObject({ type: 'ambiguous_tool' });
  });

  it('looks for a tool in the list that was kept, as long as that is fresh', async () => {
    const store = remote();
    const keep = (minutesAgo: number) =>
      store.lists.set('everything', {
        tools: [{ name: 'gone', inputSchema: { type: 'object' } }],
        listedAt: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
        of: '2026-01-01T00:00:00Z',
      });
    keep(9);
    expect(await failing(store, { toolName: 'echo' })).toMatchObject({ type: 'unknown_tool' });
    expect((await failing(store, { toolName: 'gone' })).type).not.toBe('unknown_tool');
    keep(11);
    expect(await run(store, { toolName: 'echo', input: { message: 'hello' } })).toMatchObject({ data: 'Echo: hello' });
    expect(store.lists.get('everything')?.tools.length).toBeGreaterThan(1);
  });

  it('lists tools with their schemas', async () => {
    const { data } = await run(remote(), { server: 'everything' }, { activity: 'listTools' });
    const { tools, of } = data as unknown as McpToolList;
    expect(of).toBe('2026-01-01T00:00:00Z');
    const sum = tools.find(({ name }) => name === 'get-sum') as McpTool;
    expect(sum.inputSchema).toMatchObject({ type: 'object', required: ['a', 'b'] });
  });

  it('reports progress with its heartbeats', async () => {
    const within = new MockActivityEnvironment({ heartbeatTimeoutMs: 300 }, { logger: new DefaultLogger('ERROR') });
    const beats: unknown[] = [];
    within.on('heartbeat', (detail: unknown) => beats.push(detail));
    const config = {
      server: 'everything',
      toolName: 'trigger-long-running-operation',
      input: { duration: 10, steps: 5 },
    };
    const running = run(remote(), config, { within });
    const ended = expect(running).rejects.toBeInstanceOf(CancelledFailure);
    await expect.poll(() => beats).toContainEqual({ progress: 1, total: 5 });
    within.cancel();
    await ended;
  });

  it('fails typed after its timeout', async () => {
    const config = {
      server: 'everything',
      toolName: 'trigger-long-running-operation',
      input: { duration: 5, steps: 1 },
      timeout: 200,
    };
    expect(await failing(remote(), config)).toMatchObject({ type: 'mcp_timeout', nonRetryable: false });
  });

  it('fails typed where the input does not fit or there is no such tool', async () => {
    const wrong = await failing(remote(), { server: 'everything', toolName: 'get-sum', input: { a: 'two' } });
    expect(['tool_error', 'mcp_refused']).toContain(wrong.type);
    expect(wrong.nonRetryable).toBe(true);
    const unknown = await failing(remote(), { server: 'everything', toolName: 'none' });
    expect(unknown.nonRetryable).toBe(true);
    expect(await failing(remote(), { server: 'elsewhere', toolName: 'echo' })).toMatchObject({
      type: 'mcp_server_not_found',
      nonRetryable: true,
    });
  });

  it('fails typed where servers cannot be read: never, or not now', async () => {
    const config = { server: 'everything', toolName: 'echo' };
    const without = createActivities(LOOPBACK, {});
    expect(
      await environment()
        .run(without['tool']!, inputOf(config))
        .catch((error) => error),
    ).toMatchObject({
      type: 'mcp_servers_unavailable',
      nonRetryable: true,
    });
    const away = { ...remote(), read: () => Promise.reject(new Error('away')) };
    expect(await failing(away, config)).toMatchObject({ type: 'mcp_servers_unavailable', nonRetryable: false });
  });

  it('begins anew with a server that was started again', async () => {
    const server = await everythingServer();
    const activities = createActivities(LOOPBACK, { mcpServers: storeOf({ e: { url: server.url } }) });
    const call = () =>
      environment().run(activities['tool']!, inputOf({ server: 'e', toolName: 'echo', input: { message: 'hello' } }));
    expect(await call()).toMatchObject({ data: 'Echo: hello' });
    await server.close();
    const again = await everythingServer(Number(new URL(server.url).port));
    expect(await call()).toMatchObject({ data: 'Echo: hello' });
    await again.close();
  });
});

describe('the activity tool, against other servers', () => {
  it('sends headers with secrets, of the server and of the step, to that host only', async () => {
    const other = await serve((_seen, response) => response.writeHead(401).end());
    const store = storeOf({ other: { url: `${other.url}/mcp`, headers: { 'x-own': 'Bearer {{ secrets.TOKEN }}' } } });
    const failed = await failing(
      store,
      { server: 'other', toolName: 'echo', headers: { 'x-step': '' } },
      { secrets: [{ path: ['headers', 'x-step'], parts: [{ secret: 'STEP' }] }] },
    );
    const host = new URL(other.url).host;
    expect(other.seen[0]?.headers).toMatchObject({
      'x-own': `Bearer ${CANARY}/TOKEN@${host}`,
      'x-step': `${CANARY}/STEP@${host}`,
    });
    expect(failed).toMatchObject({ type: 'mcp_status', nonRetryable: true });
    expect(JSON.stringify([failed.details, failed.message])).not.toContain(CANARY);
    await other.close();
  });

  it('follows redirects within the origin', async () => {
    const other = await serve(({ url }, response) =>
      (url === '/mcp' ? response.writeHead(307, { location: '/mcp/' }) : response.writeHead(503)).end(),
    );
    const store = storeOf({ other: { url: `${other.url}/mcp` } });
    expect(await failing(store, { server: 'other', toolName: 'echo' })).toMatchObject({ type: 'mcp_status' });
    expect(other.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /mcp', 'POST /mcp/']);
    await other.close();
  });

  it('follows no redirect to another origin, and goes where the host allows it only', async () => {
    const other = await serve((_seen, response) => response.writeHead(307, { location: everything.url }).end());
    const store = storeOf({ other: { url: `${other.url}/mcp` } });
    expect(await failing(store, { server: 'other', toolName: 'echo' })).toMatchObject({
      type: 'http_redirects',
      nonRetryable: true,
    });
    await other.close();
    expect(
      await failing(remote(), { server: 'everything', toolName: 'echo' }, { settings: { ...LOOPBACK, httpAllow: [] } }),
    ).toMatchObject({ type: 'address_not_allowed', nonRetryable: true });
  });

  it('reports what a server answers that is not MCP, or that refuses', async () => {
    const other = await serve(({ url }, response) =>
      url === '/page'
        ? response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>')
        : url === '/json'
          ? response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello": 1}')
          : response.writeHead(403).end('Wrong plan'),
    );
    const told = async (path: string) => {
      const store = storeOf({ other: { url: other.url + path } });
      const { type, message } = await failing(store, { server: 'other', toolName: 'echo' });
      return `${type}: ${message}`;
    };
    expect(await told('/page')).toMatch(/^mcp_answer: .*text\/html.*Check its url/);
    expect(await told('/json')).toMatch(/^mcp_answer: .*Check its url/);
    expect(await told('/plan')).toBe("mcp_status: The MCP server 'other' answered with status 403: Wrong plan.");
    await other.close();
  });

  it('tries again what a server may answer later', async () => {
    const other = await serve((_seen, response) => response.writeHead(503).end());
    const store = storeOf({ other: { url: other.url } });
    expect(await failing(store, { server: 'other', toolName: 'echo' })).toMatchObject({
      type: 'mcp_status',
      nonRetryable: false,
    });
    await other.close();
    expect(await failing(store, { server: 'other', toolName: 'echo' })).toMatchObject({
      type: 'mcp_connect',
      nonRetryable: false,
    });
  });
});
