// What the gateway serves of the console, from a folder as Vite builds it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal, NO_KEYS } from './gateway-support.ts';

const SCRIPT = `console.log(${JSON.stringify('signalbox '.repeat(400))})\n`;
const folder = mkdtempSync(join(tmpdir(), 'signalbox-console-'));
mkdirSync(join(folder, 'assets'));
writeFileSync(join(folder, 'index.html'), '<meta name="csp-nonce" content="__NONCE__"><i>__NONCE__</i>');
writeFileSync(join(folder, 'secret.txt'), 'not an asset');
writeFileSync(join(folder, 'assets', 'index-a1b2.js'), SCRIPT);
writeFileSync(join(folder, 'assets', 'index-a1b2.css'), 'a{}');
writeFileSync(join(folder, 'assets', 'logo-c3d4.png'), Buffer.from([0x89, 0x50, 0xff]));

let gateway: GatewayWithoutTemporal;
beforeAll(async () => {
  gateway = await gatewayWithoutTemporal({}, { ...NO_KEYS, hasKeys: async () => true }, {}, false, {
    consoleDir: folder,
  });
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, { headers, redirect: 'manual' });

/** As it is on the wire: fetch would decompress it. */
const raw = (path: string, encoding: string, method = 'GET') =>
  new Promise<{ headers: NodeJS.Dict<string | string[]>; bytes: Buffer }>((resolve, reject) => {
    const asked = request(`${gateway.url}${path}`, { method, headers: { 'accept-encoding': encoding } }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => resolve({ headers: answer.headers, bytes: Buffer.concat(parts) }));
    });
    asked.on('error', reject).end();
  });

describe('the page', () => {
  it('is at every address of the console, without a key, under a strict policy with a nonce of its own', async () => {
    const nonces = new Set<string>();
    for (const path of [
      '/console',
      '/console/',
      '/console/runs?status=failed',
      '/console/runs/run.default.x?step=a%2Fb',
    ]) {
      const answer = await get(path);
      expect(answer.status, path).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const policy = answer.headers.get('content-security-policy') ?? '';
      const [, nonce = ''] = /'nonce-([A-Za-z0-9+/]{24})'/.exec(policy) ?? [];
      expect(policy).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
          "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
          "require-trusted-types-for 'script'",
      );
      expect(await answer.text()).toBe(`<meta name="csp-nonce" content="${nonce}"><i>${nonce}</i>`);
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(4);
  });

  it('is where browsers are led to; a program gets a problem', async () => {
    const led = await get('/', { accept: 'text/html,*/*;q=0.8' });
    expect([led.status, led.headers.get('location')]).toEqual([302, '/console']);
    const problem = await get('/', { accept: 'application/json' });
    expect(problem.headers.get('content-type')).toContain('application/problem+json');
  });

  it('is only read', async () => {
    const answer = await fetch(`${gateway.url}/console/runs`, { method: 'POST' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

describe('its files', () => {
  it('never change, and are sent compressed as the browser takes them', async () => {
    const path = '/console/assets/index-a1b2.js';
    const brotli = await raw(path, 'gzip, deflate, br');
    expect(brotli.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    });
    expect(brotliDecompressSync(brotli.bytes).toString()).toBe(SCRIPT);
    const gzip = await raw(path, 'gzip');
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.bytes).toString()).toBe(SCRIPT);
    for (const encoding of ['identity', 'br;q=0']) {
      const plain = await raw(path, encoding);
      expect(plain.headers).not.toHaveProperty('content-encoding');
      expect(plain.bytes.toString()).toBe(SCRIPT);
    }
    const head = await raw(path, 'br', 'HEAD');
    expect([head.bytes.length, head.headers['content-length']]).toEqual([0, String(brotli.bytes.length)]);
  });

  it('are as they are where nothing is gained', async () => {
    const style = await raw('/console/assets/index-a1b2.css', 'br');
    expect(style.headers).not.toHaveProperty('content-encoding');
    expect(style.headers['content-type']).toBe('text/css; charset=utf-8');
    const picture = await raw('/console/assets/logo-c3d4.png', 'br');
    expect([picture.headers['content-type'], picture.bytes]).toEqual(['image/png', Buffer.from([0x89, 0x50, 0xff])]);
  });

  it.each(['nothing.js', '..%2Findex.html', '..%2fsecret.txt', 'constructor', '%00'])(
    'are no others: %s',
    async (name) => {
      const path = `/console/assets/${name}`;
      const status = await new Promise<number | undefined>((resolve, reject) => {
        request(`${gateway.url}/`, { path }, (got) => {
          got.resume();
          resolve(got.statusCode);
        })
          .on('error', reject)
          .end();
      });
      expect([400, 404]).toContain(status);
    },
  );
});

it('says so where no console was built, and leads browsers to the manual', async () => {
  const bare = await gatewayWithoutTemporal({}, NO_KEYS, {}, false, { consoleDir: join(folder, 'nowhere') });
  try {
    for (const path of ['/console', '/console/runs', '/console/assets/x.js']) {
      const answer = await fetch(`${bare.url}${path}`);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'console_missing' });
    }
    const led = await fetch(`${bare.url}/`, { headers: { accept: 'text/html' }, redirect: 'manual' });
    expect(led.headers.get('location')).toBe('/docs');
  } finally {
    await bare.close();
  }
});
