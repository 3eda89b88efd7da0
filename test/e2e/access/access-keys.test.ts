import { describe, expect, it } from 'vitest';
import type { Role } from '../../../src/contract/organization/organization.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import { approvalDefinition, requestTo, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const statusOf = async (key: string, path = '/api/workflows') =>
  (await gateway.request('GET', path, bearer(key))).status;

describe('keys, from the first to the last', () => {
  let admin: { id: string; key: string };
  const made = async (name: string, role: Role, more: object = {}) => {
    const answer = await gateway.request('POST', '/api/keys', { json: { name, role, ...more }, ...bearer(admin.key) });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body as { id: string; key: string; organizationId: string; prefix: string };
  };

  it('the first is of an admin, and from then on nobody gets in without one', async () => {
    const viewer = { json: { name: 'somebody', role: 'viewer' } };
    expect(await gateway.request('POST', '/api/keys', viewer)).toMatchObject({
      status: 409,
      body: { code: 'admin_key_first' },
    });
    const elsewhere = { json: { name: 'somebody', role: 'admin', organization: 'acme' } };
    expect((await gateway.request('POST', '/api/keys', elsewhere)).body.code).toBe('admin_key_first');

    const first = await gateway.request('POST', '/api/keys', { json: { name: 'ann', role: 'admin' } });
    expect(first).toMatchObject({ status: 201, body: { role: 'admin', user: 'ann', organizationId: 'default' } });
    expect(first.body.key).toMatch(/^sbk_default_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
    expect(first.body.key.startsWith(`${first.body.prefix}_`)).toBe(true);
    admin = first.body;

    expect(await gateway.request('GET', '/api/workflows')).toMatchObject({
      status: 401,
      body: { code: 'key_required' },
    });
    expect(await statusOf(admin.key)).toBe(200);
    expect(await statusOf(`${admin.key.slice(0, -1)}${admin.key.endsWith('A') ? 'B' : 'A'}`)).toBe(401);
  });

  it('a key is shown once, and nothing that it could be made of is kept', async () => {
    const finance = { user: 'bob', roles: ['finance'], groups: ['board'] };
    const { key, id, prefix } = await made('ci', 'runner', finance);
    // Its secret part may itself hold a `_`.
    const secret = key.slice(`${prefix}_`.length);
    expect(secret).toHaveLength(43);
    const listed = await gateway.request('GET', '/api/keys', bearer(admin.key));
    expect(listed.body.items.find((item: { id: string }) => item.id === id)).toMatchObject({
      name: 'ci',
      role: 'runner',
      user: 'bob',
      roles: ['finance'],
      groups: ['board'],
      createdBy: 'ann',
    });
    expect(JSON.stringify(listed.body)).not.toContain(secret);
    const handle = gateway.server.client.workflow.getHandle('org.default');
    const { memo } = await handle.describe();
    const history = await handle.fetchHistory();
    expect(JSON.stringify([memo, history])).not.toContain(secret);
    expect(Buffer.from(JSON.stringify(history)).toString()).not.toContain(Buffer.from(secret).toString('base64'));
  });

  it('a key does what its role does', async () => {
    const { key } = await made('reader', 'viewer');
    const slug = unique('refund');
    const put = { json: approvalDefinition(slug) };
    expect(await statusOf(key)).toBe(200);
    expect(await gateway.request('PUT', `/api/workflows/${slug}`, { ...put, ...bearer(key) })).toMatchObject({
      status: 403,
      body: { code: 'role_required' },
    });
    expect((await gateway.request('PUT', `/api/workflows/${slug}`, { ...put, ...bearer(admin.key) })).status).toBe(201);
  });

  it('what a key may do cannot be raised in Temporal', async () => {
    const { id, key } = await made('climber', 'viewer');
    expect(await statusOf(key)).toBe(200);
    const amend = { key: unique('amend'), collection: 'keys', name: id, members: { role: 'admin' } };
    await gateway.server.client.workflow
      .getHandle('org.default')
      .executeUpdate<unknown, [object]>('amend', { args: [amend] });
    const other = await startGateway(gateway.server.config, { temporal: gateway.server });
    expect((await requestTo(other.url, 'GET', '/api/keys', bearer(key))).status).toBe(401);
    await other.close();
    await gateway.request('DELETE', `/api/keys/${id}`, bearer(admin.key));
  });

  it('tells when a key was last used', async () => {
    const { id, key } = await made('used', 'viewer');
    await statusOf(key);
    await statusOf(key);
    const lastUsedAt = async () => {
      const { body } = await gateway.request('GET', '/api/keys', bearer(admin.key));
      return body.items.find((item: { id: string }) => item.id === id).lastUsedAt;
    };
    await expect.poll(lastUsedAt).toBeDefined();
  });

  it('a revoked key gets nobody in', async () => {
    const { id, key } = await made('leaver', 'editor');
    expect(await statusOf(key)).toBe(200);
    expect((await gateway.request('DELETE', `/api/keys/${id}`, bearer(admin.key))).status).toBe(204);
    expect(await gateway.request('GET', '/api/workflows', bearer(key))).toMatchObject({
      status: 401,
      body: { code: 'key_invalid' },
    });
    expect((await gateway.request('DELETE', `/api/keys/${id}`, bearer(admin.key))).status).toBe(404);
  });

  it('a revoked key follows no run any longer, and others go on', async () => {
    const leaver = await made('listener', 'viewer');
    const stayer = await made('stayer', 'viewer');
    const definition = approvalDefinition(unique('followed'));
    const started = await gateway.request('POST', '/api/executions', {
      ...bearer(admin.key),
      json: { definition, input: { amount: 1 } },
    });
    const path = `/api/executions/${started.body.executionId}/events`;
    const open = new AbortController();
    const listen = (key: string) => fetch(`${gateway.url}${path}`, { ...bearer(key), signal: open.signal });
    const [one, other] = await Promise.all([listen(leaver.key), listen(stayer.key)]);
    expect([one.status, other.status]).toEqual([200, 200]);
    const told = one.text();
    const stays = other.text().then(
      () => 'ended',
      () => 'cut off here',
    );
    expect((await gateway.request('DELETE', `/api/keys/${leaver.id}`, bearer(admin.key))).status).toBe(204);
    expect(await told).toContain('event: status');
    expect((await listen(leaver.key)).status).toBe(401);
    expect(await Promise.race([stays, Promise.resolve('goes on')])).toBe('goes on');
    open.abort();
    expect(await stays).toBe('cut off here');
  });

  it('another gateway knows a new and a revoked key within seconds', async () => {
    const other = await startGateway(gateway.server.config, { temporal: gateway.server });
    const ask = async (key: string) => (await requestTo(other.url, 'GET', '/api/workflows', bearer(key))).status;
    const { id, key } = await made('mover', 'viewer');
    await expect.poll(() => ask(key)).toBe(200);
    await gateway.request('DELETE', `/api/keys/${id}`, bearer(admin.key));
    await expect.poll(() => ask(key)).toBe(401);
    await other.close();
  });

  it('the last key of an admin stays while there are others; the last of all may go', async () => {
    expect(await gateway.request('DELETE', `/api/keys/${admin.id}`, bearer(admin.key))).toMatchObject({
      status: 409,
      body: { code: 'last_admin_key' },
    });
    const { body } = await gateway.request('GET', '/api/keys?limit=1000', bearer(admin.key));
    for (const { id } of body.items)
      if (id !== admin.id) await gateway.request('DELETE', `/api/keys/${id}`, bearer(admin.key));
    expect((await gateway.request('DELETE', `/api/keys/${admin.id}`, bearer(admin.key))).status).toBe(204);
    expect(await statusOf(admin.key)).toBe(401);
    expect((await gateway.request('GET', '/api/workflows')).status).toBe(200);
  });
});
