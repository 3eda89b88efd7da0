// Syncs (agent-ops): one definition, or a whole set of which what is gone is deleted.

import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();

const post = (path: string, json: Json) => gateway.request('POST', path, { json });
const statusOf = async (slug: string) => (await gateway.request('GET', `/api/workflows/${slug}`)).status;
const saying = (slug: string, what: Json): { [key: string]: Json } =>
  echoDefinition(slug, { steps: { done: { stepType: 'finish', config: { output: what } } } });
const syncAll = (source: string, workflows: Json[], more: { [key: string]: Json } = {}) =>
  post('/api/workflows/sync-all', { source, workflows, ...more });

describe('a sync of one definition', () => {
  it('creates it, updates it, or finds it unchanged', async () => {
    const slug = unique('synced');
    const sync = (what: Json) => post('/api/workflows/sync', { workflow: saying(slug, what) });
    expect(await sync('a')).toMatchObject({ status: 201, body: { slug, action: 'created' } });
    expect(await sync('a')).toMatchObject({ status: 200, body: { action: 'unchanged' } });
    expect(await sync('b')).toMatchObject({ status: 200, body: { action: 'updated' } });
    const history = await gateway.request('GET', `/api/workflows/${slug}/history`);
    expect(history.body.items.map(({ source }: { source: string }) => source)).toEqual(['sync', 'sync']);
  });

  it('keeps the text of a definition that is given as one', async () => {
    const slug = unique('written');
    const text = `# Why\nname: Written\nslug: ${slug}\nsteps:\n  end: {stepType: finish} # Here it ends.\n`;
    const textOf = async () => (await gateway.request('GET', `/api/workflows/${slug}/text`)).body.text;
    expect(await post('/api/workflows/sync', { workflow: text })).toMatchObject({ status: 201, body: { slug } });
    expect(await textOf()).toBe(text);
    expect(await post('/api/workflows/sync', { workflow: text })).toMatchObject({ body: { action: 'unchanged' } });
    const other = text.replace('Why', 'Because');
    const source = unique('texts');
    expect(await syncAll(source, [other])).toMatchObject({ status: 200, body: { updated: [slug] } });
    expect(await textOf()).toBe(other);
    expect((await syncAll(source, [other])).body).toMatchObject({ updated: [], unchanged: [slug] });
    const { body: head } = await gateway.request('GET', `/api/workflows/${slug}`);
    const { name, steps } = head.definition;
    expect((await syncAll(source, [{ name, slug, steps }])).body).toMatchObject({ unchanged: [slug] });
    expect(await textOf()).toBe(other);
  });

  it('leaves a definition disabled that was disabled by hand', async () => {
    const slug = unique('synced-disabled');
    await post('/api/workflows/sync', { workflow: saying(slug, 'a') });
    await post(`/api/workflows/${slug}/disable`, {});
    await post('/api/workflows/sync', { workflow: saying(slug, 'b') });
    expect((await gateway.request('GET', `/api/workflows/${slug}`)).body.enabled).toBe(false);
  });
});

it('stores nothing whose secrets the organization has no room for', async () => {
  const names: string[] = [];
  for (let status = 201; status === 201; ) {
    const name = unique('filler');
    const answer = await gateway.request('PUT', `/api/secrets/${name}`, { json: { value: 'x'.repeat(65_000) } });
    status = answer.status;
    if (status === 201) names.push(name);
    else expect(answer.body.code).toBe('too_large');
  }
  expect(names.length).toBeGreaterThan(5);
  const [one, synced, other] = [unique('large-secret'), unique('large-secret'), unique('large-secret')];
  const secret = (value: string) => ({ config: { secrets: { K: { value } } } });
  const withSecret = (slug: string) => echoDefinition(slug, secret('y'.repeat(65_000)));
  const full = { status: 409, body: { code: 'too_large' } };
  expect(await gateway.request('PUT', `/api/workflows/${one}`, { json: withSecret(one) })).toMatchObject(full);
  expect(await syncAll(unique('full'), [saying(other, 1), withSecret(synced)])).toMatchObject(full);
  expect([await statusOf(one), await statusOf(other), await statusOf(synced)]).toEqual([404, 404, 404]);
  await post('/api/workflows', saying(other, 1));
  const config = { path: unique('hook'), scheme: 'hmac', secret: 'z'.repeat(65_000) };
  const trigger = { workflowId: other, name: 'in', type: 'webhook', config };
  expect(await post('/api/triggers', trigger)).toMatchObject(full);
  expect((await gateway.request('GET', `/api/triggers/${other}.in`)).status).toBe(404);
  // Both together do not fit, and nothing of them is stored.
  await gateway.request('DELETE', `/api/secrets/${names.pop()}`);
  expect(await syncAll(unique('full'), [withSecret(one), withSecret(synced)])).toMatchObject(full);
  expect(await statusOf(one)).toBe(404);
  expect(await syncAll(unique('full'), [withSecret(one)])).toMatchObject({ status: 200, body: { created: [one] } });
  for (const name of [...names, `workflows/${one}/secrets/K`])
    await gateway.request('DELETE', `/api/secrets/${encodeURIComponent(name)}`);
});

