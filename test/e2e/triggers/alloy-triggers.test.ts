// alloy: public and private triggers, the run of an organization, debounce, restart.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type Answer, echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';
import { lastHeld, untilRefused } from './debounce-support.ts';

const gateway = sharedGateway();
let publicKey: string;
beforeAll(async () => {
  publicKey = (await gateway.request('GET', '/api/public-key')).body.publicApiKey;
});

type Members = { [key: string]: Json };

/** Open to public starts, unless it says something else. */
async function put(more: Members): Promise<string> {
  const slug = unique('public');
  const config = { publicStart: true, ...(more['config'] as Members | undefined) };
  const json = echoDefinition(slug, { ...more, config });
  const answer = await gateway.request('PUT', `/api/workflows/${slug}`, { json });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return slug;
}

const send = (slug: string, json: Json, headers: Record<string, string> = {}): Promise<Answer> =>
  gateway.request('POST', `/api/public/trigger/${publicKey}/${slug}`, { json, headers });
const privately = (slug: string, json: Json): Promise<Answer> =>
  gateway.request('POST', `/api/private/trigger/${slug}`, { json });
const output = async (id: string): Promise<unknown> =>
  (await gateway.request('GET', `/api/executions/${id}/result?wait=20`)).body.output;
const runsOf = async (slug: string, enough: (runs: Members[]) => boolean): Promise<Members[]> =>
  (await gateway.until(`/api/workflows/${slug}/executions`, ({ body }) => enough(body.items))).body.items;
const statusesOf = (runs: readonly Members[]) => runs.map((run) => String(run['status'])).sort();

describe('the public trigger', () => {
  it('starts a run with the body as payload', async () => {
    const slug = await put({ input: { amount: 'number', 'customer.id': 'string' } });
    const started = await send(slug, { amount: 3, 'customer.id': 'c1' });
    expect(started).toMatchObject({ status: 201, body: { success: true, data: { workflow_id: slug } } });
    expect(await output(started.body.data.run_id)).toEqual({ amount: 3, 'customer.id': 'c1' });
  });

  it('says of each field what is wrong with it', async () => {
    const slug = await put({ input: { amount: 'number', day: 'date', at: 'datetime' } });
    const refused = await send(slug, { amount: '3', day: '1.2.2026', at: '2026-01-02T03:04:05Z' });
    expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_input' } });
    expect(refused.body.problems.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      '/amount',
      '/day',
    ]);
  });

  it('takes only the present key', async () => {
    const slug = await put({});
    const forged = `${publicKey.slice(0, -1)}${publicKey.endsWith('0') ? '1' : '0'}`;
    for (const key of [forged, 'pub.x.y', 'nonsense', publicKey.replace('pub.', 'pub.eA')])
      expect((await gateway.request('POST', `/api/public/trigger/${key}/${slug}`, { json: {} })).status).toBe(401);
    expect((await send('no-such-workflow', {})).status).toBe(404);
    const before = publicKey;
    publicKey = (await gateway.request('POST', '/api/public-key', { json: {} })).body.publicApiKey;
    expect((await gateway.request('POST', `/api/public/trigger/${before}/${slug}`, { json: {} })).status).toBe(401);
    expect((await send(slug, {})).status).toBe(201);
  });

  it('starts only workflows that say so, and those of alloy', async () => {
    const closed = await put({ config: { publicStart: false } });
    expect(await send(closed, {})).toMatchObject({ status: 403, body: { code: 'public_start_not_allowed' } });
    expect((await privately(closed, {})).status).toBe(201);
    const slug = unique('of-004');
    const flow = {
      start: { type: 'starting_step', next_step_id: 'f' },
      f: { type: 'finish', config: { output: '{{input}}' } },
    };
    const document = { name: 'Of 004', slug, starting_step_id: 'start', flow };
    expect((await gateway.request('PUT', `/api/workflows/${slug}`, { json: document })).status).toBe(201);
    expect((await send(slug, {})).status).toBe(201);
    const shut = { ...document, public_start: false };
    expect((await gateway.request('PUT', `/api/workflows/${slug}`, { json: shut })).status).toBe(200);
    expect(await send(slug, {})).toMatchObject({ status: 403, body: { code: 'public_start_not_allowed' } });
  });

  it('takes the whole body as payload: a text, a form, JSON of any kind', async () => {
    const slug = await put({});
    const path = `/api/public/trigger/${publicKey}/${slug}`;
    const given = async (text: string, type?: string) => {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      const answer = await gateway.request('POST', path, { text, headers });
      return answer.status === 201 ? output(answer.body.data.run_id) : [answer.status, answer.body.code];
    };
    expect(await given('hallo ü', 'text/plain')).toBe('hallo ü');
    expect(await given('a,b\n1,2', 'text/csv; charset=utf-8')).toBe('a,b\n1,2');
    expect(await given('a=1&b=x%20y&b=z', 'application/x-www-form-urlencoded')).toEqual({ a: '1', b: ['x y', 'z'] });
    expect(await given('[1,2]', 'application/json')).toEqual([1, 2]);
    expect(await given('{x', 'application/json')).toEqual([400, 'invalid_json']);
    expect(await given('__proto__=1', 'application/x-www-form-urlencoded')).toEqual([400, 'forbidden_key']);
    expect(await given('x', 'application/octet-stream')).toEqual([415, 'unsupported_media_type']);
    expect(await given('x', 'text/plain; charset=utf-16')).toEqual([415, 'unsupported_media_type']);
  });

  it('starts one run for each Idempotency-Key', async () => {
    const slug = await put({});
    const headers = { 'idempotency-key': 'one' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(slug, { a: 1 }, headers)));
    expect(new Set(answers.map(({ body }) => body.data.run_id)).size).toBe(1);
    expect((await send(slug, { a: 2 }, headers)).status).toBe(422);
  });
});

