import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiKeyCache } from '../../src/client/organization/api-key-cache.ts';
import { ROLES, type Role } from '../../src/contract/organization/organization.ts';
import { cli } from '../cli/terminal.ts';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal, keyRecord, NO_KEYS } from './gateway-support.ts';

/** A store with one key for each role, whose text is the role. */
const keyring: ApiKeyCache = {
  ...NO_KEYS,
  hasKeys: async () => true,
  holderOf: async (text) =>
    ROLES.some((role) => role === text)
      ? { organizationId: 'default', keyId: text, record: keyRecord(text as Role), addresses: [] }
      : undefined,
};

const EVALUATE = '/api/expressions/evaluate';
const expression = JSON.stringify({ expression: '1 + 1' });

async function ask(
  gateway: GatewayWithoutTemporal,
  path: string,
  { method = 'POST', body = expression, ...headers }: { [name: string]: string } = {},
) {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method === 'GET' ? {} : { body }),
  });
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') === true ? JSON.parse(text) : text;
  return { status: response.status, headers: response.headers, body: json };
}

describe('with keys', () => {
  let gateway: GatewayWithoutTemporal;
  beforeAll(async () => {
    gateway = await gatewayWithoutTemporal({}, keyring);
  });
  afterAll(() => gateway.close());

  it('nobody gets in without one', async () => {
    const answer = await ask(gateway, EVALUATE);
    expect(answer).toMatchObject({ status: 401, body: { code: 'key_required' } });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(await ask(gateway, EVALUATE, { authorization: 'Bearer viewer' })).toMatchObject({ body: { value: 2 } });
  });

  it.each([
    ['a key that is none', 'Bearer nobody'],
    ['another scheme', `Basic ${Buffer.from('viewer:viewer').toString('base64')}`],
    ['a JWT without a signature', `Bearer ${jwt({ alg: 'none' })}.`],
    ['a JWT signed by somebody', `Bearer ${jwt({ alg: 'HS256' })}.c2lnbmVk`],
    ['nothing', 'Bearer'],
    ['two keys', 'Bearer viewer, Bearer admin'],
  ])('refuses %s', async (_what, authorization) => {
    expect(await ask(gateway, EVALUATE, { authorization })).toMatchObject({
      status: 401,
      body: { code: 'key_invalid' },
    });
  });

  it('tells the command where it takes its key from', async () => {
    const listed = (key: string) =>
      cli(['list', 'workflows'], { env: { SIGNALBOX_PORT: new URL(gateway.url).port, SIGNALBOX_API_KEY: key } });
    for (const [key, code] of [
      ['', 'key_required'],
      ['nobody', 'key_invalid'],
    ] as const) {
      const { exit, err } = await listed(key);
      expect({ exit, err }).toEqual({ exit: 10, err: expect.stringMatching(`SIGNALBOX_API_KEY.*\\(${code}\\)`) });
    }
  });

  it('refuses before it reads a body', async () => {
    const answer = await ask(gateway, EVALUATE, { body: '{"expression": ' });
    expect(answer).toMatchObject({ status: 401 });
  });

  it('asks every route for its role, and says which', async () => {
    const answer = await ask(gateway, '/api/workflows', { authorization: 'Bearer runner', body: '{}' });
    expect(answer).toMatchObject({ status: 403, body: { code: 'role_required' } });
    expect(answer.body.detail).toContain('editor');
    expect(await ask(gateway, '/api/keys', { authorization: 'Bearer editor', method: 'GET' })).toMatchObject({
      status: 403,
    });
    expect(await ask(gateway, '/api/workflows/validate', { authorization: 'Bearer viewer', body: '{}' })).toMatchObject(
      { status: 200 },
    );
  });

  it('claims no Idempotency-Key for whoever may not do it', async () => {
    // Temporal is unavailable: a claim would fail with that.
    const keyed = { 'idempotency-key': 'fresh' };
    const refused = await ask(gateway, '/api/keys', { authorization: 'Bearer viewer', body: '{}', ...keyed });
    expect(refused).toMatchObject({ status: 403, body: { code: 'role_required' } });
    expect(await ask(gateway, '/api/anything', { authorization: 'Bearer viewer', ...keyed })).toMatchObject({
      status: 404,
    });
    expect(await ask(gateway, '/api/keys', { authorization: 'Bearer admin', body: '{}', ...keyed })).toMatchObject({
      status: 503,
    });
  });

  it('lets programs be MCP servers for other organizations only from the list of the host', async () => {
    const settings = {
      SIGNALBOX_MCP_STDIO: '1',
      SIGNALBOX_MCP_COMMANDS: '/opt/mcp/files --read-only, /opt/mcp/search *',
    };
    const ofAcme: ApiKeyCache = {
      ...keyring,
      holderOf: async (text) => {
        const holder = await keyring.holderOf(text.replace('acme-', ''));
        return holder && { ...holder, organizationId: text.startsWith('acme-') ? 'acme' : 'default' };
      },
    };
    const other = await gatewayWithoutTemporal(settings, ofAcme);
    const put = async (key: string, command: string, args: string[] = []) => {
      const body = JSON.stringify({ command, args });
      const answer = await ask(other, '/api/mcp-servers/x', { method: 'PUT', authorization: `Bearer ${key}`, body });
      return answer.body.code;
    };
    expect(await put('acme-admin', 'sh', ['-c', 'id'])).toBe('mcp_command_not_allowed');
    expect(await put('acme-admin', '/opt/mcp/files')).toBe('mcp_command_not_allowed');
    expect(await put('acme-admin', '/opt/mcp/files', ['--read-only', '/'])).toBe('mcp_command_not_allowed');
    expect(await put('acme-admin', '/opt/mcp/files', ['--read-only'])).toBe('temporal_unreachable');
    expect(await put('acme-admin', '/opt/mcp/search', ['x', 'y'])).toBe('temporal_unreachable');
    expect(await put('admin', 'sh', ['-c', 'id'])).toBe('temporal_unreachable');
    expect(await put('editor', '/opt/mcp/search')).toBe('role_required');
    await other.close();
  });

  it('asks for an editor where results are given by hand', async () => {
    const body = JSON.stringify({ workflowId: 'orders', presets: { pay: {} } });
    const answer = await ask(gateway, '/api/triggers/manual/run', { authorization: 'Bearer approver', body });
    expect(answer).toMatchObject({ status: 403, body: { code: 'role_required' } });
  });

  it('leaves open what has nothing of any organization', async () => {
    for (const path of ['/healthz', '/openapi.json', '/schema.json', '/docs'])
      expect(await ask(gateway, path, { method: 'GET' })).toMatchObject({ status: 200 });
  });

  it('answers to other names than those of this machine', async () => {
    expect(await askAs(gateway, { host: 'signalbox.example.com' })).toBe(200);
  });

  it('tells no key in its log', () => {
    expect(gateway.logged.join('')).not.toContain('nobody');
  });
});

