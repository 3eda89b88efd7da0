// An untrusted certificate. Node reads trusted authorities at its start, so test/e2e/activities/http-tls.test.ts tests
// trusted ones.
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CERTIFICATE, KEY } from '../certificates.ts';
import { failure, serve } from '../server.ts';

let server: Server;
let requests = 0;
let port: number;

beforeAll(async () => {
  server = createServer({ cert: CERTIFICATE, key: KEY }, (_request, response) => {
    requests++;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

describe('https', () => {
  it.each(['localhost', '127.0.0.1'])(
    'to %s is refused for good where the certificate is not trusted',
    async (host) => {
      const failed = await failure({
        config: { url: `https://${host}:${port}/`, auth: { type: 'bearer', token: 't' } },
      });
      expect(failed).toMatchObject({
        code: 'certificate_not_trusted',
        nonRetryable: true,
        message: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
        details: { retryable: false, details: { reason: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' } },
      });
      expect(requests).toBe(0);
    },
  );

  it('to what speaks no TLS is no answer', async () => {
    const plain = await serve((_seen, response) => response.end());
    const failed = await failure({ config: { url: `https://localhost:${plain.port}/` } });
    await plain.close();
    expect(failed).toMatchObject({ code: 'http_connect', nonRetryable: false });
  });
});
