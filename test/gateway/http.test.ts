import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { startGateway } from '../../src/gateway/serve.ts';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal, NO_KEYS } from './gateway-support.ts';

let gateway: GatewayWithoutTemporal;
beforeAll(async () => {
  gateway = await gatewayWithoutTemporal();
});
afterAll(() => gateway.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const EVALUATE = '/api/expressions/evaluate';

async function ask(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = JSON_TYPE,
  { url } = gateway,
) {
  const response = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** With a Host header of choice, which fetch does not allow. */
function askAs(headers: Record<string, string>, path = '/healthz'): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${gateway.url}${path}`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject).end();
  });
}

/** What is answered to bytes that are sent as they are. */
function sent(text: string, then: (answer: string) => string | undefined = () => undefined): Promise<string> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.on('data', (chunk) => {
      answer += String(chunk);
      const more = then(answer);
      if (more !== undefined) socket.write(more);
    });
    socket.on('error', reject).on('close', () => resolve(answer));
  });
}

/** The head of a request that announces a body of so many bytes. */
const announced = (path: string, length: number, more: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${length}\r\n${more}\r\n`;

describe('what no route sees', () => {
  it.each([
    ['an address of 20 KB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, 'headers_too_large'],
    ['no HTTP', 'HELLO\r\n\r\n', 400, 'invalid_request'],
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'invalid_request'],
    ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n', 400, 'invalid_request'],
    ['HTTP/2.0', 'GET /healthz HTTP/2.0\r\nHost: localhost\r\n\r\n', 400, 'invalid_request'],
    ['HTTP/0.9', 'GET /healthz HTTP/0.9\r\nHost: localhost\r\n\r\n', 400, 'invalid_request'],
    [
      'an Expect that is not known',
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: other\r\n\r\n',
      417,
      'expectation_failed',
    ],
    [
      'an Expect with more than is known',
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue, other\r\n\r\n',
      417,
      'expectation_failed',
    ],
    [
      'a body that is announced as too large',
      announced(EVALUATE, 999_999_999, 'Expect: 100-continue\r\nConnection: close\r\n'),
      413,
      'body_too_large',
    ],
    [
      'a compressed body that is announced as too large',
      announced(EVALUATE, 999_999_999, 'Expect: 100-continue\r\nContent-Encoding: gzip\r\nConnection: close\r\n'),
      413,
      'body_too_large',
    ],
  ])('is answered with a problem too: %s', async (_what, text, status, code) => {
    const [head = '', body = ''] = (await sent(text)).split('\r\n\r\n');
    expect(head).toContain(`HTTP/1.1 ${status} `);
    expect(head).toContain('application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ status, code });
  });

  it('asks for a body that waits to be asked for, once its sender may send it', async () => {
    const body = '{"expression":"1 + 1"}';
    const close = 'Connection: close\r\n';
    const waiting = announced(EVALUATE, body.length, `Expect: 100-continue\r\n${close}`);
    const told: string[] = (
      await sent(waiting, (answer) => (answer.includes('100 Continue') ? body : undefined))
    ).split('\r\n\r\n');
    expect(told[0]).toBe('HTTP/1.1 100 Continue');
    expect(told[1]).toContain('HTTP/1.1 200 ');
    expect(JSON.parse(told[2] ?? '')).toMatchObject({ value: 2 });
    const refused = await sent(announced(EVALUATE, body.length, `Expect: 100-continue\r\nAuthorization: x\r\n`));
    expect(refused).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('serves HTTP/1.0, which needs no Host and knows no Expect', async () => {
    expect(await sent('GET /docs HTTP/1.0\r\nExpect: other\r\nHost: localhost\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await sent('GET /webhooks HTTP/1.0\r\n\r\n')).not.toContain('invalid_request');
  });
});

describe('what is refused at the door', () => {
  const expression = (more = '') => `{"expression":"1 + 1"${more}}`;

  it.each([
    ['malformed JSON', '{"expression": ', 400, 'invalid_json'],
    ['an unknown member', expression(',"organizationId":"other"'), 400, 'invalid_request'],
    ['nesting over 200', expression(`,"context":${'{"a":'.repeat(250)}1${'}'.repeat(250)}`), 400, 'too_deep'],
    ['a million brackets', '['.repeat(1_000_000), 400, 'too_deep'],
    ['the key __proto__', expression(',"context":{"a":{"__proto__":{"x":1}}}'), 400, 'forbidden_key'],
    ['the key constructor', expression(',"context":{"constructor":1}'), 400, 'forbidden_key'],
    ['a number beyond all doubles', expression(',"context":{"a":1e400}'), 400, 'number_too_long'],
    ['a NUL in a key', expression(',"context":{"a\\u0000b":1}'), 400, 'invalid_name'],
    ['half a surrogate pair in a key', expression(',"context":{"\\ud800":1}'), 400, 'invalid_name'],
    ['a body over 2 MB', expression(`,"context":{"a":"${'x'.repeat(2_100_000)}"}`), 413, 'body_too_large'],
  ])('refuses %s', async (_what, body, status, code) => {
    const answer = await ask('POST', EVALUATE, body);
    expect(answer).toMatchObject({ status, body: { status, code } });
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.body.detail).toMatch(/\.$/);
  });

  it.each(['state[__proto__]=1', 'constructor=1', 'a%5B__proto__%5D%5Bx%5D=1'])(
    'refuses the query %s',
    async (query) => {
      const answer = await ask('GET', `/api/workflows?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'forbidden_key' } });
    },
  );

  it('says where a number stands that would be rounded', async () => {
    const { status, body } = await ask('POST', EVALUATE, expression(',"context":{"a":[1,7615917337495251231]}'));
    expect({ status, problems: body.problems, detail: body.detail }).toEqual({
      status: 400,
      problems: [expect.objectContaining({ code: 'number_too_long', pointer: '/context/a/1' })],
      detail:
        'The number would be rounded, since it is beyond 2^53. Send it as a text. ' +
        'It is at /context/a/1 (at character 40).',
    });
    const kept = expression(',"context":{"a":1152921504606847000}').replace('1 + 1', 'a');
    expect(await ask('POST', EVALUATE, kept)).toMatchObject({ status: 200, body: { value: 2 ** 60 } });
  });

  it('refuses bytes that are no UTF-8', async () => {
    const answer = await ask('POST', EVALUATE, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]));
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(50_000_000, ' '))],
    ['br', brotliCompressSync(Buffer.alloc(20_000_000, ' '))],
  ])('stops a %s bomb at the size that comes out', async (encoding, bomb) => {
    expect(bomb.length).toBeLessThan(100_000);
    const answer = await ask('POST', EVALUATE, bomb, { ...JSON_TYPE, 'content-encoding': encoding });
    expect(answer).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  });

  it('reads a compressed body', async () => {
    const answer = await ask('POST', EVALUATE, gzipSync(expression()), { ...JSON_TYPE, 'content-encoding': 'gzip' });
    expect(answer).toMatchObject({ status: 200, body: { value: 2 } });
  });

  it('refuses other content types and encodings', async () => {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'application/json; charset=utf-16' },
    ]) {
      expect(await ask('POST', EVALUATE, expression(), headers)).toMatchObject({
        status: 415,
        body: { code: 'unsupported_media_type' },
      });
    }
    expect(await ask('POST', EVALUATE, expression(), { ...JSON_TYPE, 'content-encoding': 'zip' })).toMatchObject({
      status: 415,
    });
    expect(await ask('PUT', '/api/workflows/x', 'a: 1', { 'content-type': 'text/html' })).toMatchObject({
      status: 415,
    });
  });

  it('refuses unknown and damaged parameters', async () => {
    for (const path of [
      '/api/workflows?x=1',
      '/api/executions?limit=0',
      '/api/executions?limit=1001',
      '/api/executions?status=odd',
      '/api/executions?started[after]=1',
      '/api/executions?constructor=1',
      '/api/executions/x/result?wait=61',
      '/api/approvals?status=approved',
      '/api/executions/%00',
      '/api/executions/%E0%A4%A',
      '/api/executions?cursor=forged',
    ]) {
      const answer = await ask('GET', path);
      expect({ path, status: answer.status }).toEqual({ path, status: 400 });
    }
  });

  it('takes no missing body for an empty one, where a body is needed', async () => {
    for (const [method, path] of [
      ['PUT', '/api/limits/user'],
      ['POST', '/codec/encode'],
      ['POST', '/codec/decode'],
      ['PATCH', '/api/workflows/refund'],
      ['PATCH', '/api/triggers/x'],
      ['PATCH', '/api/recordings/x'],
    ] as const) {
      const answer = await ask(method, path, undefined, {});
      const detail = 'The request has no body, and needs one. Send JSON.';
      expect({ path, ...answer }).toMatchObject({ path, status: 400, body: { code: 'invalid_request', detail } });
    }
  });

  it('says which methods an address has that means two things', async () => {
    for (const [path, allow] of [
      ['/api/workflows/sync', 'GET, PUT, POST, PATCH, DELETE, HEAD, OPTIONS'],
      ['/api/workflows/sync-all', 'GET, PUT, POST, PATCH, DELETE, HEAD, OPTIONS'],
      ['/api/workflows/validate', 'GET, PUT, POST, PATCH, DELETE, HEAD, OPTIONS'],
      ['/api/workflows/graph', 'GET, PUT, POST, PATCH, DELETE, HEAD, OPTIONS'],
      ['/api/workflows/refund', 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS'],
      ['/api/executions/bulk', 'GET, POST, HEAD, OPTIONS'],
    ] as const) {
      const options = await ask('OPTIONS', path);
      expect([path, options.status, options.headers.get('allow')]).toEqual([path, 204, allow]);
    }
    const refused = await ask('DELETE', '/api/executions/bulk');
    expect(refused).toMatchObject({ status: 405, body: { detail: expect.stringContaining('GET, POST, HEAD') } });
  });

  it('knows 404 and 405', async () => {
    expect(await ask('GET', '/nothing')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await ask('GET', '/api/workflows/Not_A_Slug')).toMatchObject({ status: 404 });
    const answer = await ask('PATCH', '/api/workflows');
    expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(answer.headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS');
    expect(await ask('GET', '/api/secrets/x')).toMatchObject({ status: 405 });
  });

  it('names what is wrong with a definition, with pointers', async () => {
    const text = 'name: a\nslug: a\nsteps: {a: {stepType: trigger}}\nsteps: {}\n';
    expect(await ask('POST', '/api/workflows', text, { 'content-type': 'application/yaml' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_yaml' },
    });
    expect(await ask('POST', '/api/workflows', '{"name":')).toMatchObject({
      status: 400,
      body: { code: 'invalid_json' },
    });
    const steps = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`s${i}`, { stepType: 'set' }]));
    const many = await ask('POST', '/api/workflows', JSON.stringify({ name: 'a', slug: 'a', steps }));
    expect(many).toMatchObject({ status: 422, body: { problems: [{ code: 'too_many_steps', pointer: '/steps' }] } });
    const large = await ask(
      'POST',
      '/api/workflows',
      JSON.stringify({ name: 'a', slug: 'a', description: 'x'.repeat(1_100_000), steps: {} }),
    );
    expect(large).toMatchObject({ status: 422, body: { problems: [{ code: 'definition_too_large' }] } });
    const wrong = async (steps: object, flow = 'ports') =>
      (await ask('POST', '/api/workflows', JSON.stringify({ name: 'a', slug: 'a', flow, steps }))).body;
    const needing = (step: string) => ({ stepType: 'set', config: { values: {} }, dependsOn: [step] });
    expect(await wrong({ a: needing('b'), b: needing('a') }, 'dag')).toMatchObject({
      status: 422,
      problems: [{ code: 'circular_dependency', pointer: '/steps/a' }],
    });
    const begin = { stepType: 'trigger', nextSteps: { nowhere: 'done' } };
    expect(await wrong({ begin, done: { stepType: 'finish' } })).toMatchObject({
      status: 422,
      problems: [{ code: 'unknown_port', pointer: '/steps/begin/nextSteps/nowhere' }],
    });
    const renamed = await ask(
      'PUT',
      '/api/workflows/b',
      JSON.stringify({ name: 'a', slug: 'a', steps: { a: { stepType: 'trigger' } } }),
    );
    expect(renamed).toMatchObject({ status: 422, body: { problems: [{ code: 'slug_mismatch', pointer: '/slug' }] } });
  });

  it('answers to names of this machine only, and to no other origin', async () => {
    expect(await askAs({ host: 'localhost:1234' })).toBe(200);
    expect(await askAs({ host: 'rebound.example.com' })).toBe(403);
    expect(await askAs({ host: '127.0.0.1.example.com' })).toBe(403);
    const host = new URL(gateway.url).host;
    expect(await askAs({ origin: `http://${host}` })).toBe(200);
    for (const origin of ['https://example.com', 'null', `http://${host}.example.com`, 'http://127.0.0.1:1']) {
      expect(await askAs({ origin })).toBe(403);
    }
  });

  it('serves no other interface without keys', async () => {
    const config = readConfig({ SIGNALBOX_HOST: '0.0.0.0', SIGNALBOX_PORT: '0' });
    const temporal = { client: undefined as never, namespace: 'none' };
    const started = startGateway(config, { temporal, keyring: NO_KEYS });
    await expect(started).rejects.toMatchObject({ code: 'keys_required' });
  });
});

describe('while Temporal is unavailable', () => {
  it('answers 503 with Retry-After, and stays alive itself', async () => {
    const refused = await gatewayWithoutTemporal({}, NO_KEYS, {}, true);
    const get = (path: string) => ask('GET', path, undefined, JSON_TYPE, refused);
    const answers = await Promise.all([get('/api/workflows'), get('/api/executions/run.default.a.b'), get('/readyz')]);
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'temporal_unreachable' } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await get('/healthz')).toMatchObject({ status: 200 });
    await refused.close();
  });
});

describe('logs', () => {
  it('hold route, status and request id, and nothing that was sent', async () => {
    const answer = await ask('POST', '/api/expressions/evaluate?token=canary-1', '{"expression":"canary-2"}', {
      ...JSON_TYPE,
      'x-request-id': 'mine-17',
      authorization: 'Bearer canary-3',
    });
    expect(answer.headers.get('x-request-id')).toBe('mine-17');
    await expect.poll(() => gateway.logged.join('')).toContain('"requestId":"mine-17"');
    const lines = gateway.logged.join('');
    expect(lines).toContain('"route":"/api/expressions/evaluate"');
    expect(lines).not.toMatch(/canary/);
  });
});
