import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostOf } from '../../../activities/http/http.ts';
import type { SecretUse } from '../../../activities/runtime/read-secrets.ts';
import type { SecretString } from '../../../src/template/types.ts';
import { failure, http, inputOf, serve, type TestServer } from '../server.ts';
import { scrubOfTexts } from './scrub-support.ts';

const CANARY = 'c4n4ry/+ "süß" &=%';
let server: TestServer;

beforeAll(async () => {
  server = await serve((seen, response) => {
    const { pathname, searchParams } = new URL(seen.url, 'http://x');
    const told = { url: seen.url, headers: seen.headers, body: seen.body, token: searchParams.get('token') };
    response.setHeader('x-told', encodeURIComponent(searchParams.get('token') ?? ''));
    if (pathname === '/json') response.setHeader('content-type', 'application/json');
    response.statusCode = pathname === '/fail' ? 500 : 200;
    response.end(JSON.stringify(told));
  });
});
afterAll(() => server.close());

function reader(values: { readonly [name: string]: string }) {
  const uses: [string, string, SecretUse][] = [];
  return {
    uses,
    secrets: {
      read: async (organizationId: string, name: string, use: SecretUse) => {
        uses.push([organizationId, name, use]);
        const value = values[name];
        if (value === undefined)
          throw Object.assign(new Error(`There is no secret called ${name}.`), { code: 'secret_not_found' });
        return value;
      },
    },
  };
}

describe('a secret', () => {
  const secrets: SecretString[] = [
    { path: ['query', 'token'], parts: [{ secret: 'KEY' }] },
    { path: ['headers', 'x-key'], parts: ['key ', { secret: 'ASCII' }] },
    { path: ['body', 'nested', 0], parts: [{ secret: 'KEY' }] },
    { path: ['auth', 'password'], parts: [{ secret: 'KEY' }] },
  ];
  const config = {
    query: { token: '' },
    headers: { 'x-key': '' },
    body: { nested: [''] },
    auth: { type: 'basic', username: 'u', password: '' },
  };
  const values = { KEY: CANARY, ASCII: 'canary-in-header' };

  it('reaches the other side, read once, for the run’s organization, workflow and host', async () => {
    const parts = reader(values);
    await http({ config: { ...config, url: `${server.url}/json` }, secrets, parts });
    const { url, headers, body } = server.seen.at(-1)!;
    expect(new URL(url, 'http://x').searchParams.get('token')).toBe(CANARY);
    expect(headers['x-key']).toBe('key canary-in-header');
    expect(JSON.parse(body)).toEqual({ nested: [CANARY] });
    const use = { workflow: 'w', host: `127.0.0.1:${server.port}`, executionId: 'run.default.w.1' };
    expect(parts.uses).toEqual([
      ['default', 'KEY', use],
      ['default', 'ASCII', use],
    ]);
  });

  it.each(['/json', '/text'])('does not come back in the answer of %s', async (path) => {
    const result = await http({
      config: { ...config, url: server.url + path, as: 'text' },
      secrets,
      parts: reader(values),
    });
    const text = JSON.stringify(result);
    expect(text).toContain('[secret]');
    for (const shape of [
      CANARY,
      'c4n4ry',
      'canary-in-header',
      Buffer.from(`u:${CANARY}`).toString('base64').slice(8, 24),
    ])
      expect(text).not.toContain(shape);
  });

  it('does not come back in a failure', async () => {
    const failed = await failure({ config: { ...config, url: `${server.url}/fail` }, secrets, parts: reader(values) });
    expect(failed.code).toBe('http_status');
    expect(failed.whole).not.toContain('c4n4ry');
    expect(failed.whole).not.toContain('canary-in-header');
  });

  it('that is unknown is secret_not_found, and final', async () => {
    const failed = await failure({ config: { ...config, url: server.url }, secrets, parts: reader({}) });
    expect(failed).toMatchObject({ code: 'secret_not_found', nonRetryable: true });
    expect(failed.message).toContain('KEY');
  });

  it('that cannot be read now is tried again, and says nothing of why', async () => {
    const parts = { secrets: { read: () => Promise.reject(new Error(`lost ${CANARY}`)) } };
    const failed = await failure({ config: { ...config, url: server.url }, secrets, parts });
    expect(failed).toMatchObject({ code: 'secrets_unavailable', nonRetryable: false });
    expect(failed.whole).not.toContain('c4n4ry');
    expect(await failure({ config: { ...config, url: server.url }, secrets })).toMatchObject({
      code: 'secrets_unavailable',
      nonRetryable: true,
    });
  });

  it('is bound to the host of the URL, as far as that is known without it', () => {
    const host = (parts: SecretString['parts']) => hostOf(inputOf({ url: 'placeholder' }, [{ path: ['url'], parts }]));
    expect(hostOf(inputOf({ url: 'https://api.example.com/x' }))).toBe('api.example.com');
    expect(host(['https://api.example.com/', { secret: 'S' }])).toBe('api.example.com');
    expect(host(['https://api.example.com?key=', { secret: 'S' }])).toBe('api.example.com');
    expect(host([{ secret: 'S' }])).toBeUndefined();
    expect(host(['https://', { secret: 'S' }, '/x'])).toBeUndefined();
    expect(host(['https://api.example.com', { secret: 'S' }])).toBeUndefined();
    expect(host(['https://api.example.com@', { secret: 'S' }])).toBeUndefined();
    expect(host(['https://api.example.com\\', { secret: 'S' }])).toBeUndefined();
  });
});

