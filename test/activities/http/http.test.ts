import { gzipSync } from 'node:zlib';
import { CancelledFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { environment, failure, http, serve, type TestServer } from '../server.ts';

let server: TestServer;
const last = () => server.seen.at(-1)!;

beforeAll(async () => {
  server = await serve((seen, response) => {
    const url = new URL(seen.url, 'http://x');
    const status = Number(url.searchParams.get('status') ?? 200);
    switch (url.pathname) {
      case '/json':
        response.writeHead(status, { 'content-type': 'application/problem+json; charset=utf-8' }).end('{"ok":[1]}');
        return;
      case '/not-json':
        response.writeHead(200, { 'content-type': 'application/json' }).end('<html>');
        return;
      case '/infinite':
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":[1e400]}');
        return;
      case '/text':
        response
          .writeHead(status, { 'content-type': 'text/plain', 'retry-after': url.searchParams.get('after') ?? '' })
          .end('hello');
        return;
      case '/latin':
        response.writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' }).end(Buffer.from([0xe9]));
        return;
      case '/encoded':
        response
          .writeHead(200, { 'content-type': url.searchParams.get('type') ?? '' })
          .end(Buffer.from(url.searchParams.get('hex') ?? '', 'hex'));
        return;
      case '/to-utf8':
        response.socket?.end(
          Buffer.from(`HTTP/1.1 302 Found\r\nlocation: /json?caf\u00e9=ü\r\ncontent-length: 0\r\n\r\n`),
        );
        return;
      case '/bytes':
        response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([1, 2, 255]));
        return;
      case '/empty':
        response.writeHead(204).end();
        return;
      case '/deep':
        response.writeHead(200, { 'content-type': 'application/json' }).end('['.repeat(5_000) + ']'.repeat(5_000));
        return;
      case '/gzip':
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync('{"zip":1}'));
        return;
      case '/no-gzip':
        response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end();
        return;
      case '/bomb':
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(20_000_000)));
        return;
      case '/broken-gzip':
        response.writeHead(status, { 'content-encoding': 'gzip' }).end('not gzip');
        return;
      case '/broken-brotli':
        response.writeHead(status, { 'content-encoding': 'br' }).end('not brotli');
        return;
      case '/zstd':
        response.writeHead(status, { 'content-encoding': 'zstd' }).end('zstd');
        return;
      case '/misnamed':
        response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'utf-8' }).end('Grüezi');
        return;
      case '/untyped':
        response.writeHead(200).end(url.searchParams.get('bytes') === null ? 'Grüezi' : Buffer.from([1, 255]));
        return;
      case '/page':
        response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Wrong</h1>');
        return;
      case '/endless': {
        response.writeHead(200, { 'content-type': 'text/plain' });
        const more = () => response.write('x'.repeat(65_536), (error) => error ?? setImmediate(more));
        more();
        return;
      }
      case '/controls':
        // Six bytes each, as JSON writes them.
        response.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.alloc(400_000, 1));
        return;
      case '/cut':
        response.writeHead(200, { 'content-length': 100 });
        response.write('half', () => response.destroy());
        return;
      case '/slow':
        response.writeHead(200);
        response.write('.');
        return;
      default:
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(seen.body));
    }
  });
});
afterAll(() => server.close());

