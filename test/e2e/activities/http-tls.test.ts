import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Definition } from '../../../src/definition/document/types.ts';
import { AUTHORITY, CERTIFICATE, KEY } from '../../activities/certificates.ts';
import { type ForkedWorker, forkWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { startRun } from '../runs/run-support.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-tls-'));
let other: Server;
let port: number;
let requests = 0;
let server: TestServer;
let worker: ForkedWorker;

beforeAll(async () => {
  other = createServer({ cert: CERTIFICATE, key: KEY }, (_request, response) => {
    requests++;
    response.setHeader('content-type', 'application/json').end('{"ok":true}');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  port = (other.address() as AddressInfo).port;
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, AUTHORITY);
  server = await testServer({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
  worker = await forkWorker(server, { NODE_EXTRA_CA_CERTS: authority });
});
afterAll(async () => {
  await worker.end();
  await server.close();
  await new Promise((resolve) => {
    other.close(resolve);
    other.closeAllConnections();
  });
  rmSync(folder, { recursive: true, force: true });
});

const get = (host: string): Definition => ({
  name: 'Secure',
  slug: 'secure',
  steps: { get: { stepType: 'http', config: { url: `https://${host}:${port}/` }, retry: { maxAttempts: 3 } } },
});

describe('a worker that trusts an authority by NODE_EXTRA_CA_CERTS', () => {
  it('calls a server that the authority vouches for', async () => {
    expect(await (await startRun(server, get('localhost'))).result()).toEqual({ ok: true });
    expect(requests).toBe(1);
  });

  it('does not call it by a name that the certificate does not have, and asks once only', async () => {
    const handle = await startRun(server, get('127.0.0.1'));
    await expect(handle.result()).rejects.toMatchObject({
      cause: {
        type: 'certificate_not_trusted',
        details: [{ attempts: 1, details: { reason: 'ERR_TLS_CERT_ALTNAME_INVALID' } }],
      },
    });
    expect(requests).toBe(1);
  });
});
