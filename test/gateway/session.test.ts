// The login's refusals, without Temporal. What a session is worth: test/e2e/access/access-session.test.ts.
import type { Request } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FailedLogins } from '../../src/gateway/routes/organization/failed-logins.ts';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal, NO_KEYS } from './gateway-support.ts';

const CHANGE = { 'sec-fetch-site': 'same-origin', 'x-signalbox-console': '1' };

async function logIn(
  gateway: GatewayWithoutTemporal,
  headers: Record<string, string> = CHANGE,
  body: object = { key: 'no' },
) {
  const response = await fetch(`${gateway.url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as { code: string } };
}

describe('without keys', () => {
  let gateway: GatewayWithoutTemporal;
  beforeAll(async () => {
    gateway = await gatewayWithoutTemporal();
  });
  afterAll(() => gateway.close());

  it('there is no login, and everybody here is an admin', async () => {
    expect(await logIn(gateway)).toMatchObject({ status: 409, body: { code: 'login_not_needed' } });
    const me = await fetch(`${gateway.url}/api/me`);
    expect(await me.json()).toEqual({
      role: 'admin',
      roles: ['viewer', 'runner', 'approver', 'editor', 'admin'],
      groups: [],
      organization: 'default',
      hasKeys: false,
    });
  });
});

describe('with keys', () => {
  let gateway: GatewayWithoutTemporal;
  beforeAll(async () => {
    gateway = await gatewayWithoutTemporal({}, { ...NO_KEYS, hasKeys: async () => true });
  });
  afterAll(() => gateway.close());

  it('nobody is anybody without a session', async () => {
    const me = await fetch(`${gateway.url}/api/me`);
    expect(me.status).toBe(401);
    expect(await me.json()).toMatchObject({ code: 'key_required' });
  });

  it.each([
    ['without the header', { 'sec-fetch-site': 'same-origin' }, 400, 'required_header_missing'],
    ['from another site', { ...CHANGE, 'sec-fetch-site': 'cross-site' }, 403, 'origin_not_allowed'],
    ['from another port', { ...CHANGE, 'sec-fetch-site': 'same-site' }, 403, 'origin_not_allowed'],
    ['without an origin', { 'x-signalbox-console': '1' }, 403, 'origin_not_allowed'],
    ['as text', { ...CHANGE, 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
  ])('a login %s is refused, and does not count', async (_how, headers, status, code) => {
    for (let n = 0; n < 7; n++) expect(await logIn(gateway, headers)).toMatchObject({ status, body: { code } });
  });

  it.each([[{}], [{ key: 7 }], [{ key: '' }], [{ key: 'k', user: 'ann' }], [{ key: 'k'.repeat(1_001) }]])(
    'a body that is no login is refused: %j',
    async (body) => {
      const answer = await logIn(gateway, CHANGE, body);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    },
  );

  it('a sixth wrong key within a minute is not looked at, also when all come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => logIn(gateway)));
    const codes = answers.map(({ body }) => body.code).sort();
    expect(codes).toEqual([...Array(5).fill('key_invalid'), ...Array(15).fill('rate_limited')]);
    const refused = await logIn(gateway);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(gateway.logged.filter((line) => line.includes('wrong key'))).toHaveLength(5);
  });
});

describe('the limit of wrong keys', () => {
  const from = (ip: string) => ({ ip }) as Request;

  it('is each address its own, and passes with the minute', () => {
    const logins = new FailedLogins();
    for (let n = 0; n < 5; n++) logins.countAttempt(from('10.0.0.1'), n * 1_000);
    const sixth = (at: number) => () => logins.countAttempt(from('10.0.0.1'), at);
    expect(sixth(59_000)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
    expect(() => logins.countAttempt(from('10.0.0.2'), 59_000)).not.toThrow();
    expect(sixth(60_001)).not.toThrow();
    expect(sixth(60_002)).toThrow();
  });

  it('is that of a network of IPv6', () => {
    const logins = new FailedLogins();
    for (let n = 0; n < 5; n++) logins.countAttempt(from(`2001:db8:1:2::${n}`), 0);
    expect(() => logins.countAttempt(from('2001:db8:1:2:ffff::1'), 1)).toThrow();
    expect(() => logins.countAttempt(from('2001:db8:1:3::1'), 1)).not.toThrow();
  });

  it('does not count right keys', () => {
    const logins = new FailedLogins();
    for (let n = 0; n < 20; n++) logins.countAttempt(from('10.0.0.1'), n)();
    expect(() => logins.countAttempt(from('10.0.0.1'), 21)).not.toThrow();
  });
});