describe('without keys', () => {
  it('a key that is shown is checked all the same', async () => {
    const gateway = await gatewayWithoutTemporal();
    expect(await ask(gateway, EVALUATE)).toMatchObject({ status: 200 });
    expect(await ask(gateway, EVALUATE, { authorization: 'Bearer revoked' })).toMatchObject({ status: 401 });
    expect(await ask(gateway, EVALUATE, { authorization: `Bearer ${jwt({ alg: 'none' })}.` })).toMatchObject({
      status: 401,
    });
    await gateway.close();
  });
});

describe('without keys, behind a proxy', () => {
  let gateway: GatewayWithoutTemporal;
  let published: GatewayWithoutTemporal;
  beforeAll(async () => {
    gateway = await gatewayWithoutTemporal();
    published = await gatewayWithoutTemporal({ SIGNALBOX_PUBLIC_URL: 'https://signalbox.example.com' });
  });
  afterAll(() => Promise.all([gateway.close(), published.close()]));

  it('nobody is taken for an admin where callers come from other machines, with any headers', async () => {
    const refused = { status: 403, body: { code: 'proxy_without_keys' } };
    for (const [method, path] of [
      ['POST', EVALUATE],
      ['GET', '/api/me'],
      ['GET', '/api/workflows'],
      ['POST', '/mcp'],
      ['POST', '/codec/decode'],
      ['POST', '/api/public/trigger/pub.x.y/orders'],
    ] as const)
      expect(await ask(published, path, { method }), path).toMatchObject(refused);
    for (const path of ['/healthz', '/docs', '/docs/access', '/openapi.json', '/schema.json'])
      expect(await ask(published, path, { method: 'GET' }), path).toMatchObject({ status: 200 });
    for (const path of ['/readyz', '/webhooks/orders', '/callbacks/none', '/approvals/none'])
      expect((await ask(published, path, { method: 'GET' })).status, path).not.toBe(403);
  });

  it.each([
    ...['forwarded', 'x-forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'via'],
    ...['cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'x-original-forwarded-for', 'fastly-client-ip'],
  ])('nobody is taken for an admin whose request has %s', async (header) => {
    for (const [method, path] of [
      ['POST', EVALUATE],
      ['GET', '/api/workflows'],
      ['GET', '/docs'],
      ['POST', '/api/public/trigger/pub.x.y/orders'],
    ] as const)
      expect(await ask(gateway, path, { method, [header]: '203.0.113.7' })).toMatchObject({
        status: 403,
        body: { code: 'proxy_without_keys' },
      });
    expect(await ask(gateway, '/healthz', { method: 'GET', [header]: '203.0.113.7' })).toMatchObject({ status: 200 });
    for (const path of ['/readyz', '/webhooks/orders', '/callbacks/none'])
      expect((await ask(gateway, path, { method: 'GET', [header]: '203.0.113.7' })).status).not.toBe(403);
  });

  it('is said at the start, and with keys nothing is wrong with it', async () => {
    expect(published.logged.join('')).toContain('SIGNALBOX_PUBLIC_URL');
    const keyed = await gatewayWithoutTemporal({ SIGNALBOX_PUBLIC_URL: 'https://signalbox.example.com' }, keyring);
    const forwarded = { authorization: 'Bearer viewer', 'x-forwarded-for': '203.0.113.7' };
    expect(await ask(keyed, EVALUATE, forwarded)).toMatchObject({ status: 200 });
    expect(keyed.logged.join('')).not.toContain('SIGNALBOX_PUBLIC_URL');
    await keyed.close();
    const here = await gatewayWithoutTemporal({ SIGNALBOX_PUBLIC_URL: 'http://localhost:8787' });
    expect(here.logged.join('')).not.toContain('SIGNALBOX_PUBLIC_URL');
    await here.close();
  });
});

describe('with the key of the environment', () => {
  const adminKey = 'k'.repeat(40);

  it('nobody gets in without a key, and it is an admin', async () => {
    const gateway = await gatewayWithoutTemporal({ SIGNALBOX_ADMIN_KEY: adminKey });
    expect(await ask(gateway, EVALUATE)).toMatchObject({ status: 401, body: { code: 'key_required' } });
    expect(await ask(gateway, EVALUATE, { authorization: `Bearer ${adminKey}x` })).toMatchObject({ status: 401 });
    expect(await ask(gateway, EVALUATE, { authorization: `Bearer ${adminKey}` })).toMatchObject({ status: 200 });
    await gateway.close();
  });

  it('the gateway serves other interfaces', async () => {
    const gateway = await gatewayWithoutTemporal({ SIGNALBOX_HOST: '0.0.0.0', SIGNALBOX_ADMIN_KEY: adminKey });
    expect(await ask(gateway, EVALUATE, { authorization: `Bearer ${adminKey}` })).toMatchObject({ status: 200 });
    expect(await ask(gateway, EVALUATE)).toMatchObject({ status: 401 });
    await gateway.close();
  });
});

it('nobody gets in from other machines when the last key is gone', async () => {
  let keys = true;
  const gateway = await gatewayWithoutTemporal(
    { SIGNALBOX_HOST: '0.0.0.0' },
    { ...keyring, hasKeys: async () => keys },
  );
  keys = false;
  expect(await ask(gateway, EVALUATE)).toMatchObject({ status: 401, body: { code: 'key_required' } });
  await gateway.close();
});

function jwt(header: object): string {
  const claims = { sub: 'admin', role: 'admin', organizationId: 'default' };
  return [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}

/** With a Host header of choice, which fetch does not allow. */
function askAs(gateway: GatewayWithoutTemporal, headers: { [name: string]: string }): Promise<number> {
  const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      `${gateway.url}${EVALUATE}`,
      { ...options, headers: { ...options.headers, authorization: 'Bearer viewer' } },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    sent.on('error', reject).end(expression);
  });
}
