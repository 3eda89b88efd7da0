// Webhooks: their paths, what they take, and what they demand of a delivery.
import { describe, expect, it, vi } from 'vitest';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';
import { github, hookedAt, outputOf } from './webhook-support.ts';

const gateway = sharedGateway();

describe('webhooks', () => {
  it('take a delivery by its body once in five minutes where it has no id', async () => {
    const { path } = await hookedAt(gateway, { scheme: 'none' });
    const first = await gateway.request('POST', `/webhooks/${path}?shop=x`, { json: { a: 1 } });
    expect(first.status).toBe(202);
    expect(await outputOf(gateway, first)).toEqual({ a: 1, query: { shop: 'x' } });
    expect(await gateway.request('POST', `/webhooks/${path}?shop=x`, { json: { a: 1 } })).toMatchObject({
      status: 200,
      body: { executionId: first.body.executionId },
    });
    expect((await gateway.request('POST', `/webhooks/${path}?shop=y`, { json: { a: 1 } })).status).toBe(202);
    expect((await gateway.request('POST', `/webhooks/${path}?shop=x`, { json: { a: 2 } })).status).toBe(202);
  });

  it('take a delivery by its body anew when five minutes are over, and not before', async () => {
    const { path } = await hookedAt(gateway, { scheme: 'none' });
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
    const { path } = await hookedAt(gateway, { scheme: 'none' });
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

  it('keep the digits of whole numbers that would be rounded, and refuse numbers beyond all doubles', async () => {
    const { path } = await hookedAt(gateway, { scheme: 'none' });
    const deliver = (text: string, type = 'application/json') =>
      gateway.request('POST', `/webhooks/${path}`, { text, headers: { 'content-type': type } });
    const given = '{"id": 7615917337495251231, "ids": [1, -9007199254740993], "n": 1152921504606847000}';
    const read = { id: '7615917337495251231', ids: [1, '-9007199254740993'], n: 2 ** 60 };
    expect(await outputOf(gateway, await deliver(given))).toEqual(read);
    const form = `payload=${encodeURIComponent(given)}`;
    expect(await outputOf(gateway, await deliver(form, 'application/x-www-form-urlencoded'))).toEqual(read);
    expect(await deliver('{"a": {"b": 1e400}}')).toMatchObject({
      status: 400,
      body: { code: 'number_too_long', problems: [{ pointer: '/a/b' }] },
    });
  });

  it('take forms in other charsets of one byte, as they are signed', async () => {
    const secret = 'that of GitHub';
    const { path } = await hookedAt(gateway, { scheme: 'github', secret });
    const send = (charset: string) =>
      gateway.request('POST', `/webhooks/${path}`, {
        text: 'name=Ren%E9',
        headers: {
          ...github(secret, 'name=Ren%E9', crypto.randomUUID()),
          'content-type': `application/x-www-form-urlencoded; charset=${charset}`,
        },
      });
    expect(await outputOf(gateway, await send('windows-1252'))).toMatchObject({ name: 'René' });
    expect(await send('shift_jis')).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  it('take JSON, text and forms, and no other content type', async () => {
    const secret = 'that of GitHub';
    const { path } = await hookedAt(gateway, { scheme: 'github', secret });
    const send = (type: string, text: string, signedWith = secret) =>
      gateway.request('POST', `/webhooks/${path}`, {
        text,
        headers: { ...github(signedWith, text, crypto.randomUUID()), 'content-type': type },
      });
    for (const type of ['application/json', 'application/vnd.x+json', 'text/plain;charset=UTF-8', 'text/json'])
      expect((await send(type, JSON.stringify({ type }))).status, type).toBe(202);
    for (const type of ['application/json', 'text/plain'])
      expect(await send(type, '<a/>'), type).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    for (const type of ['application/xml', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16'])
      expect(await send(type, '{"a":1}'), type).toMatchObject({
        status: 415,
        body: { code: 'unsupported_media_type' },
      });
    const latin = await send('application/json; charset=iso-8859-1', '{"a":1}');
    expect(latin.body.detail).toBe('Send the body in UTF-8: the Content-Type names another charset.');
    expect(await send('application/xml', '<a/>', 'another')).toMatchObject({ status: 401 });
  });

  it('whose secret is not stored tell strangers nothing of it, and their owner what is missing', async () => {
    const name = unique('nowhere');
    const { path, slug } = await hookedAt(gateway, { scheme: 'github', secret: { secretRef: name } });
    const send = () =>
      gateway.request('POST', `/webhooks/${path}`, {
        text: '{}',
        headers: { ...github('that of GitHub', '{}', 'd-1'), 'content-type': 'application/json' },
      });
    const refused = await send();
    expect(refused).toMatchObject({ status: 503, body: { code: 'webhook_unverifiable' } });
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(JSON.stringify(refused.body)).not.toContain(name);
    const { body } = await gateway.until(
      `/api/triggers?workflowId=${slug}`,
      ({ body }) => body.items[0]?.counts.refused === 1,
    );
    expect(body.items[0].last).toMatchObject({ outcome: 'refused', code: 'secret_not_found' });
    expect(body.items[0].last.message).toContain(name);
    await gateway.request('PUT', `/api/secrets/${name}`, { json: { value: 'that of GitHub' } });
    expect((await send()).status).toBe(202);
  });

  it('refuse names that no JSON may have in forms and queries too', async () => {
    const { path } = await hookedAt(gateway, { scheme: 'none' });
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
    const { path } = await hookedAt(
      gateway,
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
    const { path } = await hookedAt(gateway, { scheme: 'api_key', secret: 'key one', respond: 'result' });
    const headers = { 'x-api-key': 'key one', 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await gateway.request('POST', `/webhooks/${path}`, { text: 'text=hello+there', headers });
    expect(answer).toMatchObject({ status: 200, body: { status: 'completed', output: { text: 'hello there' } } });
    const send = (address: string, text: string) =>
      gateway.request('POST', `/webhooks/${path}${address}`, { text, headers });
    const repeated = await send('', 'day=mon&day=tue&day=wed&name=Lee');
    expect(repeated.body.output).toEqual({ day: ['mon', 'tue', 'wed'], name: 'Lee' });
    const payload = encodeURIComponent(JSON.stringify({ query: 'of the body', n: 1 }));
    expect((await send('?query=x&n=2', `payload=${payload}`)).body.output).toEqual({ query: 'of the body', n: 1 });
    expect((await send('?n=2', 'a=1')).body.output).toEqual({ a: '1', query: { n: '2' } });
    expect(await send('', 'a=%FF')).toMatchObject({ status: 200 });
  });

  it('keep paths to one workflow, free them with it, and let them rest', async () => {
    const { slug, path } = await hookedAt(gateway, { scheme: 'none' });
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
    const { slug, path } = await hookedAt(gateway, { scheme: 'none' });
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
