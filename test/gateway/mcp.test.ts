// What `/mcp` refuses before Temporal is asked, and what its tools are.
import { request } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Ajv } from 'ajv';
import express, { type Request, type Response } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPage } from '../../src/gateway/manual/pages.ts';
import { dispatchInternally } from '../../src/gateway/mcp/internal-request.ts';
import { INSTRUCTIONS } from '../../src/gateway/mcp/mcp-route.ts';
import { toolsOf } from '../../src/gateway/mcp/tools.ts';
import { routes } from '../../src/gateway/route-table.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal, keyRecord, NO_KEYS } from './gateway-support.ts';

let gateway: GatewayWithoutTemporal;
beforeAll(async () => {
  gateway = await gatewayWithoutTemporal();
});
afterAll(() => gateway.close());

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** A request whose Host and Origin are ours to choose, which those of fetch are not. */
function post(headers: { [name: string]: string }, body: unknown = PING, method = 'POST') {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(`${gateway.url}/mcp`, { method, headers: { 'content-type': 'application/json', ...headers } });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      let text = '';
      answer.on('data', (chunk) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.end(method === 'POST' ? JSON.stringify(body) : undefined);
  });
}

describe('/mcp of a gateway without keys', () => {
  it('answers callers of this machine', async () => {
    const { status, text } = await post({});
    expect({ status, body: JSON.parse(text) }).toEqual({ status: 200, body: { jsonrpc: '2.0', id: 1, result: {} } });
  });

  it.each([
    ['a page of another origin', { origin: 'http://evil.example' }, 'origin_not_allowed'],
    ['a name that points here', { host: 'evil.example' }, 'host_not_allowed'],
    ['a proxy', { 'x-forwarded-for': '192.0.2.1' }, 'proxy_without_keys'],
    ['somebody with a key that is unknown', { authorization: 'Bearer sbk_default_nobody' }, 'key_invalid'],
  ])('refuses %s', async (_who, headers: { [name: string]: string }, code) => {
    const { status, text } = await post(headers);
    expect([status, JSON.parse(text).code]).toEqual([code === 'key_invalid' ? 401 : 403, code]);
  });

  it('tells wrong parameters by their code once, and that in words', async () => {
    const call = (params: unknown) => post({}, { jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    for (const params of [{ name: 'VALIDATE_WORKFLOW', arguments: null }, { arguments: {} }, { name: 7 }])
      expect(JSON.parse((await call(params)).text)).toEqual({
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32602, message: expect.stringMatching(/`name`.*`arguments`, an object/) },
      });
    const { error } = JSON.parse((await call({ name: 'NO_SUCH_TOOL', arguments: {} })).text);
    expect(error).toEqual({ code: -32602, message: 'There is no tool of that name.' });
  });

  it('names the types of every argument of every tool', () => {
    for (const { tool } of toolsOf(routes).values())
      for (const [name, schema] of Object.entries(tool.inputSchema.properties ?? {}))
        expect(
          ['type', 'anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const'].some((keyword) =>
            Object.hasOwn(schema, keyword),
          ),
          `${tool.name}.${name}`,
        ).toBe(true);
  });

  it.each<[unknown, unknown]>([
    ['{"n": 1}', { n: 1 }],
    [' [1]', [1]],
    [{ n: '{"n": 1}' }, { n: '{"n": 1}' }],
    // What is no JSON, or another value of it, is a text.
    ['{"n": ', '{"n": '],
    ['{{ template }}', '{{ template }}'],
    ['7', '7'],
    ['"a"', '"a"'],
  ])('reads an input that is sent as the text %j as %j', (input, read) => {
    const tool = toolsOf(routes).get('COLLECTION_WORKFLOW_EXECUTION_CREATE');
    const { body } = tool?.requestOf({ workflowId: 'a', input } as JsonObject) ?? {};
    expect(JSON.parse(String(body))).toEqual({ workflowId: 'a', input: read });
  });

  it('keeps proposals that are texts as they are written, and refuses what no body may hold', () => {
    const tools = toolsOf(routes);
    const proposal = '{"name": "a"}';
    const sent = { proposal, baseWorkflowHash: 'sha256:0' };
    const { body } = tools.get('PROPOSE_WORKFLOW_CHANGE')?.requestOf({ slug: 'a', ...sent }) ?? {};
    expect(JSON.parse(String(body))).toEqual(sent);
    const create = tools.get('COLLECTION_WORKFLOW_EXECUTION_CREATE');
    for (const [input, code] of [
      ['{"__proto__": 1}', 'forbidden_key'],
      ['{"n": 7615917337495251231}', 'number_too_long'],
    ])
      expect(() => create?.requestOf({ workflowId: 'a', input } as JsonObject)).toThrow(
        expect.objectContaining({ code }),
      );
  });

  it('takes one message a request, and has no streams and no sessions', async () => {
    const batch = await post({}, [PING, PING]);
    expect([batch.status, JSON.parse(batch.text).code]).toEqual([400, 'invalid_request']);
    for (const method of ['GET', 'DELETE']) expect((await post({}, undefined, method)).status).toBe(405);
    expect((await post({}, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    expect((await post({ 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
  });
});

/** The tool's answer, over HTTP. */
async function call(name: string, args: { [name: string]: unknown }, url = gateway.url, key?: string) {
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: key }) };
  const params = { name, arguments: args };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const answer = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
  return ((await answer.json()) as { result: { isError?: boolean; structuredContent: object } }).result;
}

describe('the tools of /mcp', () => {
  it('are those of mesh and more, with schemas that say what they mean', async () => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)) as Transport);
    const { tools } = await client.listTools();
    await client.close();
    const collection = (what: string, verbs: string[]) => verbs.map((verb) => `COLLECTION_WORKFLOW${what}_${verb}`);
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        ...collection('', ['LIST', 'GET', 'CREATE', 'UPDATE', 'DELETE']),
        ...collection('_EXECUTION', ['LIST', 'GET', 'CREATE']),
        ...['GET_STEP_RESULT', 'CANCEL_EXECUTION', 'RESUME_EXECUTION'],
      ]),
    );
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const fits = new Map(tools.map(({ name, inputSchema }) => [name, ajv.compile(inputSchema)]));
    const decide = fits.get('DECIDE_APPROVAL');
    expect(decide?.({ executionId: 'run.1', approve: true, comments: 'Fine.', idempotencyKey: 'k' })).toBe(true);
    expect(decide?.({ executionId: 'run.1' })).toBe(false);
    expect(decide?.({ executionId: 'run.1', approve: 'yes' })).toBe(false);
    expect(fits.get('GET_STEP_RESULT')?.({ executionId: 'run.1' })).toBe(false);
    expect(fits.get('COLLECTION_WORKFLOW_LIST')?.({ limit: 5 })).toBe(true);
    expect(fits.get('DRY_RUN_WORKFLOW')?.({ definition: {}, dryRun: false })).toBe(false);
  });

  it('read the manual, whose pages clients cannot fetch otherwise', async () => {
    const read = async (page: string) => {
      const { isError = false, content } = (await call('READ_MANUAL', { page })) as never as {
        isError?: boolean;
        content: { text: string }[];
      };
      return { isError, text: content.map(({ text }) => text).join() };
    };
    expect(await read('definition')).toMatchObject({
      isError: false,
      text: expect.stringMatching(/^# [\s\S]*nextSteps/),
    });
    expect((await read('approval')).text).toMatch(/^# approval[\s\S]*requesterMayApprove/);
    expect((await read('index')).text).toContain('expressions');
    for (const page of ['nothing', '../openapi', 'a/b'])
      expect(await read(page)).toMatchObject({ isError: true, text: expect.stringMatching(/^not_found: /) });
    expect(INSTRUCTIONS).toContain('READ_MANUAL');
    expect(toolsOf(routes).get('READ_MANUAL')?.tool.annotations).toMatchObject({ readOnlyHint: true });
  });

  it('are in the manual, each with its request and role', () => {
    const { markdown } = readPage('mcp-server');
    const rows = [...markdown.matchAll(/^\| `([A-Z_]+)` \| `([A-Z]+ [^`]+)`.* \| (\w+) \|$/gm)].map(
      ([, name, request, role]) => ({ name, request, role }),
    );
    const tools = [...toolsOf(routes).values()].map(({ tool }) => tool.name);
    expect(rows.map(({ name }) => name)).toEqual(tools);
    for (const { name, request, role } of rows) {
      const route = routes.find((one) => `${one.method} ${one.path.replaceAll(/:(\w+)/g, '{$1}')}` === request);
      expect(route?.role, `${name} ${request}`).toBe(role);
      expect(toolsOf(routes).get(name ?? '')?.tool.description).toContain(route?.summary);
    }
  });

  it('take the names of arguments that mesh has, and not both', () => {
    const create = toolsOf(routes).get('COLLECTION_WORKFLOW_EXECUTION_CREATE');
    const { url, body } = create?.requestOf({ workflow_collection_id: 'w', input: { n: 1 } }) ?? {};
    expect([url, JSON.parse(String(body))]).toEqual(['/api/triggers/manual/run', { workflowId: 'w', input: { n: 1 } }]);
    expect(() => create?.requestOf({ workflow_collection_id: 'w', workflowId: 'w' })).toThrow(/workflow_collection_id/);
    const get = (name: string) => toolsOf(routes).get(name)?.requestOf({ id: 'x' }).url;
    expect(get('COLLECTION_WORKFLOW_GET')).toBe('/api/workflows/x');
    expect(get('COLLECTION_WORKFLOW_EXECUTION_GET')).toBe('/api/executions/x');
  });

  it.each([
    ['an argument that is not there', 'COLLECTION_WORKFLOW_LIST', { nonsense: 1 }, 'invalid_request', '/nonsense'],
    ['a missing argument', 'COLLECTION_WORKFLOW_CREATE', {}, 'invalid_request', '/definition'],
    ['a missing name', 'COLLECTION_WORKFLOW_EXECUTION_GET', {}, 'invalid_request', '/executionId'],
    ['a name that is none', 'COLLECTION_WORKFLOW_GET', { slug: 7 }, 'invalid_request', '/slug'],
    ['half of a character', 'CANCEL_EXECUTION', { executionId: '\ud800' }, 'invalid_request', '/executionId'],
    ['a limit that is none', 'COLLECTION_WORKFLOW_LIST', { limit: 'all' }, 'invalid_request', '/limit'],
    ['a member of the body', 'DECIDE_APPROVAL', { executionId: 'r', approve: 1 }, 'invalid_request', '/approve'],
    ['a dry run that is none', 'DRY_RUN_WORKFLOW', { definition: {}, dryRun: false }, 'invalid_request', '/dryRun'],
  ])('refuse %s with its place', async (_what, name, args, code, pointer) => {
    const result = await call(name, args);
    expect(result).toMatchObject({ isError: true, structuredContent: { code, problems: [{ pointer }] } });
    expect(JSON.stringify(result)).toContain(`${pointer}: `);
  });

  it.each([
    ['COLLECTION_WORKFLOW_EXECUTION_GET', { executionId: 'counts' }],
    ['COLLECTION_WORKFLOW_GET', { slug: '../keys' }],
    ['COLLECTION_WORKFLOW_GET', { slug: '..' }],
  ])('lead to no other route: %s %o', async (name, args) => {
    expect(await call(name, args)).toMatchObject({ isError: true, structuredContent: { code: 'not_found' } });
  });

  it('check and walk definitions, as objects and as YAML', async () => {
    const definition = { name: 'Echo', steps: { done: { stepType: 'finish', config: { output: '{{ input }}' } } } };
    const walked = await call('DRY_RUN_WORKFLOW', { definition, input: { a: 1 } });
    expect(walked).toMatchObject({ structuredContent: { status: 'completed', output: { a: 1 } } });
    const yaml = 'name: Wrong\nsteps:\n  done: {stepType: finnish}\n';
    const checked = await call('VALIDATE_WORKFLOW', { definition: yaml });
    expect(checked).toMatchObject({
      structuredContent: { valid: false, problems: [{ pointer: '/steps/done/stepType' }] },
    });
  });

  it('take the name of a system for the number of its dialect', async () => {
    // By its form it would be taken for one of agent-ops.
    const definition = { name: 'Add', steps: [{ type: '', name: 'a', action: { return: true }, input: { n: 1 } }] };
    const walk = (more: JsonObject) => call('DRY_RUN_WORKFLOW', { definition, ...more });
    for (const dialect of ['mesh', '001'])
      expect(await walk({ dialect })).toMatchObject({ structuredContent: { status: 'completed', output: { n: 1 } } });
    expect(await walk({})).toMatchObject({ structuredContent: { problems: [{ pointer: '/steps/0/type' }] } });
    const unknown = await walk({ dialect: 'mash' });
    expect(unknown).toMatchObject({ isError: true, structuredContent: { problems: [{ pointer: '/dialect' }] } });
    for (const known of ['canonical', '004', 'agent-ops']) expect(JSON.stringify(unknown)).toContain(known);
  });

  it('count at their routes, for the rate limits too', async () => {
    const keyring = {
      ...NO_KEYS,
      hasKeys: async () => true,
      holderOf: async () => ({
        organizationId: 'default',
        keyId: 'viewer',
        record: keyRecord('viewer'),
        addresses: [],
      }),
    };
    const limited = await gatewayWithoutTemporal({ SIGNALBOX_RATE_KEY: '1', SIGNALBOX_RATE_KEY_BURST: '1' }, keyring);
    const definition = { name: 'None', steps: { done: { stepType: 'finish' } } };
    const check = await call('VALIDATE_WORKFLOW', { definition }, limited.url, 'Bearer viewer');
    expect(check).toMatchObject({ isError: true, structuredContent: { code: 'rate_limited' } });
    await limited.close();
  });

  it('leave one line of the log for each request, with the same id', () => {
    const lines = gateway.logged.map((line) => JSON.parse(line) as { route?: string; requestId?: string });
    const outer = lines.filter(({ route }) => route === '/mcp').map(({ requestId }) => requestId);
    const inner = lines.filter(({ route }) => route === '/api/workflows/validate');
    expect(inner.length).toBe(1);
    expect(outer).toContain(inner[0]?.requestId);
  });
});

describe('a request that the gateway makes to itself', () => {
  const app = express();
  const outer = {
    req: {
      socket: { remoteAddress: '192.0.2.7' },
      headers: { authorization: 'Bearer a', cookie: 'b', accept: 'c' },
      app,
    },
    res: { locals: { requestId: 'r1' } },
  } as unknown as { req: Request; res: Response };
  const closed: boolean[] = [];
  app.use(express.raw({ type: () => true }));
  app.post('/told', ({ ip, headers, body, query }, res) => void res.json({ ip, headers, query, body: String(body) }));
  app.get('/slow', (_req, res) => void res.once('close', () => closed.push(res.writableFinished)));

  it('has the address and the credentials of the caller, and nothing else of its request', async () => {
    const headers = { 'content-type': 'text/plain' };
    const request = { method: 'POST', url: '/told?a=1', headers, body: Buffer.from('Grüße') } as const;
    const { status, text } = await dispatchInternally(outer, request, new AbortController().signal);
    expect({ status, ...JSON.parse(text) }).toEqual({
      status: 200,
      ip: '192.0.2.7',
      headers: { ...headers, authorization: 'Bearer a', cookie: 'b', 'x-request-id': 'r1', 'content-length': '7' },
      query: { a: '1' },
      body: 'Grüße',
    });
  });

  it('ends when the caller has gone, before or during it', async () => {
    const leaving = new AbortController();
    const asked = dispatchInternally(outer, { method: 'GET', url: '/slow', headers: {} }, leaving.signal);
    leaving.abort();
    await expect(asked).rejects.toThrow('not finished');
    expect(closed).toEqual([false]);
    const late = dispatchInternally(outer, { method: 'GET', url: '/told', headers: {} }, leaving.signal);
    await expect(late).rejects.toThrow('not finished');
  });
});

// The last, since other tests count the requests of the gateway.
describe('the instructions', () => {
  it('teach by a definition that checks without a warning', async () => {
    const [written = ''] = /\{"name"[\s\S]*\}\}\}\}/.exec(INSTRUCTIONS) ?? [];
    const definition = JSON.parse(written);
    const call = async (name: string, args: object) =>
      JSON.parse(
        (await post({}, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })).text,
      ).result.structuredContent;
    expect(await call('VALIDATE_WORKFLOW', { definition })).toMatchObject({ valid: true, warnings: [] });
    const review = { data: { decision: 'approved' }, port: 'approved' };
    const walked = await call('DRY_RUN_WORKFLOW', { definition, input: { amount: 1 }, presets: { review } });
    expect(JSON.stringify(walked)).toContain('"output":"approved"');
  });
});
