// The proxy in front of Temporal's Web UI: what it passes on, and what a page of another origin sends.
import { createServer, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimPort, PORTS_CLOSED_TO_BROWSERS } from '../../src/cli/start/ports.ts';
import { serveUi } from '../../src/cli/start/ui-proxy.ts';
import { serve, type TestServer } from '../activities/server.ts';

const HOST = '127.0.0.1';
const PROXIED = 'https://temporal.example.com';

let ui: TestServer;
let port: number;
let keys: boolean | Error = false;
let end: () => Promise<void>;
beforeAll(async () => {
  ui = await serve((seen, response) => {
    response.setHeader('set-cookie', '_csrf=1; SameSite=Strict');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method: seen.method, url: seen.url, body: seen.body }));
  });
  const claimed = await claimPort(HOST);
  claimed.release();
  port = claimed.port;
  const isClosed = async () => {
    if (keys instanceof Error) throw keys;
    return keys;
  };
  const serverPort = Number(new URL(ui.url).port);
  const served = await serveUi({ host: HOST, port, serverPort, origins: [PROXIED], isClosed });
  end = served.close;
});
afterAll(async () => {
  await end();
  await ui.close();
});

type Sent = { method?: string; path?: string; headers?: { [name: string]: string }; body?: string };

const ask = ({ method = 'GET', path = '/', headers = {}, body }: Sent) =>
  new Promise<{ status: number | undefined; text: string; cookie: string[] | undefined }>((resolve, reject) => {
    const sent = request({ host: HOST, port, method, path, headers, setHost: headers['host'] === undefined });
    sent.on('error', reject).on('response', (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += String(chunk);
      });
      response.on('end', () => resolve({ status: response.statusCode, text, cookie: response.headers['set-cookie'] }));
    });
    sent.end(body);
  });

describe("the proxy of Temporal's Web UI", () => {
  it('passes on what its own pages ask, with body and cookies', async () => {
    const own = `http://localhost:${port}`;
    const headers = { host: `localhost:${port}`, origin: own, 'sec-fetch-site': 'same-origin' };
    const answer = await ask({ method: 'POST', path: '/api/v1/x?y=1', headers, body: '{"a":1}' });
    expect(answer).toMatchObject({ status: 200, cookie: ['_csrf=1; SameSite=Strict'] });
    expect(JSON.parse(answer.text)).toEqual({ method: 'POST', url: '/api/v1/x?y=1', body: '{"a":1}' });
  });

  it.each([
    ['no browser', {}],
    ['an address that is typed', { 'sec-fetch-site': 'none' }],
    [
      'a link of another site',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    ],
    ['a proxy under a named origin', { host: new URL(PROXIED).host, 'x-forwarded-for': '10.1.2.3' }],
    ['a page of that origin', { origin: PROXIED, host: new URL(PROXIED).host, 'sec-fetch-site': 'same-origin' }],
  ])('answers %s', async (_what, headers) => {
    expect((await ask({ headers: headers as Sent['headers'] & object })).status).toBe(200);
  });

  it.each([
    ['a page whose name leads here', { host: 'evil.example:8233' }],
    ['its writes', { host: 'evil.example:8233', origin: 'http://evil.example:8233' }],
    ['a name that begins like one of this machine', { host: '127.0.0.1.evil.example' }],
    ['a page of another site', { origin: 'http://evil.example' }],
    ['a page at another port', { origin: 'http://127.0.0.1:1' }],
    ['a page without an origin', { origin: 'null' }],
    ['an image of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
    [
      'a frame of another page',
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    ],
    ['a proxy that nothing names', { 'x-forwarded-for': '10.1.2.3' }],
  ])('refuses %s', async (_what, headers) => {
    for (const method of ['GET', 'POST']) {
      const answer = await ask({ method, headers: headers as Sent['headers'] & object });
      expect(answer.status).toBe(403);
      expect(answer.text).not.toContain('method');
    }
  });

  it('refuses an address of another host in the request line', async () => {
    expect((await ask({ path: 'http://evil.example/' })).status).toBe(403);
  });

  it('is closed as soon as there are keys, and names the setting', async () => {
    expect((await ask({})).status).toBe(200);
    keys = true;
    expect(await ask({})).toMatchObject({ status: 403, text: expect.stringContaining('SIGNALBOX_UI=1') });
    keys = new Error('unknown');
    expect((await ask({})).status).toBe(503);
    keys = false;
    expect((await ask({})).status).toBe(200);
  });

  it('answers 502 while its server is unavailable', async () => {
    const claimed = await claimPort(HOST);
    claimed.release();
    const gone = await serveUi({
      host: HOST,
      port: claimed.port,
      serverPort: 1,
      origins: [],
      isClosed: async () => false,
    });
    const { status } = await new Promise<{ status: number | undefined }>((resolve) => {
      request({ host: HOST, port: claimed.port }, ({ statusCode }) => resolve({ status: statusCode })).end();
    });
    expect(status).toBe(502);
    await gone.close();
  });

  it('refuses to begin where its port is taken', async () => {
    const isClosed = async () => false;
    await expect(serveUi({ host: HOST, port, serverPort: 1, origins: [], isClosed })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  // Node's fetch keeps to the list of the standard, as browsers do.
  it.each(PORTS_CLOSED_TO_BROWSERS)(
    'has its server behind port %i, to which browsers do not connect',
    async (closed) => {
      const other = createServer((_request, response) => response.end());
      await new Promise<void>((resolve) => other.once('error', () => resolve()).listen(closed, HOST, resolve));
      const refused = await fetch(`http://${HOST}:${closed}`).catch((error: Error) => error);
      expect(refused).toMatchObject({ cause: { message: 'bad port' } });
      other.close();
    },
  );
});