describe('scrubbing', () => {
  it('finds a value in every shape, wherever it stands', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme' }),
        fc.string(),
        fc.string(),
        (secret, before, after) => {
          const scrub = scrubOfTexts([secret]);
          const shapes = [
            secret,
            encodeURIComponent(secret),
            new URLSearchParams({ s: secret }).toString(),
            Buffer.from(secret).toString('base64'),
            Buffer.from(secret).toString('base64url'),
            JSON.stringify(secret).slice(1, -1),
          ];
          for (const shape of shapes) expect(scrub.text(`${before}${shape}${after}`)).toContain('[secret]');
          const within = Buffer.from(`${before}${secret}${after}`).toString('base64');
          expect(scrub.text(within)).toContain('[secret]');
          expect(scrub.json({ [secret]: [secret, { a: `${before}${secret}` }] })).toMatchObject({
            '[secret]': ['[secret]', {}],
          });
        },
      ),
    );
  });

  it.each([
    ['the host of a URL', new URL('http://S3cret-One.example.com/').href, 'S3cret-One'],
    ['a URL within a URL', encodeURIComponent(new URL('http://x/a"b <c>/%').href), 'a"b <c>/%'],
    ['its path, when it is a URL', '{"url":"/services/T0/B0/xyz"}', 'https://hooks.slack.com/services/T0/B0/xyz'],
    ['what it encodes', 'ann:hunter2', `Basic ${Buffer.from('ann:hunter2').toString('base64')}`],
    ['the path of a URL', new URL('http://x/a"b <c>/{d}?e f#g h').href, 'a"b <c>/{d}?e f#g h'],
    ['JSON as PHP writes it', '{"k":"a\\/b\\u00fcc"}', 'a/büc'],
    ['JSON in ASCII', '"z\\u00fcrich/key"', 'zürich/key'],
    ['HTML', '<p>a&amp;b&lt;c&gt;&quot;d&quot;&#39;e</p>', `a&b<c>"d"'e`],
    ['HTML as others escape it', 'a&#x27;b&quot;c', `a'b"c`],
    ['hexadecimal digits', Buffer.from('hunter2').toString('hex').toUpperCase(), 'hunter2'],
  ])('finds a value in %s', (_where, text, secret) => {
    expect(scrubOfTexts([secret]).text(text)).toContain('[secret]');
  });

  it.each([
    ['itself', (text: string) => text],
    ['base64', (text: string) => Buffer.from(text).toString('base64')],
    ['hexadecimal digits', (text: string) => Buffer.from(text).toString('hex')],
  ])('leaves no half of a value at the end of a text that goes on: %s', (_form, form) => {
    const scrub = scrubOfTexts(['0123456789abcdefghij']);
    const text = `before ${form('  0123456789abcdefghij  ')} after`;
    const half = form('  0123').replace(/=+$/, '').slice(0, -1).trim();
    for (let end = 0; end <= text.length; end++) expect(scrub.beginning(text.slice(0, end))).not.toContain(half);
    expect(scrub.beginning(`${text}${'.'.repeat(200)}`)).toMatch(/^before +\[secret\] +after/);
    expect(scrubOfTexts([]).beginning('all of it')).toBe('all of it');
  });

  it('finds each line of a key in several lines', () => {
    const lines = [randomBytes(48), randomBytes(48), randomBytes(20)].map((bytes) => bytes.toString('base64'));
    const key = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
    const scrub = scrubOfTexts([key]);
    expect(scrub.text(key)).toBe('[secret]');
    expect(scrub.text(`> ${lines[1]}\n> ${lines[2]}`)).toBe('> [secret]\n> [secret]');
    expect(scrub.text(Buffer.from(`line: ${lines[0]}.`).toString('base64'))).toBe('[secret]');
    expect(scrub.text('-----BEGIN PRIVATE KEY----- is how it begins')).toBe(
      '-----BEGIN PRIVATE KEY----- is how it begins',
    );
  });

  it('leaves everything else as it is', () => {
    const scrub = scrubOfTexts(['abc', 'long enough']);
    const value = { a: ['abc', 1, null, true], b: 'xyz' };
    expect(scrub.json(value)).toEqual(value);
  });

  it('finds a value that is a number', () => {
    expect(scrubOfTexts(['123456']).json({ pin: 123456, other: 1234567 })).toEqual({
      pin: '[secret]',
      other: '[secret]',
    });
  });
});
