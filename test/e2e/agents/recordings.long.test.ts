// The official MCP client records calls to a real MCP server, and what it recorded becomes a workflow.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type ShopServer, shopServer } from '../../activities/shop-server.ts';
import { type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const ADMIN_KEY = 'an-admin-of-the-environment-for-recordings-0123456789';
const SHOP_KEY = 'canary-of-the-shop-0123456789';
const ORG = unique('recorders');
let gateway: TestGateway;
let shop: ShopServer;
const keys: { [role: string]: string } = {};
const clients: Client[] = [];

async function connected(url: string, role = 'editor'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${keys[role]}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }) as Transport);
  clients.push(client);
  return client;
}

const as = (role: string) => ({ authorization: `Bearer ${keys[role]}` });

beforeAll(async () => {
  shop = await shopServer();
  gateway = await testGateway({ SIGNALBOX_ADMIN_KEY: ADMIN_KEY, SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
  const post = (path: string, json: Json, headers = {}) => gateway.request('POST', path, { json, headers });
  for (const role of ['admin', 'viewer', 'editor']) {
    const { body } = await post('/api/keys', { name: unique(role), user: role, role, organization: ORG });
    keys[role] = body.key;
  }
  const put = (path: string, json: Json) => gateway.request('PUT', path, { json, headers: as('admin') });
  await put('/api/secrets/shop', { value: SHOP_KEY });
  const { status } = await put('/api/mcp-servers/shop', { url: shop.url, headers: { 'x-key': '{{ secrets.shop }}' } });
  expect(status).toBe(201);
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await gateway.close();
  await shop.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape.
type Told = { isError: boolean; body: any; text: string; step: string };

async function ask(client: Client, name: string, args: { [name: string]: unknown } = {}, key?: string): Promise<Told> {
  const _meta = key === undefined ? {} : { _meta: { 'signalbox/idempotencyKey': key } };
  const answer = await client.callTool({ name, arguments: args, ..._meta });
  const content = answer.content as { type: string; text?: string }[];
  const text = content.map((part) => part.text ?? part.type).join('\n');
  const step = String(answer._meta?.['signalbox/step'] ?? '');
  return { isError: answer.isError === true, body: answer.structuredContent, text, step };
}

async function told(client: Client, name: string, args: { [name: string]: unknown } = {}): Promise<Told['body']> {
  const { isError, body, text } = await ask(client, name, args);
  expect(isError, `${name}: ${text}`).toBe(false);
  return body;
}

/** A recording with a client that is connected to it. */
async function recording(more: { [name: string]: Json } = {}) {
  const json = { name: 'Refund', ...more };
  const { body, status } = await gateway.request('POST', '/api/recordings', { json, headers: as('editor') });
  expect(status, JSON.stringify(body)).toBe(201);
  return { id: body.id as string, url: body.mcpUrl as string, client: await connected(body.mcpUrl) };
}

const get = (path: string, role = 'viewer') => gateway.request('GET', path, { headers: as(role) });

describe('an MCP client', () => {
  it('is refused references to nobody within a text, and nothing is called', async () => {
    const { id, client } = await recording();
    const before = shop.calls.length;
    expect(await ask(client, 'refund', { order: 'x @list_orders_1[0].no', cents: 1, note: '' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('unknown_reference: "@list_orders_1" within a text refers to no step'),
    });
    const step = { action: { toolName: 'refund', server: 'shop' }, input: { note: 'x @nope_1' } };
    const added = await gateway.request('POST', `/api/recordings/${id}/steps`, { json: step, headers: as('editor') });
    expect(added).toMatchObject({ status: 422, body: { problems: [{ pointer: '/step/input/note' }] } });
    expect(await ask(client, 'refund', { order: 'A-1', cents: 1, note: 'ask @bob' })).toMatchObject({ isError: false });
    expect(shop.calls.slice(before)).toEqual(['refund {"order":"A-1","cents":1,"note":"ask @bob"}']);
  });

  it('gets images and other content as such, also where a tool answers nothing else', async () => {
    const { id, client } = await recording();
    const answer = await client.callTool({ name: 'picture', arguments: {} });
    expect(answer.content).toEqual([
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'shop://42', text: 'forty-two' } },
      { type: 'text', text: expect.stringContaining('@picture_1') },
    ]);
    expect((await get(`/api/recordings/${id}/steps/picture_1`)).body.output).toHaveLength(2);
    const listed = await client.callTool({ name: 'list_pictures', arguments: {} });
    expect(listed.content).toMatchObject([{ type: 'text', text: '[{"type":"image","url":"shop://42"}]' }, {}]);
  });

  it('records calls with references, confirms literals, saves, and replays with other input', async () => {
    const workflows = await connected(`${gateway.url}/mcp`);
    const begun = await told(workflows, 'RECORDING_CREATE', { name: 'Refund', input: { email: 'ann@example.org' } });
    const recordingId = begun.id;
    const agent = await connected(begun.mcpUrl);
    expect(agent.getInstructions()).toContain('@get_user_1.id');
    const { tools } = await agent.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'catalogue',
      'get_user',
      'list_orders',
      'list_pictures',
      'picture',
      'refund',
    ]);
    const { properties } = tools.find(({ name }) => name === 'list_orders')?.inputSchema ?? {};
    expect(properties).toMatchObject({ userId: { anyOf: [{ type: 'number' }, { type: 'string', pattern: '^@' }] } });

    const user = await ask(agent, 'get_user', { email: '@input.email' });
    expect(user).toMatchObject({ isError: false, step: 'get_user_1', body: { id: 42, name: 'Ann' } });
    expect(user.text).toContain('@get_user_1');
    expect(await ask(agent, 'get_user', { email: 'nobody@example.org' })).toMatchObject({
      isError: true,
      step: 'get_user_2',
      text: expect.stringContaining('There is no user nobody@example.org.'),
    });
    const orders = await ask(agent, 'list_orders', { userId: '@get_user_1.id' });
    expect(orders).toMatchObject({ isError: false, step: 'list_orders_1' });
    // A reference, a literal that is one, and a text that holds a value.
    const refund = { order: '@list_orders_1[0].no', cents: 1250, note: 'For Ann, who asked.' };
    const refunded = await ask(agent, 'refund', refund);
    expect(refunded).toMatchObject({ isError: false, step: 'refund_1' });
    expect(refunded.text).toContain('Refunded 1250 cents of A-4711: For Ann, who asked.\nimage\n');
    expect(shop.calls.slice(-4)).toEqual([
      'get_user {"email":"ann@example.org"}',
      'get_user {"email":"nobody@example.org"}',
      'list_orders {"userId":42}',
      'refund {"order":"A-4711","cents":1250,"note":"For Ann, who asked."}',
    ]);

    const { items } = await told(workflows, 'RECORDING_SUGGEST_REFERENCES', { recordingId });
    expect(items).toMatchObject([
      { step: 'refund_1', pointer: '/cents', written: '@list_orders_1[0].cents' },
      { step: 'refund_1', pointer: '/note', written: 'For @get_user_1.name, who asked.', form: 'within' },
    ]);
    const confirmed = items.map(({ step, pointer, reference }: { [name: string]: string }) => ({
      step,
      pointer,
      reference,
    }));
    expect(await told(workflows, 'RECORDING_CONFIRM_REFERENCES', { recordingId, items: confirmed })).toEqual({
      confirmed: 2,
    });
    const view = await told(workflows, 'RECORDING_GET', { recordingId });
    expect(view.recorded.map(({ name, status }: { [name: string]: string }) => [name, status])).toEqual([
      ['get_user_1', 'completed'],
      ['get_user_2', 'failed'],
      ['list_orders_1', 'completed'],
      ['refund_1', 'completed'],
    ]);
    expect(view.recorded[3]).toMatchObject({ by: 'editor', step: { input: { order: '@list_orders_1[0].no' } } });

    const slug = unique('refund');
    expect(await told(workflows, 'RECORDING_SAVE', { recordingId, slug })).toMatchObject({ slug, warnings: [] });
    const stored = await told(workflows, 'COLLECTION_WORKFLOW_GET', { slug });
    expect(Object.keys(stored.definition.steps)).toEqual(['get_user_1', 'list_orders_1', 'refund_1']);
    expect((await told(workflows, 'RECORDING_GET', { recordingId })).saved).toMatchObject({ slug });

    // The saved definition, with the input of somebody else.
    const replay = { recordingId, of: 'saved', input: { email: 'bob@example.org' } };
    const { executionId } = await told(workflows, 'RECORDING_REPLAY', replay);
    const ended = await told(workflows, 'GET_EXECUTION_RESULT', { executionId, wait: 30 });
    expect(ended, JSON.stringify(ended)).toMatchObject({
      status: 'completed',
      output: 'Refunded 300 cents of B-9001: For Bob, who asked.',
    });
    // A dry run calls nothing: recorded outputs stand in.
    const before = shop.calls.length;
    const dry = await told(workflows, 'RECORDING_REPLAY', { recordingId, dryRun: true });
    expect(dry).toMatchObject({ status: 'completed', output: 'Refunded 1250 cents of A-4711: For Ann, who asked.' });
    expect(shop.calls.length).toBe(before);
    // The recording itself, with one step that is not run.
    const partly = await told(workflows, 'RECORDING_REPLAY', { recordingId, presets: ['refund_1'] });
    await told(workflows, 'GET_EXECUTION_RESULT', { executionId: partly.executionId, wait: 30 });
    expect(shop.calls.slice(before).map((call) => call.split(' ')[0])).toEqual(['get_user', 'list_orders']);

    await told(workflows, 'RECORDING_DELETE', { recordingId });
    expect(await ask(workflows, 'RECORDING_GET', { recordingId })).toMatchObject({ body: { code: 'not_found' } });
    expect(await ask(workflows, 'COLLECTION_WORKFLOW_GET', { slug })).toMatchObject({ isError: false });
  }, 60_000);

  it('sends the secrets of a server, and records none', async () => {
    const { id, client } = await recording();
    await ask(client, 'get_user', { email: 'ann@example.org' });
    expect([...shop.keys]).toEqual([SHOP_KEY]);
    const { text: history } = await historyOf(`recording.${ORG}.${id}`);
    expect(history).not.toContain(SHOP_KEY);
    expect((await historyOf(`recorded-call.${ORG}.${id}.get_user_1`)).text).not.toContain(SHOP_KEY);
    expect(JSON.stringify((await get(`/api/recordings/${id}`)).body)).not.toContain(SHOP_KEY);
  });

  it('calls once with one key, also at the same time, and is refused with other arguments', async () => {
    const { id, client } = await recording();
    const args = { email: 'bob@example.org' };
    const before = shop.calls.length;
    const answers = await Promise.all([1, 2, 3].map(() => ask(client, 'get_user', args, 'once')));
    expect(answers.map(({ step }) => step)).toEqual(['get_user_1', 'get_user_1', 'get_user_1']);
    expect(shop.calls.length - before).toBe(1);
    const other = await ask(client, 'get_user', { email: 'ann@example.org' }, 'once');
    expect(other).toMatchObject({ isError: true, body: { code: 'idempotency_conflict' } });
    const headers = { ...as('editor'), 'idempotency-key': unique('k') };
    const json = { toolName: 'shop/get_user', input: args };
    const twice = await Promise.all(
      [1, 2].map(() => gateway.request('POST', `/api/recordings/${id}/calls`, { json, headers })),
    );
    expect(twice.map(({ status, body }) => [status, body.name])).toEqual([
      [201, 'get_user_2'],
      [201, 'get_user_2'],
    ]);
  });
});

async function historyOf(workflowId: string): Promise<{ text: string }> {
  const { events } = await gateway.server.client.workflow.getHandle(workflowId).fetchHistory();
  const bytes: string[] = [];
  const visit = (value: unknown): void => {
    if (value instanceof Uint8Array) bytes.push(Buffer.from(value).toString('utf8'));
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
    else bytes.push(String(value));
  };
  visit(events);
  return { text: bytes.join('\n') };
}

describe('a recording refuses', () => {
  it.each<[string, string, { [name: string]: unknown }, string]>([
    ['a reference to no step', 'get_user', { email: '@nobody_1.email' }, 'unknown_reference'],
    ['a missing member', 'get_user', { email: '@input.mail' }, 'unresolved_reference'],
    ['a large input', 'get_user', { email: 'x'.repeat(250_000) }, 'payload_too_large'],
  ])('%s, and records nothing', async (_what, tool, args, code) => {
    const { id, client } = await recording({ input: { email: 'ann@example.org' } });
    const refused = await ask(client, tool, args);
    expect(refused).toMatchObject({ isError: true, body: { code } });
    expect((await get(`/api/recordings/${id}`)).body).toMatchObject({ steps: 0, recorded: [] });
  });

  it('unknown tools, and large results, which are failures of the step', async () => {
    const { id, client } = await recording();
    await expect(client.callTool({ name: 'get_users', arguments: {} })).rejects.toThrow(/No MCP server.*get_users/);
    expect(await ask(client, 'catalogue')).toMatchObject({
      isError: true,
      text: expect.stringContaining('result_too_large'),
    });
    const after = await ask(client, 'get_user', { email: '@catalogue_1' });
    expect(after).toMatchObject({ isError: true, body: { code: 'unresolved_reference' } });
    const saved = await gateway.request('POST', `/api/recordings/${id}/save`, { json: {}, headers: as('editor') });
    expect(saved).toMatchObject({ status: 422, body: { code: 'invalid_definition' } });
  });

  it('viewers, other organizations, and everybody after its time', async () => {
    const { id, url } = await recording({ idleMs: 1_000 });
    await expect(connected(url, 'viewer')).rejects.toMatchObject({ code: 403 });
    expect(await get(`/api/recordings/${id}`)).toMatchObject({ status: 200 });
    const admin = await gateway.request('GET', `/api/recordings/${id}`);
    expect(admin).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const foreign = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${ADMIN_KEY}` } };
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
    await expect(foreign.connect(transport as Transport)).rejects.toMatchObject({ code: 404 });
    await expect.poll(async () => (await get(`/api/recordings/${id}`)).status).toBe(410);
    await expect(connected(url)).rejects.toMatchObject({ code: 410 });
    const late = { json: { toolName: 'get_user' }, headers: as('editor') };
    expect(await gateway.request('POST', `/api/recordings/${id}/calls`, late)).toMatchObject({ status: 410 });
  }, 60_000);
});

describe('steps by hand', () => {
  it('are added, get outputs, and are removed; failed calls are saved where that is asked for', async () => {
    const { id, client } = await recording({ input: { email: 'ann@example.org' } });
    const send = (method: string, path: string, json?: Json) =>
      gateway.request(method, `/api/recordings/${id}${path}`, {
        headers: as('editor'),
        ...(json === undefined ? {} : { json }),
      });
    const code = 'export default function (input) { return { total: input.cents * 2 }; }';
    const step = { name: 'twice', action: { code }, input: { cents: 5 } };
    expect(await send('POST', '/steps', step)).toMatchObject({ status: 201, body: { name: 'twice' } });
    expect(await send('POST', '/steps', step)).toMatchObject({ status: 409, body: { code: 'step_exists' } });
    expect(await ask(client, 'list_orders', { userId: '@twice.total' })).toMatchObject({
      body: { code: 'unresolved_reference' },
    });
    expect(await send('PUT', '/steps/twice/output', { output: { total: 42 } })).toMatchObject({
      body: { status: 'completed', isPreset: true },
    });
    expect(await ask(client, 'list_orders', { userId: '@twice.total' })).toMatchObject({ step: 'list_orders_1' });
    expect(await send('DELETE', '/steps/twice')).toMatchObject({
      status: 409,
      body: { code: 'step_in_use', steps: ['list_orders_1'] },
    });
    await ask(client, 'get_user', { email: 'nobody@example.org' });
    const names = async (query = '') =>
      (await get(`/api/recordings/${id}/definition${query}`)).body.definition.steps.map(
        ({ name }: { name: string }) => name,
      );
    expect(await names()).toEqual(['twice', 'list_orders_1']);
    expect(await names('?includeFailed=true')).toEqual(['twice', 'list_orders_1', 'get_user_1']);
    expect((await send('DELETE', '/steps/get_user_1')).status).toBe(204);
    expect((await send('DELETE', '/steps/list_orders_1')).status).toBe(204);
    expect((await send('DELETE', '/steps/twice')).status).toBe(204);
    const list = await gateway.request('GET', '/api/recordings', { headers: as('viewer') });
    expect(list.body.items.map((one: { id: string }) => one.id)).toContain(id);
  });
});

describe('two servers with the same tools', () => {
  it('are distinguished by the names of tools, and keep to the bounds of their secrets', async () => {
    const put = (path: string, json: Json) => gateway.request('PUT', path, { json, headers: as('admin') });
    // Its tools may be listed, and not called by recordings.
    await put('/api/secrets/bound', { value: 'another-canary-0123456789', allowedWorkflows: ['mcp-tools'] });
    await put('/api/mcp-servers/branch', { url: shop.url, headers: { 'x-key': '{{ secrets.bound }}' } });
    const { client } = await recording();
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('shop_get_user');
    expect(names).toContain('branch_get_user');
    const args = { email: 'ann@example.org' };
    expect(await ask(client, 'shop_get_user', args)).toMatchObject({ isError: false, step: 'get_user_1' });
    expect(await ask(client, 'branch_get_user', args)).toMatchObject({
      isError: true,
      text: expect.stringContaining('secret_not_allowed'),
    });
    expect(await ask(client, 'get_user', args)).toMatchObject({ isError: true, body: { code: 'ambiguous_tool' } });
    await gateway.request('DELETE', '/api/mcp-servers/branch', { headers: as('admin') });
  });
});
