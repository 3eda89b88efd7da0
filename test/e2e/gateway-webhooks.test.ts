import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Json } from '../../src/template/types.ts';
import { githubExamples } from '../gateway/github-examples.ts';
import { type Answer, echoDefinition, type TestGateway, testGateway, unique } from './gateway-support.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway.close());

type Members = { [key: string]: Json };

/** Stores a workflow that gives its input, with one webhook. */
async function hooked(
  config: Members,
  trigger: Members = {},
  more: Members = {},
): Promise<{ slug: string; path: string }> {
  const slug = unique('hooked');
  const path = unique('path');
  const triggers = [{ name: 'in', type: 'webhook', config: { path, ...config }, ...trigger }];
  const stored = await gateway.request('PUT', `/api/workflows/${slug}`, {
    json: echoDefinition(slug, { triggers, ...more }),
  });
  expect(stored.status).toBe(201);
  expect(stored.body.triggers[0].webhookUrl).toBe(`${gateway.url}/webhooks/${path}`);
  return { slug, path };
}

const output = async (answer: Answer): Promise<unknown> =>
  (await gateway.request('GET', `/api/executions/${answer.body.executionId}/result?wait=20`)).body.output;

const github = (secret: string, body: string, delivery: string) => ({
  'content-type': 'application/json',
  'x-github-event': 'push',
  'x-github-delivery': delivery,
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

/** Every payload of a history as text. */
function textsOf(value: unknown): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

describe('webhooks', () => {
  it('start runs of real GitHub deliveries, each once', async () => {
    const { slug, path } = await hooked(
      { scheme: 'github', secret: 'canary-github' },
      {
        variableMapping: {
          repository: '$.repository.full_name',
          event: '{{ headers["x-github-event"] }}',
          signature: '{{ headers["x-hub-signature-256"] }}',
        },
      },
    );
    const push = githubExamples.find((event) => event.name === 'push')!.examples[0]!;
    const body = JSON.stringify(push);
    const delivery = crypto.randomUUID();
    const first = await gateway.request('POST', `/webhooks/${path}`, {
      text: body,
      headers: github('canary-github', body, delivery),
    });
    expect(first).toMatchObject({ status: 202, body: { status: 'pending' } });
    expect(await output(first)).toEqual({
      repository: (push['repository'] as { full_name: string }).full_name,
      event: 'push',
      signature: null,
    });
    const replayed = await gateway.request('POST', `/webhooks/default/${path}`, {
      text: body,
      headers: github('canary-github', body, delivery),
    });
    expect(replayed).toMatchObject({ status: 200, body: { executionId: first.body.executionId } });
    const next = await gateway.request('POST', `/webhooks/${path}`, {
      text: body,
      headers: github('canary-github', body, crypto.randomUUID()),
    });
    expect(next.status).toBe(202);
    expect(next.body.executionId).not.toBe(first.body.executionId);
    const read = await gateway.request('GET', `/api/executions/${first.body.executionId}`);
    expect(read.body.trigger).toEqual({ type: 'webhook', id: `${slug}.in` });

    const forged = await gateway.request('POST', `/webhooks/${path}`, {
      text: `${body} `,
      headers: github('canary-github', body, crypto.randomUUID()),
    });
    expect(forged).toMatchObject({ status: 401, body: { code: 'signature_invalid' } });
    const bare = await gateway.request('POST', `/webhooks/${path}`, { text: body });
    expect(bare).toMatchObject({ status: 401, body: { code: 'signature_missing' } });
    const noJson = 'not json';
    const odd = await gateway.request('POST', `/webhooks/${path}`, {
      text: noJson,
      headers: github('canary-github', noJson, crypto.randomUUID()),
    });
    expect(odd).toMatchObject({ status: 400, body: { code: 'invalid_json' } });

    const shown = await gateway.request('GET', `/api/workflows/${slug}`);
    expect(JSON.stringify(shown.body)).not.toContain('canary-github');
    const actor = gateway.server.client.workflow.getHandle('org.default');
    const kept = [...textsOf(await actor.fetchHistory()), JSON.stringify(await actor.describe())].join('\n');
    expect(kept).toContain(`workflows/${slug}/triggers/in/secret`);
    expect(kept).not.toContain('canary-github');
  });

  it('take both secrets while rotating', async () => {
    const { path } = await hooked({ scheme: 'github', secrets: ['old one', 'new one'] });
    for (const secret of ['old one', 'new one']) {
      const answer = await gateway.request('POST', `/webhooks/${path}`, {
        text: '{}',
        headers: github(secret, '{}', crypto.randomUUID()),
      });
      expect(answer.status).toBe(202);
    }
  });

  it('go on with their secret where a write that brings another is refused', async () => {
    const { slug, path } = await hooked({ scheme: 'github', secret: 'the secret that counts' });
    const other = await hooked({ scheme: 'none' });
    const brings = (config: Members): Members[] => [
      { name: 'in', type: 'webhook', config: { scheme: 'github', secret: 'one that was refused', ...config } },
    ];
    const refused = async (method: string, place: string, json: Json, code: string, headers = {}) =>
      expect(await gateway.request(method, place, { json, headers })).toMatchObject({ body: { code } });
    const place = `/api/workflows/${slug}`;
    const json = echoDefinition(slug, { triggers: brings({ path }) });
    await refused('PUT', place, json, 'hash_mismatch', { 'if-match': `"sha256:${'0'.repeat(64)}"` });
    await refused('PUT', place, json, 'already_exists', { 'if-none-match': '*' });
    const taken = echoDefinition(slug, { triggers: brings({ path: other.path }) });
    await refused('PUT', place, taken, 'path_taken');
    await refused('POST', '/api/workflows/sync', { workflow: taken }, 'path_taken');
    const [trigger] = brings({ path: unique('path') });
    await refused('POST', '/api/triggers', { workflowId: slug, ...trigger }, 'trigger_exists');
    const config = { path, scheme: 'github', secret: 'one that was refused' };
    await refused('PATCH', `/api/triggers/${slug}.in`, { config }, 'trigger_of_definition');

    const own = { path: unique('path'), scheme: 'github', secret: 'the secret that counts' };
    const made = { workflowId: slug, name: 'own', type: 'webhook', config: own };
    expect((await gateway.request('POST', '/api/triggers', { json: made })).status).toBe(201);
    await refused('PATCH', `/api/triggers/${slug}.own`, { config: { ...config, path: other.path } }, 'path_taken');

    for (const live of [path, own.path]) {
      const headers = github('the secret that counts', '{}', crypto.randomUUID());
      expect((await gateway.request('POST', `/webhooks/${live}`, { text: '{}', headers })).status).toBe(202);
    }
  });

  it('take a delivery by its body once in five minutes where it has no id', async () => {
    const { path } = await hooked({ scheme: 'none' });
    const first = await gateway.request('POST', `/webhooks/${path}?shop=x`, { json: { a: 1 } });
    expect(first.status).toBe(202);
    expect(await output(first)).toEqual({ a: 1, query: { shop: 'x' } });
    expect(await gateway.request('POST', `/webhooks/${path}?shop=x`, { json: { a: 1 } })).toMatchObject({
      status: 200,
      body: { executionId: first.body.executionId },
    });
    expect((await gateway.request('POST', `/webhooks/${path}?shop=y`, { json: { a: 1 } })).status).toBe(202);
    expect((await gateway.request('POST', `/webhooks/${path}?shop=x`, { json: { a: 2 } })).status).toBe(202);
  });

  it('take a delivery by its body anew when five minutes are over, and not before', async () => {
    const { path } = await hooked({ scheme: 'none' });
    const deliver = () => gateway.request('POST', `/webhooks/${path}`, { json: { a: 1 } });
    const first = await deliver();
    const at = Date.now();
    // The time of this process alone: the gateway's.
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      vi.setSystemTime(at + 295_000);
      expect(await deliver()).toMatchObject({ status: 200, body: { executionId: first.body.executionId } });
      vi.setSystemTime(at + 301_000);
      const second = await deliver();
      expect(second.status).toBe(202);
      expect(second.body.executionId).not.toBe(first.body.executionId);
    } finally {
      vi.useRealTimers();
    }
  });

  it('take a key for one body where nothing is signed', async () => {
    const { path } = await hooked({ scheme: 'none' });
    const headers = { 'idempotency-key': 'the same' };
    const first = await gateway.request('POST', `/webhooks/${path}`, { json: { a: 1 }, headers });
    expect(first.status).toBe(202);
    expect(await gateway.request('POST', `/webhooks/${path}`, { json: { a: 1 }, headers })).toMatchObject({
      status: 200,
      body: { executionId: first.body.executionId },
    });
    expect(await gateway.request('POST', `/webhooks/${path}`, { json: { a: 2 }, headers })).toMatchObject({
      status: 422,
      body: { code: 'idempotency_conflict' },
    });
  });

  it('start one run of a signed delivery, whatever key it is sent again with', async () => {
    const secret = 'that of the sender';
    const text = '{"paid":1}';
    const hex = (signed: string) => createHmac('sha256', secret).update(signed).digest('hex');
    const at = (ms: number) => String(Math.floor(ms / 1000));
    const now = at(Date.now());
    const signed: [scheme: string, headers: (at: string) => Record<string, string>][] = [
      ['stripe', (time) => ({ 'stripe-signature': `t=${time},v1=${hex(`${time}.${text}`)}` })],
      [
        'slack',
        (time) => ({ 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${hex(`v0:${time}:${text}`)}` }),
      ],
      ['hmac', () => ({ 'x-signature': hex(text) })],
    ];
    for (const [scheme, headersAt] of signed) {
      const { path } = await hooked({ scheme, secret });
      const send = (time: string, key: string) =>
        gateway.request('POST', `/webhooks/${path}`, {
          text,
          headers: { ...headersAt(time), 'idempotency-key': key },
        });
      if (scheme !== 'hmac')
        expect(await send(at(Date.now() - 301_000), 'old'), scheme).toMatchObject({
          status: 401,
          body: { code: 'signature_expired' },
        });
      const first = await send(now, 'one');
      expect(first.status, scheme).toBe(202);
      expect(await send(now, 'two'), scheme).toMatchObject({
        status: 200,
        body: { executionId: first.body.executionId },
      });
    }
  });

  it('answer Slack with its challenge, and start nothing of it', async () => {
    const secret = 'that of Slack';
    const { slug, path } = await hooked({ scheme: 'slack', secret, headers: { 'X-Kind': '*' } });
    const send = (json: Json, headers: Record<string, string> = {}) => {
      const text = JSON.stringify(json);
      const time = String(Math.floor(Date.now() / 1000));
      const signature = createHmac('sha256', secret).update(`v0:${time}:${text}`).digest('hex');
      return gateway.request('POST', `/webhooks/${path}`, {
        text,
        headers: {
          'content-type': 'application/json',
          'x-slack-request-timestamp': time,
          'x-slack-signature': `v0=${signature}`,
          ...headers,
        },
      });
    };
    const asked = { token: 'old', type: 'url_verification', challenge: '3eZbrw1aBm2rZgRNFdxV' };
    expect(await send(asked)).toMatchObject({ status: 200, body: { challenge: asked.challenge } });
    expect(await send(asked, { 'x-slack-signature': 'v0=00' })).toMatchObject({
      status: 401,
      body: { code: 'signature_invalid' },
    });
    const event = { type: 'event_callback', event: { type: 'app_mention' }, challenge: 'no question' };
    expect((await send(event, { 'x-kind': 'event' })).status).toBe(202);
    const { body } = await gateway.until(`/api/triggers/${slug}.in`, ({ body }) => body.counts.started > 0);
    expect(body.counts).toEqual({ started: 1, repeated: 0, debounced: 0, refused: 0 });
    expect((await gateway.request('POST', `/api/triggers/${slug}.in/disable`)).status).toBe(200);
    expect((await send(asked)).status).toBe(404);
  });

  it('take JSON, text and forms, and no other content type', async () => {
    const secret = 'that of GitHub';
    const { path } = await hooked({ scheme: 'github', secret });
    const send = (type: string, text: string, signedWith = secret) =>
      gateway.request('POST', `/webhooks/${path}`, {
        text,
        headers: { ...github(signedWith, text, crypto.randomUUID()), 'content-type': type },
      });
    for (const type of ['application/json', 'application/vnd.x+json', 'text/plain;charset=UTF-8', 'text/json'])
      expect((await send(type, '{"a":1}')).status, type).toBe(202);
    for (const type of ['application/json', 'text/plain'])
      expect(await send(type, '<a/>'), type).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    for (const type of ['application/xml', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16'])
      expect(await send(type, '{"a":1}'), type).toMatchObject({
        status: 415,
        body: { code: 'unsupported_media_type' },
      });
    expect(await send('application/xml', '<a/>', 'another')).toMatchObject({ status: 401 });
  });

  it('refuse names that no JSON may have in forms and queries too', async () => {
    const { path } = await hooked({ scheme: 'none' });
    const form = (text: string, query = '') =>
      gateway.request('POST', `/webhooks/${path}${query}`, {
        text,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    expect(await form('__proto__=1')).toMatchObject({ status: 400, body: { code: 'forbidden_key' } });
    expect(await form('a%00b=1')).toMatchObject({ status: 400, body: { code: 'invalid_name' } });
    expect(await form('a=1', '?a[b%00c]=1')).toMatchObject({ status: 400, body: { code: 'invalid_name' } });
    expect((await form('a=1', '?a[b]=1')).status).toBe(202);
  });

  it('demand the method, the headers and the input that are declared', async () => {
    const { path } = await hooked(
      { scheme: 'none', method: 'PUT', headers: { 'X-Kind': 'order', 'X-Any': '*' } },
      {},
      { input: { a: 'number' } },
    );
    const headers = { 'x-kind': 'order', 'x-any': '1' };
    const wrong = await gateway.request('POST', `/webhooks/${path}`, { json: { a: 1 }, headers });
    expect(wrong).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(wrong.headers.get('allow')).toBe('PUT');
    expect(
      await gateway.request('PUT', `/webhooks/${path}`, { json: { a: 1 }, headers: { 'x-kind': 'order' } }),
    ).toMatchObject({ status: 400, body: { code: 'required_header_missing' } });
    expect(await gateway.request('PUT', `/webhooks/${path}`, { json: { a: 'x' }, headers })).toMatchObject({
      status: 422,
      body: { code: 'invalid_input' },
    });
    expect((await gateway.request('PUT', `/webhooks/${path}`, { json: { a: 1 }, headers })).status).toBe(202);
  });

  it('wait for the result where the trigger says so, and take forms', async () => {
    const { path } = await hooked({ scheme: 'api_key', secret: 'key one', respond: 'result' });
    const headers = { 'x-api-key': 'key one', 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await gateway.request('POST', `/webhooks/${path}`, { text: 'text=hello+there', headers });
    expect(answer).toMatchObject({ status: 200, body: { status: 'completed', output: { text: 'hello there' } } });
  });

  it('keep paths to one workflow, free them with it, and let them rest', async () => {
    const { slug, path } = await hooked({ scheme: 'none' });
    const other = unique('other');
    const wants = (name: string) =>
      echoDefinition(name, { triggers: [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }] });
    expect(await gateway.request('PUT', `/api/workflows/${other}`, { json: wants(other) })).toMatchObject({
      status: 409,
      body: { code: 'path_taken' },
    });
    expect((await gateway.request('GET', `/api/workflows/${other}`)).status).toBe(404);
    expect((await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) })).status).toBe(200);
    expect((await gateway.request('POST', `/webhooks/${path}`, { json: {} })).status).toBe(404);
    expect(await gateway.request('PUT', `/api/workflows/${other}`, { json: wants(other) })).toMatchObject({
      status: 409,
      body: { code: 'path_resting' },
    });
    expect((await gateway.request('PUT', `/api/workflows/${slug}`, { json: wants(slug) })).status).toBe(200);
    expect((await gateway.request('POST', `/webhooks/${path}`, { json: {} })).status).toBe(202);
    expect((await gateway.request('DELETE', `/api/workflows/${slug}`)).status).toBe(204);
    expect((await gateway.request('POST', `/webhooks/${path}`, { json: { b: 1 } })).status).toBe(404);
  });

  it('start nothing while the workflow or the trigger is disabled', async () => {
    const { slug, path } = await hooked({ scheme: 'none' });
    const triggers = [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }];
    await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: echoDefinition(slug, { triggers, enabled: false }),
    });
    expect(await gateway.request('POST', `/webhooks/${path}`, { json: {} })).toMatchObject({
      status: 409,
      body: { code: 'workflow_disabled' },
    });
    await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: echoDefinition(slug, { triggers: [{ ...triggers[0]!, enabled: false }] }),
    });
    expect((await gateway.request('POST', `/webhooks/${path}`, { json: {} })).status).toBe(404);
  });

  it('have paths of several parts, and need a secret where the scheme does', async () => {
    const slug = unique('parts');
    const path = `${unique('shop')}/orders`;
    const triggers = [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }];
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, { triggers }) });
    expect((await gateway.request('POST', `/webhooks/${path}`, { json: {} })).status).toBe(202);
    expect((await gateway.request('POST', `/webhooks/default/${path}`, { json: {} })).status).toBe(200);
    const bare = [{ name: 'in', type: 'webhook', config: { path, scheme: 'github' } }];
    const refused = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: echoDefinition(slug, { triggers: bare }),
    });
    expect(refused).toMatchObject({ status: 422, body: { problems: [{ pointer: '/triggers/0/config/secret' }] } });
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