describe('a sync of a whole set', () => {
  it('creates, updates, leaves and deletes, and touches nothing of others', async () => {
    const [source, other] = [unique('repository'), unique('other')];
    const [a, b, c, mine, theirs] = ['a', 'b', 'c', 'mine', 'theirs'].map(unique) as [
      string,
      string,
      string,
      string,
      string,
    ];
    await post('/api/workflows', saying(mine, 1));
    await syncAll(other, [saying(theirs, 1)]);
    expect((await syncAll(source, [saying(a, 1), saying(b, 1)])).body).toEqual({
      created: [a, b],
      updated: [],
      unchanged: [],
      deleted: [],
    });
    const next = [saying(a, 1), saying(c, 1)];
    const plan = { created: [c], updated: [], unchanged: [a], deleted: [b] };
    expect((await syncAll(source, next, { dryRun: true })).body).toEqual(plan);
    expect([await statusOf(b), await statusOf(c)]).toEqual([200, 404]);
    expect((await syncAll(source, next)).body).toEqual(plan);
    expect([await statusOf(b), await statusOf(c), await statusOf(mine), await statusOf(theirs)]).toEqual([
      404, 200, 200, 200,
    ]);
    expect((await syncAll(source, [saying(a, 2), saying(c, 1)])).body).toMatchObject({ updated: [a], unchanged: [c] });
    // Another set takes one over: this one lets go of it.
    await syncAll(other, [saying(theirs, 1), saying(c, 1)]);
    expect((await syncAll(source, [])).body.deleted).toEqual([a]);
    expect(await statusOf(c)).toBe(200);
  });

  it('writes nothing where a path of one of them is taken, by another workflow or by another of them', async () => {
    const [path, own] = [unique('taken'), unique('own')];
    const hooked = (slug: string, at: string): { [key: string]: Json } => ({
      ...saying(slug, 1),
      triggers: [{ name: 'in', type: 'webhook', config: { path: at, scheme: 'none' } }],
    });
    await post('/api/workflows', hooked(unique('owner'), path));
    const [first, second, third] = [unique('first'), unique('second'), unique('third')];
    const taken = { status: 409, body: { code: 'path_taken' } };
    expect(await syncAll(unique('paths'), [saying(first, 1), hooked(second, path)])).toMatchObject(taken);
    expect(await syncAll(unique('paths'), [hooked(first, own), hooked(second, own)])).toMatchObject(taken);
    expect([await statusOf(first), await statusOf(second)]).toEqual([404, 404]);
    const source = unique('paths');
    expect(await syncAll(source, [hooked(third, own)])).toMatchObject({ status: 200, body: { created: [third] } });
    expect(await syncAll(source, [hooked(third, own)])).toMatchObject({ status: 200, body: { unchanged: [third] } });
  });

  it('writes nothing where one of them has a problem, and says which', async () => {
    const [good, bad] = [unique('good'), unique('bad')];
    const answer = await syncAll(unique('broken'), [
      saying(good, 1),
      { name: 'Bad', slug: bad, steps: { x: { stepType: 'nothing' } } },
    ]);
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_definition' } });
    expect(answer.body.problems[0].pointer).toMatch(/^\/workflows\/1\//);
    expect(await statusOf(good)).toBe(404);
    const unread = await syncAll(unique('unread'), [saying(good, 1), 'name: [\n']);
    expect(unread).toMatchObject({ status: 422, body: { code: 'invalid_definition' } });
    expect(unread.body.problems[0].pointer).toMatch(/^\/workflows\/1/);
    expect(await statusOf(good)).toBe(404);
    const twice = await syncAll(unique('twice'), [saying(good, 1), saying(good, 2)]);
    expect(twice.body.problems).toMatchObject([{ pointer: '/workflows/1/slug', code: 'duplicate_slug' }]);
  });
});
