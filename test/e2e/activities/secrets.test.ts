// Secrets: shown by their names alone. One that is too short could not be kept out of results, so none is taken.

import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();

const SHORT = '123';
const secretsOf = async (): Promise<string[]> =>
  (await gateway.request('GET', '/api/secrets?limit=1000')).body.items.map(({ name }: { name: string }) => name);
const inConfig = (slug: string): JsonObject =>
  echoDefinition(slug, { config: { secrets: { FINE: { value: 'long enough' }, KEY: { value: SHORT } } } });
const inTrigger = (slug: string): JsonObject =>
  echoDefinition(slug, {
    triggers: [
      { name: 'in', type: 'webhook', config: { path: slug, scheme: 'hmac', secrets: ['long enough', SHORT] } },
    ],
  });

describe('a secret of fewer than four characters', () => {
  it('is refused by itself', async () => {
    const before = await secretsOf();
    const answer = await gateway.request('PUT', '/api/secrets/pin', { json: { value: SHORT } });
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'secret_too_short', problems: [{ pointer: '/value', code: 'secret_too_short' }] },
    });
    expect(JSON.stringify(answer.body)).not.toContain(SHORT);
    expect(await secretsOf()).toEqual(before);
  });

  it.each([
    ['in the config', inConfig, '/config/secrets/KEY/value'],
    ['of a trigger', inTrigger, '/triggers/0/config/secrets/1'],
  ])(
    'is refused %s of a workflow, of a run of its own, of one or many to be synchronized',
    async (_where, of, pointer) => {
      const before = await secretsOf();
      const slug = unique('short');
      const refused = {
        status: 422,
        body: { problems: [{ pointer: expect.stringContaining(pointer), code: 'secret_too_short' }] },
      };
      const definition = of(slug);
      const fine = echoDefinition(unique('fine'));
      const ways: [string, JsonObject][] = [
        ['/api/workflows', definition],
        ['/api/executions', { definition }],
        ['/api/workflows/sync', { workflow: definition }],
        ['/api/workflows/sync-all', { workflows: [fine, definition] }],
      ];
      for (const [path, json] of ways) {
        const answer = await gateway.request('POST', path, { json });
        expect(answer, path).toMatchObject(refused);
      }
      const checked = await gateway.request('POST', '/api/workflows/validate', { json: definition });
      expect(checked.body).toMatchObject({ valid: false, problems: refused.body.problems });
      for (const one of [slug, String(fine['slug'])])
        expect((await gateway.request('GET', `/api/workflows/${one}`)).status).toBe(404);
      expect(await secretsOf()).toEqual(before);
    },
  );

  it('is refused with a trigger, new or changed, which keeps the one that it has', async () => {
    const slug = unique('hooked');
    const own = async () => (await secretsOf()).filter((name) => name.includes(slug));
    await gateway.request('POST', '/api/workflows', { json: echoDefinition(slug) });
    const trigger = (secret: string): JsonObject => ({
      workflowId: slug,
      name: 'in',
      type: 'webhook',
      config: { path: slug, scheme: 'hmac', secret },
    });
    const refused = {
      status: 422,
      body: { code: 'invalid_trigger', problems: [{ pointer: '/config/secret', code: 'secret_too_short' }] },
    };
    expect(await gateway.request('POST', '/api/triggers', { json: trigger(SHORT) })).toMatchObject(refused);
    expect(await own()).toEqual([]);
    const { status, body } = await gateway.request('POST', '/api/triggers', { json: trigger('long enough') });
    expect(status).toBe(201);
    const change = { config: { path: slug, scheme: 'hmac', secret: SHORT } };
    const path = `/api/triggers/${encodeURIComponent(body.id)}`;
    expect(await gateway.request('PATCH', path, { json: change })).toMatchObject(refused);
    expect(await own()).toEqual([`workflows/${slug}/triggers/in/secret`]);
  });
});

describe('secrets', () => {
  it('are stored, listed without values, bound, replaced and deleted', async () => {
    const name = unique('payments/live');
    const place = `/api/secrets/${encodeURIComponent(name)}`;
    const put = await gateway.request('PUT', place, {
      json: { value: 'canary-secret', allowedHosts: ['api.example.com'] },
    });
    expect(put).toMatchObject({ status: 201, body: { name, allowedHosts: ['api.example.com'] } });
    expect(JSON.stringify(put.body)).not.toContain('canary');
    // A new value goes nowhere the old one could not, unless that is said.
    const changed = async (json: Json) => (await gateway.request('PUT', place, { json })).body;
    const allowedHosts = ['api.example.com'];
    expect(await changed({ value: 'canary-secret-2' })).toMatchObject({ allowedHosts });
    const allowedWorkflows = ['refunds'];
    expect(await changed({ value: 'canary-secret-3', allowedWorkflows })).toMatchObject({
      allowedHosts,
      allowedWorkflows,
    });
    expect(await changed({ value: 'canary-secret-4', allowedHosts: null })).toEqual({
      name,
      allowedWorkflows,
      updatedAt: expect.any(String),
    });
    expect(await gateway.request('PUT', place, { json: { value: 'canary', allowedHosts: [] } })).toMatchObject({
      status: 400,
      body: { problems: [{ pointer: '/allowedHosts' }] },
    });
    const listed = await gateway.request('GET', '/api/secrets?limit=1000');
    expect(listed.body.items.map((secret: { name: string }) => secret.name)).toContain(name);
    expect(JSON.stringify(listed.body)).not.toContain('canary');
    expect(await gateway.request('PUT', '/api/secrets/a%00b', { json: { value: 'x' } })).toMatchObject({ status: 400 });
    expect(await gateway.request('PUT', place, { json: { value: 1 } })).toMatchObject({ status: 400 });
    expect((await gateway.request('DELETE', place)).status).toBe(204);
    expect(await gateway.request('DELETE', place)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});
