// Concurrent writes of definitions and their triggers: one succeeds completely, and a refused one leaves nothing.

import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway({ SIGNALBOX_HISTORY_LIMIT: '60' });

const ROUNDS = 8;
type Members = { [key: string]: Json };

const put = (slug: string, more: Members, headers: Record<string, string> = {}) =>
  gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, more), headers });
const post = (path: string, json: Json = {}) => gateway.request('POST', path, { json });
const hooked = (path: string, config: Members): Members => ({
  triggers: [{ name: 'in', type: 'webhook', config: { path, scheme: 'api_key', ...config } }],
});
const accepts = async (path: string, key: string) =>
  (await gateway.request('POST', `/webhooks/${path}`, { json: { n: unique('n') }, headers: { 'x-api-key': key } }))
    .status === 202;
const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort();

describe('two concurrent writes of a definition', () => {
  it('that expect the same version: the one that is refused stores no secret', async () => {
    const [slug, path] = [unique('expecting'), unique('path')];
    let { hash } = (await put(slug, hooked(path, { secret: 'the first secret' }))).body;
    for (let round = 0; round < ROUNDS; round++) {
      const secrets = ['one', 'other'].map((name) => `${name} secret ${round}`);
      const answers = await Promise.all(
        secrets.map((secret) =>
          put(slug, { ...hooked(path, { secret }), description: secret }, { 'if-match': `"${hash}"` }),
        ),
      );
      expect(statuses(answers)).toEqual([200, 412]);
      const written = answers.findIndex(({ status }) => status === 200);
      expect(await Promise.all(secrets.map((secret) => accepts(path, secret)))).toEqual([written === 0, written === 1]);
      hash = answers[written]?.body.hash;
    }
  });

  it('one of which changes a field: it does not undo a rotation of secrets', async () => {
    const [slug, path] = [unique('rotating'), unique('path')];
    for (const n of [0, 1])
      await gateway.request('PUT', `/api/secrets/${slug}-${n}`, { json: { value: `the key ${n}` } });
    const rotated = (n: number) => hooked(path, { secrets: [{ secretRef: `${slug}-${n % 2}` }] });
    const changes = [
      (n: number) => gateway.request('PATCH', `/api/workflows/${slug}`, { json: { enabled: n % 4 > 1 } }),
      (n: number) => post(`/api/workflows/${slug}/${n % 4 > 1 ? 'enable' : 'disable'}`),
    ];
    await put(slug, rotated(1));
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await Promise.all([put(slug, rotated(round)), ...changes.map((change) => change(round))]);
      expect(statuses(answers)).toEqual([200, 200, 200]);
      const { body } = await gateway.request('GET', `/api/workflows/${slug}`);
      expect(body.definition.triggers[0].config.secrets).toEqual([{ secretRef: `${slug}-${round % 2}` }]);
    }
  });
});

describe('a trigger that is made through the API', () => {
  it('while a definition with one of its name is written: one of the two is refused', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const slug = unique('naming');
      await put(slug, {});
      const config = (path: string): Members => ({ path: unique(path), scheme: 'none' });
      const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
      const [written, made] = await Promise.all([
        put(slug, { triggers: [{ name: 'in', type: 'webhook', config: config('written') }] }),
        later(round * 2).then(() =>
          post('/api/triggers', { workflowId: slug, name: 'in', type: 'webhook', config: config('made') }),
        ),
      ]);
      const { body } = await gateway.request('GET', `/api/triggers/${slug}.in`);
      if (written.status === 200) {
        expect(made).toMatchObject({ status: 409, body: { code: 'trigger_exists' } });
        expect(body.source).toBe('definition');
      } else {
        expect(written).toMatchObject({ status: 409, body: { code: 'trigger_exists' } });
        expect([made.status, body.source]).toEqual([201, 'api']);
        expect((await gateway.request('GET', `/api/workflows/${slug}`)).body.definition).not.toHaveProperty('triggers');
      }
    }
  });

  it('twice concurrently: the refused one stores no secret', async () => {
    const slug = unique('made-twice');
    await put(slug, {});
    for (let round = 0; round < ROUNDS; round++) {
      const [name, path] = [`in ${round}`, unique('path')];
      const secrets = ['one secret', 'other secret'];
      const answers = await Promise.all(
        secrets.map((secret) =>
          post('/api/triggers', {
            workflowId: slug,
            name,
            type: 'webhook',
            config: { path, scheme: 'api_key', secret },
          }),
        ),
      );
      expect(statuses(answers)).toEqual([201, 409]);
      const made = answers.findIndex(({ status }) => status === 201);
      expect(await Promise.all(secrets.map((secret) => accepts(path, secret)))).toEqual([made === 0, made === 1]);
    }
  });

  it('can have a name again that a refused write of the definition wanted', async () => {
    const slug = unique('refused');
    await put(slug, {});
    const triggers = [{ name: 'in', type: 'manual' }];
    expect((await put(slug, { triggers }, { 'if-match': '"sha256:0"' })).status).toBe(412);
    const taken = unique('taken');
    const path = [{ name: 'hook', type: 'webhook', config: { path: taken, scheme: 'none' } }];
    await put(unique('owner'), { triggers: path });
    expect((await put(slug, { triggers: [...triggers, ...path] })).body.code).toBe('path_taken');
    expect((await post('/api/triggers', { workflowId: slug, name: 'in', type: 'manual' })).status).toBe(201);
  });
});
