import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { egressGuard } from '../../../activities/http/guarded-agent.ts';
import { type ActivitySettings, egressPolicyOf } from '../../../activities/registry.ts';
import { failure, http, LOOPBACK, serve, type TestServer } from '../server.ts';

const CLOSED: ActivitySettings = { ...LOOPBACK, httpAllow: [] };
let server: TestServer;
let other: TestServer;

beforeAll(async () => {
  other = await serve((_seen, response) => response.end('other'));
  server = await serve((seen, response) => {
    const url = new URL(seen.url, 'http://x');
    const to = url.searchParams.get('to');
    const status = Number(url.searchParams.get('status') ?? 302);
    if (url.pathname === '/loop') response.writeHead(302, { location: '/loop' }).end();
    else if (to === null) response.end('here');
    else response.writeHead(status, { location: to }).end();
  });
});
afterAll(async () => {
  await server.close();
  await other.close();
});

describe('addresses of this machine and of private networks', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://[::1]/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://10.1.2.3/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[fe80::1]/',
    'http://[fc00::1]/',
    'http://[ff02::1]/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://192.0.2.1/',
    'http://localhost/',
    'https://localhost/',
  ])('%s is refused', async (url) => {
    expect(await failure({ config: { url, timeout: 2_000 }, settings: CLOSED })).toMatchObject({
      code: 'address_not_allowed',
      nonRetryable: true,
    });
  });

  it('are not even connected to', async () => {
    let connections = 0;
    const trap = createServer(() => connections++);
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    const { port } = trap.address() as AddressInfo;
    for (const host of ['127.0.0.1', 'localhost'])
      await failure({ config: { url: `http://${host}:${port}/` }, settings: CLOSED });
    await new Promise((resolve) => trap.close(resolve));
    expect(connections).toBe(0);
  });

  it('are reached where the host allows the range', async () => {
    expect(await http({ config: { url: server.url } })).toMatchObject({ data: 'here' });
    expect(await http({ config: { url: `http://localhost:${server.port}` } })).toMatchObject({ meta: { status: 200 } });
    expect(
      await failure({ config: { url: server.url }, settings: { ...CLOSED, httpAllow: ['10.0.0.0/8'] } }),
    ).toMatchObject({ code: 'address_not_allowed' });
  });

  it('are refused at this stack’s own ports even then', async () => {
    const refused = (settings: ActivitySettings, host = '127.0.0.1') =>
      failure({ config: { url: `http://${host}:${server.port}/` }, settings }).then(({ code }) => code);
    expect(await refused({ ...LOOPBACK, ownPorts: [server.port] })).toBe('address_not_allowed');
    expect(await refused({ ...LOOPBACK, ownPorts: [server.port] }, 'localhost')).toBe('address_not_allowed');
    expect(await refused({ ...LOOPBACK, port: server.port })).toBe('address_not_allowed');
    expect(await refused({ ...LOOPBACK, temporal: { namespace: 'n', address: `localhost:${server.port}` } })).toBe(
      'address_not_allowed',
    );
  });

  it('are distinguished from public ones, whatever the address', async () => {
    const refuse = egressGuard(egressPolicyOf(CLOSED));
    const allowed = (address: string) =>
      refuse(address, 443).then(
        () => true,
        () => false,
      );
    expect(await allowed('93.184.216.34')).toBe(true);
    expect(await allowed('2606:4700::1111')).toBe(true);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('10', '127', '0', '169.254', '192.168', '224', '240'),
        fc.ipV4(),
        async (prefix, tail) => {
          const address = [...prefix.split('.'), ...tail.split('.')].slice(0, 4).join('.');
          expect(await allowed(address)).toBe(false);
          expect(await allowed(`::ffff:${address}`)).toBe(false);
        },
      ),
    );
    for (const nonsense of ['', 'localhost', '::g']) expect(await allowed(nonsense)).toBe(false);
  });
});

describe('redirects', () => {
  const to = (target: string, status = 302) => `${server.url}/go?status=${status}&to=${encodeURIComponent(target)}`;

  it('are followed', async () => {
    expect(await http({ config: { url: to('/there') } })).toMatchObject({
      meta: { status: 200, url: `${server.url}/there` },
    });
  });

  it('are followed five times at most', async () => {
    expect(await failure({ config: { url: `${server.url}/loop` } })).toMatchObject({ code: 'http_redirects' });
  });

  it('are checked like the first address', async () => {
    const settings = { ...LOOPBACK, httpAllow: ['127.0.0.1/32'] };
    for (const target of ['http://169.254.169.254/', 'http://[::1]/', 'http://127.0.0.2/'])
      expect(await failure({ config: { url: to(target) }, settings })).toMatchObject({ code: 'address_not_allowed' });
    expect(await failure({ config: { url: to('file:///etc/passwd') }, settings })).toMatchObject({
      code: 'http_redirects',
    });
  });

  it('take credentials along within the origin, and to no other', async () => {
    const config = {
      headers: {
        Authorization: 'Bearer t',
        Cookie: 'c=1',
        'X-API-Key': 'k',
        'x-harmless': '1',
        'x-own': 'secret value',
      },
      auth: { type: 'apiKey', name: 'X-Named', value: 'k' },
    };
    const secrets = [{ path: ['headers', 'x-own'], parts: [{ secret: 'S' }] }];
    const parts = { secrets: { read: async () => 'secret value' } };
    await http({ config: { ...config, url: to('/there') }, secrets, parts });
    expect(server.seen.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer t',
      'x-named': 'k',
      'x-own': 'secret value',
    });
    await http({ config: { ...config, url: to(`${other.url}/there`) }, secrets, parts });
    const { headers } = other.seen.at(-1)!;
    expect(headers['x-harmless']).toBe('1');
    for (const name of ['authorization', 'cookie', 'x-api-key', 'x-named', 'x-own'])
      expect(headers[name], name).toBeUndefined();
  });

  it('become a GET without body after 303, and keep method and body after 307', async () => {
    await http({ config: { url: to('/there', 303), body: { a: 1 } } });
    expect(server.seen.at(-1)).toMatchObject({ method: 'GET', body: '' });
    expect(server.seen.at(-1)?.headers['content-type']).toBeUndefined();
    await http({ config: { url: to('/there', 307), body: { a: 1 } } });
    expect(server.seen.at(-1)).toMatchObject({ method: 'POST', body: '{"a":1}' });
  });

  it('do not carry a body with a secret to another origin', async () => {
    const secrets = [{ path: ['body', 'token'], parts: [{ secret: 'S' }] }];
    const parts = { secrets: { read: async () => 'hunter2hunter2' } };
    const before = other.seen.length;
    expect(await failure({ config: { url: to(other.url, 307), body: { token: '' } }, secrets, parts })).toMatchObject({
      code: 'http_redirects',
    });
    expect(other.seen).toHaveLength(before);
  });

  it('are answers where the step expects them', async () => {
    expect(await http({ config: { url: to('/there'), expect: 302 } })).toMatchObject({
      meta: { status: 302, headers: { location: '/there' } },
    });
  });
});
