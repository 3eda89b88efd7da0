// What a definition's triggers have beside its content: secrets that rotate, names and paths that are its own.

import { describe, expect, it } from 'vitest';
import { definitionId } from '../../../src/client/temporal/ids.ts';
import type { Json } from '../../../src/json/json.ts';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway({ SIGNALBOX_HISTORY_LIMIT: '40' });

type Members = { [key: string]: Json };

const post = (path: string, json: Json = {}) => gateway.request('POST', path, { json });
const get = (path: string) => gateway.request('GET', path);
const put = (slug: string, more: Members) =>
  gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, more) });
const deliver = async (path: string, key = '') =>
  (await gateway.request('POST', `/webhooks/${path}`, { json: { n: unique('n') }, headers: { 'x-api-key': key } }))
    .status;

/** Writes to the definition's actor, and does nothing of what follows. */
const send = (slug: string, update: string, request: Members) => {
  const key = unique('key');
  const actor = gateway.server.client.workflow.getHandle(definitionId('default', slug));
  return actor.executeUpdate(update, { updateId: key, args: [{ ...request, key }] });
};

describe('a secret of a webhook that was rotated', () => {
  it('stays rotated whatever is written afterwards that does not name it', async () => {
    const [slug, path] = [unique('rotated'), unique('path')];
    for (const name of ['old', 'new'])
      await gateway.request('PUT', `/api/secrets/${slug}-${name}`, { json: { value: `${name} key` } });
    const ref = (name: string): Json => ({ secretRef: `${slug}-${name}` });
    const hooked = (secrets: Members, more: Members = {}): Members => ({
      triggers: [{ name: 'in', type: 'webhook', config: { path, scheme: 'api_key', ...secrets } }],
      ...more,
    });
    const statuses = async () => [await deliver(path, 'old key'), await deliver(path, 'new key')];
    const first = await put(slug, hooked({ secret: ref('old') }));
    expect(await statuses()).toEqual([202, 401]);
    const rotated = await put(slug, hooked({ secrets: [ref('new')] }));
    expect(rotated.body.hash).toBe(first.body.hash);
    expect(await statuses()).toEqual([401, 202]);

    await post(`/api/workflows/${slug}/disable`);
    await post(`/api/workflows/${slug}/enable`);
    await gateway.request('PATCH', `/api/workflows/${slug}`, { json: { tags: ['rotated'] } });
    expect(await statuses()).toEqual([401, 202]);
    const read = await get(`/api/workflows/${slug}`);
    expect(read.body).not.toHaveProperty('triggerSecrets');
    expect(read.body.definition.triggers[0].config).toEqual({ path, scheme: 'api_key', secrets: [ref('new')] });

    const other = await put(slug, hooked({ secrets: [ref('new')] }, { description: 'Another.' }));
    expect(other.body.hash).not.toBe(first.body.hash);
    await post(`/api/workflows/${slug}/rollback`, { workflowHash: first.body.hash });
    expect((await get(`/api/workflows/${slug}`)).body.hash).toBe(first.body.hash);
    expect(await statuses()).toEqual([401, 202]);

    const sync = async (secrets: Members) =>
      (await post('/api/workflows/sync', { workflow: echoDefinition(slug, hooked(secrets)) })).body.action;
    await sync({ secrets: [ref('new')] });
    expect(await sync({ secrets: [ref('new')] })).toBe('unchanged');
    expect(await sync({ secret: ref('old') })).toBe('updated');
    expect(await statuses()).toEqual([202, 401]);
  });
});

describe('a trigger that the API has made', () => {
  it('is not taken over by a definition with a trigger of that name', async () => {
    const [slug, path] = [unique('taking'), unique('path')];
    const first = await put(slug, {});
    await post('/api/triggers', { workflowId: slug, name: 'in', config: { type: 'webhook', path, scheme: 'none' } });
    const taking = [{ name: 'in', type: 'webhook', config: { path: unique('other'), scheme: 'none' } }];
    expect(await put(slug, { triggers: taking })).toMatchObject({ status: 409, body: { code: 'trigger_exists' } });
    expect((await get(`/api/workflows/${slug}`)).body.hash).toBe(first.body.hash);
    expect(await deliver(path)).toBe(202);
    expect((await gateway.request('DELETE', `/api/triggers/${slug}.in`)).status).toBe(204);
    expect((await put(slug, { triggers: taking })).status).toBe(200);
  });
});

describe('a write that was interrupted', () => {
  const webhook = (path: string): Members => ({ name: 'in', type: 'webhook', config: { path, scheme: 'none' } });

  it('is completed by whoever deletes what is deleted', async () => {
    const [slug, path, own] = [unique('deleted'), unique('path'), unique('own')];
    const schedule = { name: 'nightly', type: 'schedule', config: { cron: '0 3 * * *' } };
    await put(slug, { triggers: [webhook(path), schedule] });
    await post('/api/triggers', {
      workflowId: slug,
      name: 'more',
      config: { type: 'webhook', path: own, scheme: 'none' },
    });
    await gateway.until(`/api/triggers?workflowId=${slug}`, ({ body }) => body.items.length === 3);
    // As where the gateway dies when the head is gone.
    await send(slug, 'remove', {});
    expect((await get(`/api/triggers/${slug}.nightly`)).status).toBe(200);
    expect((await gateway.request('DELETE', `/api/workflows/${slug}`)).status).toBe(404);
    for (const name of ['in', 'nightly', 'more'])
      expect((await get(`/api/triggers/${slug}.${name}`)).status, name).toBe(404);
    expect([await deliver(path), await deliver(own)]).toEqual([404, 404]);
  });

  it('leaves no path that starts runs of a definition which has dropped it', async () => {
    const [slug, path] = [unique('dropped'), unique('path')];
    const { body } = await put(slug, { triggers: [webhook(path)] });
    expect(await deliver(path)).toBe(202);
    // As where the gateway dies when the head is written.
    const { hash, name } = body;
    const request = { hash, name, enabled: true, tags: [], hooks: [], triggers: [], source: 'update' };
    await send(slug, 'put', request);
    expect((await get(`/api/triggers/${slug}.in`)).status).toBe(200);
    expect(await deliver(path)).toBe(404);
    expect((await get(`/api/triggers/${slug}.in`)).status).toBe(404);
    expect((await put(slug, { triggers: [webhook(path)] })).status).toBe(200);
    expect(await deliver(path)).toBe(202);
  });
});
