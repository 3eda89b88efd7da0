// Limits of rate: who is limited, by what, and that nothing is asked or read for what is refused.
import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiKeyCache } from '../../src/client/organization/api-key-cache.ts';
import { CLOCK } from '../../src/gateway/http/body-reader.ts';
import { KEYLESS } from '../../src/gateway/http/principal.ts';
import { TokenBuckets } from '../../src/gateway/http/rate-limits.ts';
import { StreamLimiter } from '../../src/gateway/routes/executions/stream-limiter.ts';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal, keyRecord, NO_KEYS } from './gateway-support.ts';

/** Keys are `organization:id`. */
const keyring: ApiKeyCache = {
  ...NO_KEYS,
  hasKeys: async () => true,
  holderOf: async (text) => {
    const [organizationId = '', keyId = ''] = text.split(':');
    return { organizationId, keyId, record: keyRecord('admin'), addresses: [] };
  },
};

/** A gateway whose buckets gain nothing, however long its requests take. */
const gatewayWith = (settings: Record<string, string>, keys?: ApiKeyCache): Promise<GatewayWithoutTemporal> =>
  gatewayWithoutTemporal(settings, keys, undefined, undefined, { clock: { ...CLOCK, now: () => 0 } });

async function statuses(gateway: GatewayWithoutTemporal, count: number, path: string, init: RequestInit = {}) {
  const answers = await Promise.all(Array.from({ length: count }, () => fetch(`${gateway.url}${path}`, init)));
  const limited = answers.filter(({ status }) => status === 429);
  for (const { headers } of limited) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  const [first] = await Promise.all(limited.map((answer) => answer.json() as Promise<{ code: string }>));
  if (first !== undefined) expect(first.code).toBe('rate_limited');
  return { passed: answers.length - limited.length, limited: limited.length };
}

const SLOW = { SIGNALBOX_RATE_ADDRESS: '1', SIGNALBOX_RATE_ADDRESS_BURST: '5' };

describe('the doors that ask for no key', () => {
  it('are limited for each address, before Temporal is asked', async () => {
    const gateway = await gatewayWith(SLOW, keyring);
    expect(await statuses(gateway, 20, '/callbacks/x', { method: 'POST', body: '{}' })).toEqual({
      passed: 5,
      limited: 15,
    });
    // Temporal is unavailable: a request that reached it would fail with that, and late.
    for (const path of ['/webhooks/a/b', '/api/public/trigger/pub.x.y/z'])
      expect(await statuses(gateway, 3, path, { method: 'POST' })).toEqual({ passed: 0, limited: 3 });
    // The manual's search and the API's description take time, and anybody may ask for them.
    for (const path of ['/docs?q=a', '/openapi.json', '/schema.json'])
      expect(await statuses(gateway, 3, path)).toEqual({ passed: 0, limited: 3 });
    expect(await statuses(gateway, 20, '/healthz')).toEqual({ passed: 20, limited: 0 });
    const keyed = { headers: { authorization: 'Bearer default:1' } };
    expect(await statuses(gateway, 20, '/api/nothing', keyed)).toEqual({ passed: 20, limited: 0 });
    await gateway.close();
  });

  it('believe only proxies that are known in whom they forward for', async () => {
    const from = (address: string): RequestInit => ({ method: 'POST', headers: { 'x-forwarded-for': address } });
    const strange = await gatewayWith(SLOW, keyring);
    await statuses(strange, 5, '/callbacks/x', from('203.0.113.1'));
    expect(await statuses(strange, 1, '/callbacks/x', from('203.0.113.2'))).toMatchObject({ limited: 1 });
    await strange.close();
    const known = await gatewayWith({ ...SLOW, SIGNALBOX_TRUSTED_PROXIES: '127.0.0.1/32, ::1' }, keyring);
    await statuses(known, 5, '/callbacks/x', from('203.0.113.1'));
    expect(await statuses(known, 1, '/callbacks/x', from('203.0.113.1'))).toMatchObject({ limited: 1 });
    expect(await statuses(known, 1, '/callbacks/x', from('203.0.113.2'))).toMatchObject({ limited: 0 });
    await statuses(known, 5, '/callbacks/x', from('2001:db8::1'));
    expect(await statuses(known, 1, '/callbacks/x', from('2001:db8::ffff'))).toMatchObject({ limited: 1 });
    expect(await statuses(known, 1, '/callbacks/x', from('2001:db8:0:1::1'))).toMatchObject({ limited: 0 });
    await known.close();
  });

  it('are not limited on this machine while there are no keys, but through a proxy', async () => {
    const gateway = await gatewayWith(SLOW);
    expect(await statuses(gateway, 20, '/callbacks/x')).toEqual({ passed: 20, limited: 0 });
    const forwarded = { headers: { 'x-forwarded-for': '203.0.113.1' } };
    expect(await statuses(gateway, 20, '/callbacks/x', forwarded)).toMatchObject({ passed: 5 });
    await gateway.close();
  });

  it('read no body of what they refuse, or have nobody for', async () => {
    const gateway = await gatewayWith({ ...SLOW, SIGNALBOX_RATE_ADDRESS_BURST: '1' }, keyring);
    // Of the 2 MB that are announced none is sent: who waited for them would not answer.
    const unsent = (path: string, authorization?: string) =>
      new Promise<number>((resolve, reject) => {
        const headers = { 'content-length': '2000000', ...(authorization === undefined ? {} : { authorization }) };
        const sent = httpRequest(`${gateway.url}${path}`, { method: 'POST', headers }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
          sent.destroy();
        });
        sent.on('error', reject);
        sent.flushHeaders();
      });
    expect(await unsent('/webhooks/made-up/path')).toBe(503);
    await statuses(gateway, 2, '/callbacks/x');
    expect(await unsent('/webhooks/made-up/path')).toBe(429);
    await gateway.close();
  });
});

