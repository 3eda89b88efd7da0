// What operators read where no connection to Temporal comes about.
import { createServer } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { certificateFindings } from '../../src/client/doctor/certificates.ts';
import { examine } from '../../src/client/doctor/examine.ts';
import { probeAddress } from '../../src/client/temporal/tls-probe.ts';
import { readConfig } from '../../src/config/config.ts';
import { AUTHORITY, CERTIFICATE, EXPIRED, EXPIRED_KEY, KEY } from '../activities/certificates.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: Server): Promise<string> {
  servers.push(server);
  server.on('error', () => undefined).on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return `localhost:${(server.address() as AddressInfo).port}`;
}
const secure = (options: TlsOptions = {}): Promise<string> =>
  listening(
    createTlsServer({ cert: CERTIFICATE, key: KEY, ALPNProtocols: ['h2'], ...options }, (socket) => {
      socket.on('error', () => undefined);
    }),
  );
const plain = (): Promise<string> => listening(createServer());

const authority = Buffer.from(AUTHORITY);
const pair = (crt: string, key: string) => ({ crt: Buffer.from(crt), key: Buffer.from(key) });
const trusting = { serverRootCACertificate: authority };
const demanding = { requestCert: true, rejectUnauthorized: true, ca: AUTHORITY };

it.each([
  ['TLS, where none is configured', () => secure(), {}, 'set TEMPORAL_TLS=true'],
  ['TLS with client certificates, where none is configured', () => secure(demanding), {}, 'set TEMPORAL_TLS=true'],
  ['no TLS', plain, { tls: true }, 'does not speak TLS'],
  ['no TLS, where an API key implies it', plain, { apiKey: 'a-key' }, 'TEMPORAL_API_KEY, which implies it'],
  ['an unknown authority', () => secure(), { tls: true }, 'set TEMPORAL_TLS_SERVER_CA_CERT_PATH'],
  [
    'another authority',
    () => secure(),
    { tls: { serverRootCACertificate: Buffer.from(EXPIRED) } },
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH names another one',
  ],
  [
    'an expired certificate',
    () => secure({ cert: EXPIRED, key: EXPIRED_KEY }),
    { tls: { serverRootCACertificate: Buffer.from(EXPIRED) } },
    'has expired',
  ],
  [
    'another name',
    () => secure(),
    { tls: { ...trusting, serverNameOverride: 'temporal.example' } },
    'set TEMPORAL_TLS_SERVER_NAME',
  ],
  [
    'a certificate demanded by TLS 1.3',
    () => secure(demanding),
    { tls: trusting },
    'set TEMPORAL_TLS_CLIENT_CERT_PATH and',
  ],
  [
    'a certificate demanded by TLS 1.2',
    () => secure({ ...demanding, maxVersion: 'TLSv1.2' }),
    { tls: trusting },
    'demands a client certificate',
  ],
  [
    'a client certificate that has expired',
    () => secure(demanding),
    { tls: { ...trusting, clientCertPair: pair(EXPIRED, EXPIRED_KEY) } },
    '(TEMPORAL_TLS_CLIENT_CERT_PATH) has expired: 2021-01-01T00:00:00.000Z',
  ],
  [
    'a client certificate of another authority',
    () => secure({ ...demanding, ca: EXPIRED }),
    { tls: { ...trusting, clientCertPair: pair(CERTIFICATE, KEY) } },
    'refuses the client certificate (TEMPORAL_TLS_CLIENT_CERT_PATH): ',
  ],
  [
    'a key of another certificate',
    () => secure(),
    { tls: { ...trusting, clientCertPair: pair(CERTIFICATE, EXPIRED_KEY) } },
    'cannot be read',
  ],
] as const)('names %s', async (_what, serve, settings, text) => {
  const address = await serve();
  expect((await probeAddress(address, settings)).fault).toContain(text);
});

it('names a port where nobody listens, and a name without address', async () => {
  const server = createTcpServer();
  const address = await listening(server);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect((await probeAddress(address, {})).fault).toBe(`Nobody listens at ${address} (ECONNREFUSED).`);
  expect((await probeAddress(address, { tls: true })).fault).toContain('Nobody listens');
  expect((await probeAddress('nowhere.invalid:7233', {})).fault).toContain('has no address');
});

it('finds no fault where the server trusts the client and the client the server', async () => {
  // The certificate is one for servers: a server that demands one of clients would refuse it.
  const address = await secure({ requestCert: true, rejectUnauthorized: false });
  const tls = { ...trusting, clientCertPair: pair(CERTIFICATE, KEY) };
  const end = new Date('2120-01-01T00:00:00Z');
  expect(await probeAddress(address, { tls })).toEqual({ serverUntil: end, clientUntil: end });
  expect(await probeAddress(await plain(), {})).toEqual({});
});

it('reports to doctor when certificates expire, and warns three weeks before', async () => {
  const address = await secure({ requestCert: true, rejectUnauthorized: false });
  const tls = { ...trusting, clientCertPair: pair(CERTIFICATE, KEY) };
  const temporal = { address, namespace: 'n', tls };
  const levels = async (at: string) =>
    (await certificateFindings({ temporal }, Date.parse(at))).map(({ level, text }) => [level, text]);
  expect(await levels('2119-12-10T00:00:00Z')).toEqual([
    ['ok', 'The certificate of Temporal is valid until 2120-01-01.'],
    ['ok', 'The client certificate (TEMPORAL_TLS_CLIENT_CERT_PATH) is valid until 2120-01-01.'],
  ]);
  expect(await levels('2119-12-11T12:00:00Z')).toEqual([
    ['warning', expect.stringContaining('ends in 20 days, on 2120-01-01')],
    ['warning', expect.stringContaining('ends in 20 days, on 2120-01-01')],
  ]);
  expect(await certificateFindings({ temporal: { namespace: 'n', address: await plain() } })).toEqual([]);
});

it('is what doctor says', async () => {
  const findings = await examine(readConfig({ TEMPORAL_ADDRESS: await secure() }));
  expect(findings).toEqual([
    expect.objectContaining({ level: 'blocks', text: expect.stringContaining('set TEMPORAL_TLS=true') }),
  ]);
});