describe('what a key had started', () => {
  it('is answered again when the workflow takes no more, or something else', async () => {
    const slug = await put({});
    const runs = `/api/organizations/default/workflows/${slug}/runs`;
    const ways = [`/api/public/trigger/${publicKey}/${slug}`, `/api/private/trigger/${slug}`, runs];
    const ask = (path: string, n = 1) =>
      gateway.request('POST', path, {
        json: path === runs ? { payload: { n } } : { n },
        headers: { 'idempotency-key': 'k' },
      });
    const first = await Promise.all(ways.map((path) => ask(path)));
    expect(first.map(({ status }) => status)).toEqual([201, 201, 201]);
    const asBefore = first.map(({ body }) => ({ status: 200, body: { data: { run_id: body.data.run_id } } }));
    await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: echoDefinition(slug, { input: { other: 'string' } }),
    });
    expect(await Promise.all(ways.map((path) => ask(path)))).toMatchObject(asBefore);
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, { enabled: false }) });
    expect(await Promise.all(ways.map((path) => ask(path)))).toMatchObject(asBefore);
    expect(await ask(ways[0]!, 2)).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
    expect((await gateway.request('POST', ways[1]!, { json: { n: 1 } })).status).toBe(409);
    await gateway.request('DELETE', `/api/workflows/${slug}`);
    expect(await Promise.all(ways.map((path) => ask(path)))).toMatchObject(asBefore);
  });
});

describe('the private trigger and the run of an organization', () => {
  it('start immediately, the latter with a state', async () => {
    const slug = await put({
      state: { attempts: 'number' },
      config: { debounce: { key: 'id', seconds: 60 } },
      steps: { done: { stepType: 'finish', config: { output: '{{ state.attempts ?: input }}' } } },
    });
    const started = await privately(slug, { id: 1 });
    expect(started.status).toBe(201);
    expect(await output(started.body.data.run_id)).toEqual({ id: 1 });
    const path = `/api/organizations/default/workflows/${slug}/runs/`;
    const run = await gateway.request('POST', path, { json: { payload: { id: 2 }, state: { attempts: 5 } } });
    expect(run.status).toBe(201);
    expect(await output(run.body.data.run_id)).toBe(5);
    const wrong = await gateway.request('POST', path, { json: { state: { attempts: 'many', other: 1 } } });
    expect(wrong.body.problems.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      '/state/attempts',
      '/state/other',
    ]);
    const elsewhere = await gateway.request('POST', path.replace('default', 'other'), { json: {} });
    expect(elsewhere.status).toBe(404);
  });
});