describe('keys and organizations', () => {
  it('are limited each by themselves, and not where it is switched off', async () => {
    const settings = {
      SIGNALBOX_RATE_KEY: '1',
      SIGNALBOX_RATE_KEY_BURST: '4',
      SIGNALBOX_RATE_ORGANIZATION: '1',
      SIGNALBOX_RATE_ORGANIZATION_BURST: '6',
    };
    const gateway = await gatewayWith(settings, keyring);
    const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
    expect(await statuses(gateway, 10, '/api/nothing', as('acme:1'))).toMatchObject({ passed: 4 });
    expect(await statuses(gateway, 10, '/api/nothing', as('acme:2'))).toMatchObject({ passed: 2 });
    expect(await statuses(gateway, 10, '/api/nothing', as('other:1'))).toMatchObject({ passed: 4 });
    await gateway.close();
    const off = await gatewayWith({ SIGNALBOX_RATE_KEY: '0', SIGNALBOX_RATE_ORGANIZATION: '0' }, keyring);
    expect(await statuses(off, 50, '/api/nothing', as('acme:1'))).toMatchObject({ limited: 0 });
    await off.close();
  });
});

describe('a bucket', () => {
  it('lets through at most its burst and what has dripped into it since', () => {
    // Of the monotonic clock, which has fractions of a millisecond.
    const gap = fc.oneof(fc.nat({ max: 400 }), fc.double({ min: 0, max: 400, noNaN: true }));
    const steps = fc.array(gap, { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }), steps, (perSecond, burst, gaps) => {
        const buckets = new TokenBuckets({ perSecond, burst });
        let now = 0;
        let taken = 0;
        for (const gap of gaps) {
          now += gap;
          const waitMs = buckets.take('a', now);
          if (waitMs === undefined) taken++;
          else {
            // When it says so, there is one.
            now += waitMs;
            expect(buckets.take('a', now)).toBeUndefined();
            taken++;
          }
          expect(taken).toBeLessThanOrEqual(burst + (now * perSecond) / 1_000);
        }
      }),
      // Where a token was lost in a sum of fractions.
      { examples: [[1, 2, [0, 267, 0, 310]]] },
    );
  });

  it('is one of a bounded number', () => {
    const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, 100);
    for (let n = 0; n < 1_000; n++) buckets.take(`caller ${n}`, 0);
    expect(buckets.size).toBe(100);
    expect(buckets.take('caller 999', 0)).toBeGreaterThan(0);
    expect(buckets.take('caller 0', 0)).toBeUndefined();
  });
});

it('streams are limited per key, per organization, and in total', () => {
  const streams = new StreamLimiter();
  const of = (organizationId: string, keyId: string) => ({ ...KEYLESS, organizationId, keyId });
  const first = streams.acquire(of('acme', '0'));
  for (let n = 1; n < 200; n++) streams.acquire(of('acme', '0'));
  expect(() => streams.acquire(of('acme', '0'))).toThrow(expect.objectContaining({ code: 'too_many_streams' }));
  first();
  streams.acquire(of('acme', '0'));
  for (let n = 0; n < 300; n++) streams.acquire(of('acme', String(1 + Math.floor(n / 200))));
  expect(() => streams.acquire(of('acme', '9'))).toThrow(
    expect.objectContaining({ message: expect.stringContaining('500') }),
  );
  for (let n = 0; n < 500; n++) streams.acquire({ ...KEYLESS, organizationId: 'default' });
  expect(() => streams.acquire(of('other', '1'))).toThrow(
    expect.objectContaining({ message: expect.stringContaining('1000') }),
  );
});
