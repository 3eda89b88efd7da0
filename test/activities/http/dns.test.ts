/** Names instead of addresses: what the DNS answers is checked, every answer of it, and connections are kept. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ActivityOutput } from '../../../src/contract/run/activity.ts';

const lookup = vi.fn();
// Modules are shared among files: those that ask the DNS are loaded here anew, and again after this file.
vi.doMock('node:dns/promises', () => ({ lookup }));
vi.resetModules();
const { createActivities } = await import('../../../activities/registry.ts');
const { environment, failure, http, inputOf, LOOPBACK, serve } = await import('../server.ts');
afterAll(() => {
  vi.doUnmock('node:dns/promises');
  vi.resetModules();
});

const PUBLIC = '93.184.216.34';
const answers = (...addresses: string[]): void => {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  lookup.mockResolvedValue(found as never);
};

describe('a name', () => {
  beforeEach(() => lookup.mockReset());

  it.each([
    [['127.0.0.1']],
    [['169.254.169.254']],
    [['::1']],
    [['::ffff:10.0.0.1']],
    [['fd00::1']],
    // One private answer among public ones is enough: which one is taken is nobody's choice.
    [[PUBLIC, '10.0.0.1']],
    [['10.0.0.1', PUBLIC]],
  ])('that stands for %s is refused', async (addresses) => {
    answers(...addresses);
    const settings = { ...LOOPBACK, httpAllow: [] };
    for (const url of ['http://rebind.example.com/', 'https://rebind.example.com/'])
      expect(await failure({ config: { url }, settings })).toMatchObject({ code: 'address_not_allowed' });
  });

  it('is asked for anew when it redirects to itself, and answers otherwise', async () => {
    const server = await serve((_seen, response) =>
      response.writeHead(302, { location: `http://other.example.com:${server.port}/` }).end(),
    );
    lookup.mockImplementation((async (name: string) => [
      { address: name === 'one.example.com' ? '127.0.0.1' : '169.254.169.254', family: 4 },
    ]) as never);
    expect(await failure({ config: { url: `http://one.example.com:${server.port}/` } })).toMatchObject({
      code: 'address_not_allowed',
    });
    expect(server.seen).toHaveLength(1);
    await server.close();
  });

  it('is tried at its next address when one does not answer', async () => {
    const server = await serve((_seen, response) => response.end('"here"'));
    answers('127.0.0.2', '127.0.0.1');
    expect(await http({ config: { url: `http://two.example.com:${server.port}/`, as: 'json' } })).toMatchObject({
      data: 'here',
    });
    expect(server.seen[0]?.headers['host']).toBe(`two.example.com:${server.port}`);
    await server.close();
  });

  it('that has no address is http_connect, and tried again', async () => {
    answers();
    expect(await failure({ config: { url: 'http://gone.example.com/' } })).toMatchObject({
      code: 'http_connect',
      nonRetryable: false,
    });
  });
});

describe('connections', () => {
  it('are used again', async () => {
    let connections = 0;
    const server = createServer((_request, response) => response.end('1'));
    server.on('connection', () => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const activity = createActivities(LOOPBACK)['http']!;
    for (let i = 0; i < 5; i++) {
      const { data }: ActivityOutput = await environment().run(
        activity,
        inputOf({ url: `http://127.0.0.1:${port}/${i}`, as: 'json' }),
      );
      expect(data).toBe(1);
    }
    expect(connections).toBeLessThan(3);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