// Most of it is waiting.
describe.concurrent('debounce', () => {
  it('starts one run for each key, with the last payload, found by dot path or flat key', async () => {
    const slug = await put({ config: { debounce: { key: 'customer.id', seconds: 5 } } });
    for (const n of [1, 2, 3]) {
      const held = await send(slug, { customer: { id: 'a' }, n });
      expect(held).toMatchObject({ status: 202, body: { success: true, data: { debounced: true } } });
    }
    expect((await send(slug, { 'customer.id': 'b', n: 4 })).status).toBe(202);
    expect((await send(slug, { n: 5 })).status).toBe(201);
    const runs = await runsOf(
      slug,
      (items) => items.length === 3 && statusesOf(items).every((one) => one === 'completed'),
    );
    const outputs = await Promise.all(runs.map((run) => output(String(run['id']))));
    expect(outputs).toEqual(
      expect.arrayContaining([{ customer: { id: 'a' }, n: 3 }, { 'customer.id': 'b', n: 4 }, { n: 5 }]),
    );
  });

  it('puts a run off no longer than it may be, though payloads do not cease', async () => {
    const slug = await put({ config: { debounce: { seconds: 60, maxWait: '3s' } } });
    const begun = Date.now();
    let firstMs: number | undefined;
    for (let n = 0, runs = 0; runs < 2; n++) {
      expect((await send(slug, { n })).status).toBe(202);
      const { body } = await gateway.request('GET', `/api/workflows/${slug}/executions`);
      runs = body.items.length;
      if (runs > 0) firstMs ??= Date.now() - begun;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(firstMs).toBeGreaterThan(2_500);
  });

  it('also for webhooks, whose deliveries count once, by a template', async () => {
    const path = unique('path');
    const slug = await put({
      config: { debounce: { key: '{{ input.kind }}-{{ input.id }}', seconds: 4 } },
      triggers: [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }],
    });
    const deliver = (json: Json, id: string) =>
      gateway.request('POST', `/webhooks/${path}`, { json, headers: { 'idempotency-key': id } });
    const first = await deliver({ kind: 'x', id: 1, n: 1 }, 'one');
    expect(first).toMatchObject({ status: 202, body: { debounced: true } });
    await deliver({ kind: 'x', id: 1, n: 2 }, 'two');
    const [run] = await runsOf(slug, (items) => items[0]?.['status'] === 'completed');
    expect(await output(String(run!['id']))).toEqual({ kind: 'x', id: 1, n: 2 });
    const held = await lastHeld(gateway, `${slug}.in`, 'x-1');
    expect((await deliver({ kind: 'x', id: 1, n: 1 }, 'one')).body).toMatchObject({ debounced: true });
    expect(await lastHeld(gateway, `${slug}.in`, 'x-1')).toBe(held);
    expect(await runsOf(slug, () => true)).toHaveLength(1);
    const told = await gateway.until(`/api/triggers/${slug}.in`, ({ body }) => body.counts.repeated >= 1);
    expect(told.body.counts).toMatchObject({ started: 1, debounced: 2, repeated: 1 });
  });

  it('takes a payload once per Idempotency-Key, also after it has fired, and once per body of a webhook', async () => {
    const path = unique('path');
    const slug = await put({
      config: { debounce: { seconds: 1 } },
      triggers: [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }],
    });
    const ask = (n: number) => send(slug, { n }, { 'idempotency-key': 'k' });
    const deliver = () => gateway.request('POST', `/webhooks/${path}`, { json: { body: 1 } });
    const [first, delivered] = await Promise.all([ask(1), deliver()]);
    expect(first).toMatchObject({ status: 202, body: { data: { debounced: true } } });
    expect(delivered).toMatchObject({ status: 202, body: { debounced: true } });
    expect((await ask(1)).body).toEqual(first.body);
    expect((await deliver()).body.until).toBe(delivered.body.until);
    expect(await ask(2)).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
    await runsOf(slug, (items) => items.length === 2);
    const held = () => Promise.all([lastHeld(gateway, slug), lastHeld(gateway, `${slug}.in`)]);
    const before = await held();
    expect((await ask(1)).status).toBe(202);
    expect((await deliver()).status).toBe(202);
    expect(await held()).toEqual(before);
    expect(await runsOf(slug, () => true)).toHaveLength(2);
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, { enabled: false }) });
    expect((await ask(1)).body.data.until).toBe(first.body.data.until);
  });

  it('keeps its payload while a limit refuses the run', async () => {
    const steps = { wait: { stepType: 'listen', config: { name: 'go' } } };
    const slug = await put({
      steps,
      config: { debounce: { key: 'id', seconds: 1 }, concurrency: { limit: 1, overflow: 'reject' } },
    });
    const busy = await send(slug, { n: 1 });
    expect(busy.status).toBe(201);
    expect((await send(slug, { id: 'a', n: 2 })).status).toBe(202);
    await untilRefused(gateway, slug, 'a');
    expect(await runsOf(slug, () => true)).toHaveLength(1);
    await gateway.request('POST', `/api/executions/${busy.body.data.run_id}/cancel`, { json: {} });
    const runs = await runsOf(slug, (items) => statusesOf(items).includes('waiting') && items.length === 2);
    expect(statusesOf(runs)).toEqual(['cancelled', 'waiting']);
  });
});
