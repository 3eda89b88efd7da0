// A browser's session (THREATS.md, "A browser"): what the cookie is worth, for whom, and how long.
import { describe, expect, it, vi } from 'vitest';
import { startGateway } from '../../../src/gateway/serve.ts';
import {
  type Answer,
  approvalDefinition,
  type RequestOptions,
  requestTo,
  sharedGateway,
  unique,
} from '../gateway/gateway-support.ts';

const ADMIN = 'an-admin-of-the-environment-0123456789';
const OWN = { 'sec-fetch-site': 'same-origin' };
const CHANGE = { ...OWN, 'x-signalbox-console': '1' };

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: ADMIN });

const ask = (method: string, path: string, options: RequestOptions = {}, url = gateway.url): Promise<Answer> =>
  requestTo(url, method, path, options);
const makeKey = async (more: object = {}): Promise<{ id: string; key: string }> => {
  const json = { name: unique('key'), role: 'editor', user: 'ann', roles: ['finance'], groups: ['board'], ...more };
  const { status, body } = await gateway.request('POST', '/api/keys', { json });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};
const logIn = (key: string, headers: Record<string, string> = CHANGE, url = gateway.url) =>
  ask('POST', '/api/session', { json: { key }, headers }, url);
const cookieOf = ({ headers }: Answer): string => (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
const loggedIn = async (more: object = {}) => {
  const made = await makeKey(more);
  const answer = await logIn(made.key);
  expect(answer.status).toBe(201);
  return { ...made, cookie: cookieOf(answer) };
};
const revoke = async (id: string) => expect((await gateway.request('DELETE', `/api/keys/${id}`)).status).toBe(204);

describe('a login', () => {
  it('gives a cookie that scripts and other sites do not get, and that does not hold the key', async () => {
    const { id, key } = await makeKey();
    const answer = await logIn(key);
    const expected = {
      id: 'ann',
      keyId: id,
      role: 'editor',
      groups: ['board'],
      organization: 'default',
      hasKeys: true,
    };
    expect(answer).toMatchObject({ status: 201, body: expected });
    expect(answer.body.roles).toEqual(['viewer', 'runner', 'approver', 'editor', 'finance']);
    const hours = (Date.parse(answer.body.session.expiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThanOrEqual(12);
    const set = answer.headers.get('set-cookie') ?? '';
    expect(set).toMatch(/^signalbox_session=v1\.[A-Za-z0-9_-]+; Max-Age=43200; Path=\/; .*HttpOnly; SameSite=Strict$/);
    expect(set).not.toContain('Secure');
    expect(set).not.toContain(key.slice(-20));
    expect(Buffer.from(set, 'base64url').toString('latin1')).not.toContain(id);
    const cookie = cookieOf(answer);
    const seen = await ask('GET', '/api/me', { headers: { cookie, ...OWN } });
    expect(seen).toMatchObject({ status: 200, body: expected });
    expect(seen.body.session).toEqual(answer.body.session);
    expect(JSON.stringify(seen.body)).not.toContain(key.slice(-20));
  });

  it('has a Secure cookie over HTTPS', async () => {
    const { key } = await makeKey();
    const publicUrl = `https://${new URL(gateway.url).host}`;
    const behind = await startGateway(
      { ...gateway.server.config, trustedProxies: ['loopback'], publicUrl },
      { temporal: gateway.server },
    );
    try {
      const answer = await logIn(key, { ...CHANGE, 'x-forwarded-proto': 'https' }, behind.url);
      expect(answer.headers.get('set-cookie')).toMatch(/^__Host-signalbox_session=v1\..*; Path=\/; .*; Secure/);
      expect(answer.headers.get('set-cookie')).not.toContain('Domain');
      const secure = { ...OWN, 'x-forwarded-proto': 'https' };
      const cookie = cookieOf(answer);
      const me = (sent: string) => ask('GET', '/api/me', { headers: { cookie: sent, ...secure } }, behind.url);
      expect((await me(cookie)).status).toBe(200);
      // A sibling of the domain can set the other name, with a session of its own.
      const { cookie: planted } = await loggedIn({ user: unique('eve') });
      expect((await me(planted)).status).toBe(401);
      expect((await me(`${planted}; ${cookie}`)).body).toMatchObject({ id: 'ann' });
    } finally {
      await behind.close();
    }
  });

  it('counts for nothing beside a session of another person, and is not disturbed by other cookies', async () => {
    const [ann, again, eve] = [await loggedIn(), await loggedIn(), await loggedIn({ user: unique('eve') })];
    const me = (...cookies: string[]) => ask('GET', '/api/me', { headers: { cookie: cookies.join('; '), ...OWN } });
    for (const cookies of [
      [eve.cookie, ann.cookie],
      [ann.cookie, eve.cookie],
    ])
      expect(await me(...cookies)).toMatchObject({ status: 401, body: { code: 'key_required' } });
    expect(again.id).not.toBe(ann.id);
    expect((await me('signalbox_session=v1.of-another-gateway', ann.cookie)).body).toMatchObject({ id: 'ann' });
    expect((await me(ann.cookie, ann.cookie, 'theme=dark')).body).toMatchObject({ id: 'ann' });
  });

  it('takes the key of the environment, and is over when that is another', async () => {
    const answer = await logIn(ADMIN);
    expect(answer).toMatchObject({ status: 201, body: { id: 'admin', role: 'admin', hasKeys: true } });
    expect(answer.body).not.toHaveProperty('keyId');
    const headers = { cookie: cookieOf(answer), ...OWN };
    expect((await ask('GET', '/api/me', { headers })).status).toBe(200);
    const config = { ...gateway.server.config, adminKey: `${ADMIN}-new` };
    const other = await startGateway(config, { temporal: gateway.server });
    try {
      expect((await ask('GET', '/api/me', { headers }, other.url)).body.code).toBe('key_required');
    } finally {
      await other.close();
    }
  });

  it('and a logout are in the audit', async () => {
    const { id, cookie } = await loggedIn({ user: unique('auditor') });
    expect((await ask('DELETE', '/api/session', { headers: { cookie, ...CHANGE } })).status).toBe(204);
    await expect
      .poll(async () => {
        const { body } = await gateway.request('GET', '/api/audit?limit=50');
        const ours = body.items.filter((entry: { keyId?: string }) => entry.keyId === id);
        return ours.map(({ action, outcome }: { action: string; outcome: string }) => `${action} ${outcome}`);
      })
      .toEqual(['DELETE /api/session done', 'POST /api/session done']);
  });
});

describe('a session', () => {
  it('does what its key may do, and no more', async () => {
    const { cookie } = await loggedIn();
    const slug = unique('page');
    const put = { json: approvalDefinition(slug), headers: { cookie, ...CHANGE } };
    expect((await ask('PUT', `/api/workflows/${slug}`, put)).status).toBe(201);
    expect((await ask('GET', '/api/keys', { headers: { cookie, ...OWN } })).body.code).toBe('role_required');
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this machine', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:8233' }],
    ['a link', { 'sec-fetch-site': 'none' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['a page without an origin', { origin: 'null' }],
  ])('does not count for a request of %s', async (_who, headers) => {
    const { cookie } = await loggedIn();
    const answer = await ask('GET', '/api/me', { headers: { cookie, ...headers } });
    expect(answer).toMatchObject({ status: 401, body: { code: 'key_required' } });
  });

  it('counts where the browser says only the origin', async () => {
    const { cookie } = await loggedIn();
    const me = (headers: Record<string, string>) => ask('GET', '/api/me', { headers: { cookie, ...headers } });
    expect((await me({})).status).toBe(200);
    expect((await me({ origin: gateway.url })).status).toBe(200);
  });

  it('changes nothing without the header of the console, nor without an origin', async () => {
    const { cookie } = await loggedIn();
    const slug = unique('page');
    const put = (headers: Record<string, string>) =>
      ask('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug), headers: { cookie, ...headers } });
    expect(await put(OWN)).toMatchObject({ status: 400, body: { code: 'required_header_missing' } });
    expect(await put({ ...OWN, 'x-signalbox-console': 'yes' })).toMatchObject({ status: 400 });
    expect(await put({ 'x-signalbox-console': '1' })).toMatchObject({ status: 401 });
    expect((await gateway.request('GET', `/api/workflows/${slug}`)).status).toBe(404);
    expect((await put({ 'x-signalbox-console': '1', origin: gateway.url })).status).toBe(201);
  });

  it('gives way to a key in the request', async () => {
    const { cookie } = await loggedIn();
    const viewer = await makeKey({ user: 'bob', role: 'viewer' });
    const me = (authorization: string) => ask('GET', '/api/me', { headers: { cookie, ...OWN, authorization } });
    expect((await me(`Bearer ${viewer.key}`)).body).toMatchObject({ id: 'bob', role: 'viewer' });
    expect((await me(`Bearer ${viewer.key}`)).body).not.toHaveProperty('session');
    expect(await me('Bearer nonsense')).toMatchObject({ status: 401, body: { code: 'key_invalid' } });
  });

  it('ends with a logout, also for who copied the cookie', async () => {
    const { cookie } = await loggedIn();
    const answer = await ask('DELETE', '/api/session', { headers: { cookie, ...CHANGE } });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('set-cookie')).toMatch(/^signalbox_session=; .*Expires=Thu, 01 Jan 1970/);
    expect((await ask('GET', '/api/me', { headers: { cookie, ...OWN } })).status).toBe(401);
    expect((await ask('DELETE', '/api/session', { headers: { cookie, ...CHANGE } })).status).toBe(204);
  });

  it('ends after twelve hours', async () => {
    const { cookie } = await loggedIn();
    const me = () => ask('GET', '/api/me', { headers: { cookie, ...OWN } });
    const later = (hours: number) => vi.spyOn(Date, 'now').mockReturnValue(Date.now() + hours * 3_600_000);
    try {
      later(11.9);
      expect((await me()).status).toBe(200);
      later(0.2);
      expect((await me()).status).toBe(401);
    } finally {
      vi.restoreAllMocks();
    }
  });

  it('is not made by hand: damaged, truncated and foreign cookies do not count', async () => {
    const { cookie } = await loggedIn();
    const [name = '', value = ''] = cookie.split('=');
    const flipped = `${value.slice(0, -2)}${value.endsWith('AA') ? 'BB' : 'AA'}`;
    const sealedKey = 'v1.bm90IGEgc2Vzc2lvbg';
    for (const other of [flipped, value.slice(0, 40), sealedKey, '', 'x'.repeat(5_000)])
      expect((await ask('GET', '/api/me', { headers: { cookie: `${name}=${other}`, ...OWN } })).status).toBe(401);
  });

  it('ends with its key within two seconds, here and at another gateway, and its streams too', async () => {
    const { id, cookie } = await loggedIn();
    const stays = await loggedIn({ user: 'eve' });
    const other = await startGateway(gateway.server.config, { temporal: gateway.server });
    const definition = approvalDefinition(unique('waits'));
    const json = { definition, input: { amount: 1 } };
    const { body } = await gateway.request('POST', '/api/executions', { json });
    const path = `/api/executions/${body.executionId}/events`;
    const open = new AbortController();
    const listen = (url: string, whose: string) =>
      fetch(`${url}${path}`, { headers: { cookie: whose, ...OWN }, signal: open.signal });
    try {
      const streams = await Promise.all([listen(gateway.url, cookie), listen(other.url, cookie)]);
      const unhurt = await listen(gateway.url, stays.cookie);
      expect([...streams, unhurt].map(({ status }) => status)).toEqual([200, 200, 200]);
      const told = streams.map((stream) => stream.text());
      await revoke(id);
      expect((await ask('GET', '/api/me', { headers: { cookie, ...OWN } })).status).toBe(401);
      for (const text of await Promise.all(told)) expect(text).toContain('event: status');
      expect((await ask('GET', '/api/me', { headers: { cookie, ...OWN } }, other.url)).status).toBe(401);
      expect((await ask('GET', '/api/me', { headers: { cookie: stays.cookie, ...OWN } })).status).toBe(200);
    } finally {
      open.abort();
      await other.close();
      await gateway.request('DELETE', `/api/executions/${body.executionId}`);
    }
  });

  it('does not rise with rights that were written into Temporal', async () => {
    const { id, cookie } = await loggedIn({ role: 'viewer' });
    const amend = { key: unique('amend'), collection: 'keys', name: id, members: { role: 'admin' } };
    const organization = gateway.server.client.workflow.getHandle('org.default');
    await organization.executeUpdate<unknown, [object]>('amend', { args: [amend] });
    const other = await startGateway(gateway.server.config, { temporal: gateway.server });
    try {
      expect((await ask('GET', '/api/keys', { headers: { cookie, ...OWN } }, other.url)).status).toBe(401);
    } finally {
      await other.close();
      await revoke(id);
    }
  });
});