describe('a request', () => {
  it('has its method, query, headers and JSON body, and the visit’s idempotency key', async () => {
    await http({
      config: {
        method: 'PUT',
        url: `${server.url}/orders?a=1`,
        query: { b: [2, 'zwei'], c: true, left: null },
        headers: { 'X-Trace': 7, 'user-agent': null },
        body: { cents: 5 },
      },
    });
    expect(last()).toMatchObject({ method: 'PUT', url: '/orders?a=1&b=2&b=zwei&c=true', body: '{"cents":5}' });
    expect(last().headers).toMatchObject({
      'x-trace': '7',
      'content-type': 'application/json',
      'idempotency-key': 'run.default.w.1/pay#2',
    });
    expect(last().headers['user-agent']).toBeUndefined();
  });

  it.each([
    ['plain text', undefined, 'text/plain; charset=utf-8', 'plain text'],
    [{ a: 1, b: ['x y', null] }, 'form', 'application/x-www-form-urlencoded', 'a=1&b=x+y'],
    ['aGVsbG8=', 'base64', 'application/octet-stream', 'hello'],
    ['a', 'json', 'application/json', '"a"'],
    [null, undefined, 'application/json', 'null'],
  ])('sends %j as %s', async (body, bodyAs, type, sent) => {
    await http({ config: { url: server.url, body, ...(bodyAs === undefined ? {} : { bodyAs }) } });
    expect(last()).toMatchObject({ method: 'POST', body: sent, headers: { 'content-type': type } });
  });

  it('keeps an idempotency key and a content type that the step sets', async () => {
    await http({
      config: {
        url: server.url,
        headers: { 'Idempotency-Key': 'mine', 'Content-Type': 'application/x-www-form-urlencoded' },
        body: { a: 1 },
      },
    });
    expect(last()).toMatchObject({ body: 'a=1', headers: { 'idempotency-key': 'mine' } });
  });

  it.each([
    [{ type: 'bearer', token: 't' }, 'authorization', 'Bearer t'],
    [{ type: 'basic', username: 'u', password: 'p' }, 'authorization', 'Basic dTpw'],
    [{ type: 'apiKey', value: 'k' }, 'x-api-key', 'k'],
    [{ type: 'apiKey', name: 'X-Key', value: 'k', in: 'header' }, 'x-key', 'k'],
  ])('authenticates with %j', async (auth, header, value) => {
    await http({ config: { url: server.url, auth } });
    expect(last().headers[header]).toBe(value);
  });

  it('authenticates with a key in the query', async () => {
    await http({ config: { url: server.url, auth: { type: 'apiKey', name: 'key', value: 'k', in: 'query' } } });
    expect(last().url).toBe('/?key=k');
  });

  it.each([
    ['url', { url: 'ftp://a.example' }],
    ['url', { url: 'nowhere' }],
    ['url', { url: 'http://user:hunter2@127.0.0.1/' }],
    ['method', { method: 'CONNECT' }],
    ['query', { query: 'a=hunter2' }],
    ['headers.host', { headers: { host: 'hunter2' } }],
    ['headers.Transfer-Encoding', { headers: { 'Transfer-Encoding': 'hunter2' } }],
    ['headers.x', { headers: { x: 'hunter2\r\nEvil: 1' } }],
    ['headers.a b', { headers: { 'a b': 'hunter2' } }],
    ['auth.type', { auth: { type: 'digest', token: 'hunter2' } }],
    ['auth.token', { auth: { type: 'bearer', token: null } }],
    ['body', { body: 'hunter2!', bodyAs: 'base64' }],
    ['body', { body: 'hunter2', bodyAs: 'form' }],
    ['expect', { expect: 'hunter2' }],
    ['timeout', { timeout: 0 }],
    ['maxBytes', { maxBytes: 30_000_000 }],
    ['as', { as: 'xml' }],
  ])('is refused for its %s, without repeating the value: %j', async (member, config) => {
    const failed = await failure({ config: { url: server.url, ...config } });
    expect(failed).toMatchObject({ code: 'invalid_config', nonRetryable: true });
    expect(failed.message).toContain(`config.${member} `);
    expect(failed.whole).not.toContain('hunter2');
  });
});

