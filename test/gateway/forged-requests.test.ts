// What strangers can make up costs no call to Temporal, whose calls are counted.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { connect } from '../../src/client/temporal/connect.ts';
import { readConfig } from '../../src/config/config.ts';
import { startGateway } from '../../src/gateway/serve.ts';
import { FakeFrontend } from '../support/fake-frontend.ts';

const COUNT = 60;
const NOT_FOUND = { code: 5, message: 'workflow not found' };

const frontend = new FakeFrontend(() => NOT_FOUND);
let gateway: { url: string; close(): Promise<void> };
const ended: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'signalbox-forged-'));
  ended.push(async () => rmSync(dataDir, { recursive: true }));
  const config = readConfig({
    TEMPORAL_ADDRESS: await frontend.listen(),
    SIGNALBOX_DATA: dataDir,
    SIGNALBOX_PORT: '0',
    SIGNALBOX_ADMIN_KEY: 'an-admin-key-of-enough-characters',
  });
  ended.push(() => frontend.close());
  const temporal = await connect(config);
  ended.push(() => temporal.close());
  gateway = await startGateway(config, { temporal });
  ended.push(() => gateway.close());
});
afterAll(async () => {
  for (const end of ended.reverse()) await end();
});
beforeEach(() => void frontend.calls.splice(0));

/** The statuses of requests that are sent concurrently. */
async function statusesOf(ask: (n: number) => readonly [path: string, init?: RequestInit]): Promise<Set<number>> {
  const answers = await Promise.all(
    Array.from({ length: COUNT }, (_, n) => {
      const [path, init] = ask(n);
      return fetch(`${gateway.url}${path}`, init);
    }),
  );
  for (const answer of answers) await answer.arrayBuffer();
  return new Set(answers.map(({ status }) => status));
}

const body = Buffer.from(JSON.stringify(['run.default.a.b', 'a', 'b', 'c'])).toString('base64url');
const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };

it('callbacks and links of approvals', async () => {
  for (const room of ['callbacks', 'approvals']) {
    expect(await statusesOf((n) => [`/${room}/${body}.${n}`, json])).toEqual(new Set([404]));
    expect(await statusesOf((n) => [`/${room}/${body}.${n}`])).toEqual(new Set([404]));
  }
  expect(frontend.calls).toEqual([]);
});

it('keys and public keys of made-up organizations: one call for all of them', async () => {
  const key = (n: number) => `sbk_made-up-${n}_0123456789ab_${'x'.repeat(43)}`;
  expect(await statusesOf((n) => ['/api/me', { headers: { authorization: `Bearer ${key(n)}` } }])).toEqual(
    new Set([401]),
  );
  const publicKey = (n: number) => `pub.${Buffer.from(`made-up-${n}`).toString('base64url')}.${'0'.repeat(32)}`;
  expect(await statusesOf((n) => [`/api/public/trigger/${publicKey(n)}/w`, json])).toEqual(new Set([401]));
  expect(frontend.calls.length).toBeLessThanOrEqual(1);
});

it('keys of an organization that exists: one call while its list is fresh', async () => {
  const key = (n: number) => `sbk_default_${String(n).padStart(12, '0')}_${'x'.repeat(43)}`;
  expect(await statusesOf((n) => ['/api/me', { headers: { authorization: `Bearer ${key(n)}` } }])).toEqual(
    new Set([401]),
  );
  expect(frontend.calls.length).toBeLessThanOrEqual(2);
});