describe('an answer', () => {
  it.each([
    ['/json', undefined, { ok: [1] }],
    ['/json', 'text', '{"ok":[1]}'],
    ['/text', undefined, 'hello'],
    ['/text', 'base64', 'aGVsbG8='],
    ['/latin', undefined, 'é'],
    ['/bytes', undefined, 'AQL/'],
    ['/empty', undefined, null],
    ['/empty', 'json', null],
    ['/gzip', undefined, { zip: 1 }],
  ])('%s as %s is read', async (path, as, data) => {
    const result = await http({ config: { url: server.url + path, ...(as === undefined ? {} : { as }) } });
    expect(result.data).toEqual(data);
  });

  const hex = (text: string) => Buffer.from(text, 'latin1').toString('hex');
  const declared = (text: string) => hex(`${text}\x93a\x94 \xe9`);
  it.each([
    ['text/plain; charset=windows-1252', '80209361942092992096', '€ “a” ’™ –'],
    ['text/plain; charset=iso-8859-1', '80', '€'],
    ['text/plain; charset=latin1', '9f', 'Ÿ'],
    ['text/plain; charset="us-ascii"', '8d81', '\u008d\u0081'],
    ['text/plain; charset=iso-8859-15', 'a4', '€'],
    ['text/plain; charset=unknown', 'c3a9', 'é'],
    ['text/xml', declared('<?xml version="1.0" encoding="windows-1252"?>'), '“a” é'],
    ['application/atom+xml', declared("<?xml version='1.0' encoding='ISO-8859-1'?>"), '“a” é'],
    ['text/html', declared('<html><meta charset=windows-1252>'), '“a” é'],
    ['text/html', declared('<meta http-equiv=Content-Type content="text/html; charset=iso-8859-1">'), '“a” é'],
    ['text/html; charset=utf-8', `${hex('<meta charset=latin1>')}c3a9`, 'é'],
    ['text/html', `efbbbf${hex('<meta charset=latin1>')}c3a9`, 'é'],
    ['text/xml', `${hex('<?xml version="1.0" encoding="utf-16"?>')}c3a9`, 'é'],
    ['text/xml', `fffe${Buffer.from('<a>é</a>', 'utf16le').toString('hex')}`, '<a>é</a>'],
    ['text/plain', `${hex('<meta charset=latin1>')}c3a9`, 'é'],
  ])('of the type %s is decoded: %s', async (type, bytes, text) => {
    const query = new URLSearchParams({ type, hex: bytes });
    const { data } = await http({ config: { url: `${server.url}/encoded?${query}` } });
    expect((data as string).slice(-text.length)).toBe(text);
  });

  it('that redirects to an address in UTF-8 leads there', async () => {
    expect((await http({ config: { url: `${server.url}/to-utf8` } })).data).toEqual({ ok: [1] });
    expect(last().url).toBe('/json?caf%C3%A9=%C3%BC');
  });

  it.each([
    ['HEAD', '/gzip'],
    ['GET', '/no-gzip'],
    ['GET', '/no-gzip?status=204'],
  ])('without a body is null, whatever it says of its encoding: %s %s', async (method, path) => {
    const { data, meta } = await http({ config: { method, url: server.url + path } });
    expect({ data, meta }).toMatchObject({ data: null, meta: { headers: { 'content-encoding': 'gzip' } } });
  });

  it('comes with status, headers and URL', async () => {
    const { meta } = await http({ config: { url: `${server.url}/text?status=201` } });
    expect(meta).toMatchObject({
      status: 201,
      url: `${server.url}/text?status=201`,
      headers: { 'content-type': 'text/plain' },
    });
  });

  it('without a content type is text where it is UTF-8, and bytes elsewhere', async () => {
    expect(await http({ config: { url: `${server.url}/untyped` } })).toMatchObject({ data: 'Grüezi' });
    expect(await http({ config: { url: `${server.url}/untyped?bytes` } })).toMatchObject({ data: 'Af8=' });
  });

  it('is what it is where the content encoding names no compression, or there is no content', async () => {
    expect(await http({ config: { url: `${server.url}/misnamed` } })).toMatchObject({ data: 'Grüezi' });
    expect(await http({ config: { method: 'HEAD', url: `${server.url}/zstd` } })).toMatchObject({ data: null });
  });

  it.each(['/broken-gzip', '/broken-brotli', '/zstd'])('%s, which cannot be inflated, is http_body', async (path) => {
    expect(await failure({ config: { url: server.url + path } })).toMatchObject({
      code: 'http_body',
      nonRetryable: true,
      message: expect.stringContaining('content-encoding'),
    });
    // Its status is reported first.
    expect(await failure({ config: { url: `${server.url + path}?status=503` } })).toMatchObject({
      code: 'http_status',
      nonRetryable: false,
    });
  });

  it('that is no JSON where it should be is http_body, and shows how it begins', async () => {
    expect(await failure({ config: { url: `${server.url}/not-json` } })).toMatchObject({
      code: 'http_body',
      nonRetryable: true,
      message: expect.stringContaining('begins with: <html>'),
      details: { details: { status: 200, body: '<html>' } },
    });
    expect(await failure({ config: { url: `${server.url}/text`, as: 'json' } })).toMatchObject({ code: 'http_body' });
  });

  it('that holds a number beyond all doubles is http_body, and says where', async () => {
    expect(await failure({ config: { url: `${server.url}/infinite` } })).toMatchObject({
      code: 'http_body',
      nonRetryable: true,
      message: expect.stringContaining('at /a/0. Set as:'),
    });
    expect(await http({ config: { url: `${server.url}/infinite`, as: 'text' } })).toMatchObject({
      data: '{"a":[1e400]}',
    });
  });

  it.each(['/endless', '/bomb'])('%s is response_too_large, and is not read on', async (path) => {
    const failed = await failure({ config: { url: server.url + path, maxBytes: 100_000 } });
    expect(failed).toMatchObject({
      code: 'response_too_large',
      nonRetryable: true,
      details: { details: { limit: 100_000 } },
    });
  });

  it('that is too large once encoded is result_too_large, with size and limit', async () => {
    expect(await failure({ config: { url: `${server.url}/controls` } })).toMatchObject({
      code: 'result_too_large',
      nonRetryable: true,
      details: { details: { limit: 1_900_000 } },
    });
  });

  it('that nests too deep is result_too_deep', async () => {
    expect(await failure({ config: { url: `${server.url}/deep` } })).toMatchObject({
      code: 'result_too_deep',
      nonRetryable: true,
    });
  });
});

describe('a failure', () => {
  it.each([
    [400, true],
    [404, true],
    [408, false],
    [425, false],
    [429, false],
    [500, false],
    [503, false],
  ])('status %i is http_status; final: %s', async (status, nonRetryable) => {
    expect(await failure({ config: { url: `${server.url}/json?status=${status}` } })).toMatchObject({
      code: 'http_status',
      nonRetryable,
      details: { retryable: !nonRetryable, attempts: 2, details: { status, body: { ok: [1] } } },
    });
  });

  it('says in its message what the server says, but no page', async () => {
    const message = async (path: string) => (await failure({ config: { url: server.url + path } })).message;
    expect(await message('/json?status=422')).toBe(`The response status was 422: {"ok":[1]}`);
    expect(await message('/text?status=422')).toBe('The response status was 422: hello');
    expect(await message('/page?status=422')).toBe('The response status was 422.');
  });

  it('shows no half of a secret where what was read of the answer ends', async () => {
    const key = 'k0'.repeat(100);
    const echo = await serve((_seen, response) => response.writeHead(403).end(key.repeat(1_000)));
    const secrets = [{ path: ['headers', 'x-key'], parts: [{ secret: 'k' }] }];
    const config = { url: echo.url, headers: { 'x-key': null } };
    const { details, message } = await failure({ config, secrets, parts: { secrets: { read: async () => key } } });
    await echo.close();
    const { body } = details.details as { body: string };
    expect(body).toMatch(/^(\[secret\]){100}/);
    expect(body).not.toContain('k0');
    expect(message).toContain('[secret]');
    expect(message).not.toContain('k0');
  });

  it.each([
    [404, 404],
    ['4xx', 404],
    [['200-299', 418], 418],
  ])('is none where the step expects %j', async (expected, status) => {
    expect(await http({ config: { url: `${server.url}/json?status=${status}`, expect: expected } })).toMatchObject({
      meta: { status },
    });
  });

  it('is one where the step expects another status', async () => {
    expect(await failure({ config: { url: `${server.url}/json`, expect: 201 } })).toMatchObject({
      code: 'http_status',
    });
  });

  it('is tried again when Retry-After says so', async () => {
    const delay = async (value: string) =>
      (await failure({ config: { url: `${server.url}/text?status=429&after=${encodeURIComponent(value)}` } }))
        .nextRetryDelay;
    expect(await delay('7')).toBe(7_000);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 15) });
    expect(await delay('Thu, 15 Jan 2026 00:01:00 GMT')).toBe(60_000);
    vi.useRealTimers();
    expect(await delay('nonsense')).toBeUndefined();
    expect(await delay('99999999')).toBe(86_400_000);
  });

  it('of the connection is http_connect, and tried again', async () => {
    const gone = await serve(() => undefined);
    await gone.close();
    expect(await failure({ config: { url: gone.url } })).toMatchObject({ code: 'http_connect', nonRetryable: false });
    expect(await failure({ config: { url: `${server.url}/cut` } })).toMatchObject({
      code: 'http_connect',
      nonRetryable: false,
      message: expect.stringContaining('was interrupted'),
    });
    expect(await failure({ config: { url: 'http://does-not-exist.invalid/' } })).toMatchObject({
      code: 'http_connect',
    });
  });

  it('is http_timeout when the answer does not end before the timeout', async () => {
    expect(await failure({ config: { url: `${server.url}/slow`, timeout: 100 } })).toMatchObject({
      code: 'http_timeout',
      nonRetryable: false,
    });
  });

  it('is a cancellation when the activity is cancelled', async () => {
    const cancelled = environment();
    const before = server.seen.length;
    const running = http({ config: { url: `${server.url}/slow` }, environment: cancelled });
    const ended = expect(running).rejects.toBeInstanceOf(CancelledFailure);
    await expect.poll(() => server.seen.length).toBe(before + 1);
    cancelled.cancel();
    await ended;
  });
});
