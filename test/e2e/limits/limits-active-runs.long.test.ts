// Limits count what is active already when they are switched on, and whose runs the runs of triggers are.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/contract/organization/organization.ts';
import type { Json } from '../../../src/json/json.ts';
import { type Answer, approvalDefinition, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

let gateway: TestGateway;
const keys = new Map<string, string>();
beforeAll(async () => {
  const admin = 'an-admin-key-that-is-long-enough-for-this';
  // In a namespace of its own: limits of people count what other test files may have left.
  gateway = await testGateway({ SIGNALBOX_ADMIN_KEY: admin, TEMPORAL_NAMESPACE: unique('active') });
  keys.set('admin', admin);
  const roles: [string, Role][] = [
    ['root', 'admin'],
    ['ann', 'editor'],
    ['bob', 'editor'],
  ];
  for (const [name, role] of roles) keys.set(name, (await as('admin', 'POST', '/api/keys', { name, role })).body.key);
});
afterAll(() => gateway.close());

const as = (who: string, method: string, path: string, json?: Json): Promise<Answer> =>
  gateway.request(method, path, {
    headers: { authorization: `Bearer ${keys.get(who)}` },
    ...(json === undefined ? {} : { json }),
  });
/** `gateway.request` sends the admin's key otherwise. */
const NOBODY = { authorization: '' };
const start = (who: string, workflowId: string, amount = 1): Promise<Answer> =>
  as(who, 'POST', '/api/triggers/manual/run', { workflowId, input: { amount } });
const put = async (who: string, slug: string, more: { [key: string]: Json } = {}): Promise<void> => {
  const { status, body } = await as(who, 'PUT', `/api/workflows/${slug}`, approvalDefinition(slug, more));
  expect(status, JSON.stringify(body)).toBeLessThan(300);
};
async function end(ids: readonly string[]): Promise<void> {
  for (const id of ids) await as('ann', 'POST', `/api/executions/${id}/cancel`, {});
  for (const id of ids) await as('ann', 'GET', `/api/executions/${id}/result?wait=20`);
}
const listed = (slug: string, count: number): Promise<Answer> =>
  gateway.until(
    `/api/workflows/${slug}/executions?status=waiting`,
    ({ body }) =>
      body.items.length === count && body.items.every((run: { status: string }) => run.status === 'waiting'),
  );
const waiting = async (id: string): Promise<void> =>
  void (await gateway.until(`/api/executions/${id}`, ({ body }) => body.status === 'waiting'));

describe('a limit that is switched on', () => {
  it("counts the organization's runs that are active", async () => {
    const slug = unique('active');
    await put('ann', slug);
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await start('ann', slug)).body.executionId);
    await listed(slug, 3);
    await as('root', 'PUT', '/api/limits/organization', { limit: 4, overflow: 'reject' });
    const fourth = await start('bob', slug);
    expect(fourth.status).toBe(201);
    for (let n = 0; n < 2; n++)
      expect(await start('bob', slug)).toMatchObject({
        status: 429,
        body: { code: 'limit_reached', scope: 'organization' },
      });
    await end(ids.slice(0, 1));
    const fifth = await start('bob', slug);
    expect(fifth.status).toBe(201);
    expect((await start('ann', slug)).status).toBe(429);
    await as('root', 'DELETE', '/api/limits/organization');
    // What begins while there is none is counted when there is one again.
    const free = await start('ann', slug);
    await listed(slug, 5);
    await as('root', 'PUT', '/api/limits/organization', { limit: 4, overflow: 'reject' });
    await end(ids.slice(1, 2));
    expect((await start('ann', slug)).status).toBe(429);
    await end([...ids.slice(2), fourth.body.executionId, fifth.body.executionId, free.body.executionId]);
    await as('root', 'DELETE', '/api/limits/organization');
  });

  it('lets runs wait until those before it have ended', async () => {
    const slug = unique('queued');
    await put('ann', slug);
    const first = (await start('ann', slug)).body.executionId;
    await listed(slug, 1);
    await as('root', 'PUT', '/api/limits/organization', { limit: 1, overflow: 'queue' });
    const second = (await start('ann', slug)).body.executionId;
    await gateway.until(`/api/executions/${second}`, ({ body }) => body.waitingFor[0]?.kind === 'slot');
    await end([first]);
    await waiting(second);
    await end([second]);
    await as('root', 'DELETE', '/api/limits/organization');
  });

  it('counts runs that wait at another limit', async () => {
    const slug = unique('elsewhere');
    await put('ann', slug, { config: { concurrency: { limit: 1, overflow: 'queue' } } });
    const ids: string[] = [];
    for (let n = 0; n < 2; n++) ids.push((await start('ann', slug)).body.executionId);
    await listed(slug, 1);
    const { body } = await gateway.until(
      `/api/workflows/${slug}/executions?status=pending`,
      ({ body }) => body.items.length === 1 && body.items[0].waitingFor[0]?.kind === 'slot',
    );
    const pending = body.items[0].id;
    const other = unique('other');
    await put('ann', other);
    await as('root', 'PUT', '/api/limits/organization', { limit: 3, overflow: 'reject' });
    const third = await start('ann', other);
    expect(third.status).toBe(201);
    expect(await start('ann', other)).toMatchObject({ status: 429, body: { scope: 'organization' } });
    await end([pending]);
    const fourth = await start('ann', other);
    expect(fourth.status).toBe(201);
    await end([...ids.filter((id) => id !== pending), third.body.executionId, fourth.body.executionId]);
    await as('root', 'DELETE', '/api/limits/organization');
  });

  it('of users counts public starts without a key together', async () => {
    const slug = unique('public');
    await put('ann', slug, { config: { publicStart: true } });
    const { publicApiKey } = (await as('ann', 'GET', '/api/public-key')).body;
    const open = (): Promise<Answer> =>
      gateway.request('POST', `/api/public/trigger/${publicApiKey}/${slug}`, { headers: NOBODY, json: { amount: 1 } });
    const ids = [(await open()).body.data.executionId];
    await listed(slug, 1);
    await as('root', 'PUT', '/api/limits/user', { limit: 2, overflow: 'reject' });
    ids.push((await open()).body.data.executionId);
    expect(await open()).toMatchObject({ status: 429, body: { scope: 'user' } });
    const anns = await start('ann', slug);
    expect(anns.status).toBe(201);
    await end([...ids, anns.body.executionId]);
    await as('root', 'DELETE', '/api/limits/user');
  });

  it('of a definition counts the runs of its versions before, by key', async () => {
    const slug = unique('keyed');
    await put('ann', slug);
    const ids = [1, 1, 2].map(async (amount) => (await start('ann', slug, amount)).body.executionId as string);
    const started = await Promise.all(ids);
    await listed(slug, 3);
    await put('ann', slug, { config: { concurrency: { limit: 2, key: '{{ input.amount }}', overflow: 'reject' } } });
    expect(await start('ann', slug, 1)).toMatchObject({ status: 429, body: { scope: 'workflow' } });
    const other = await start('ann', slug, 2);
    expect(other.status).toBe(201);
    expect((await start('ann', slug, 2)).status).toBe(429);
    await end(started.slice(0, 1));
    const freed = await start('ann', slug, 1);
    expect(freed.status).toBe(201);
    await end([...started.slice(1), other.body.executionId, freed.body.executionId]);
  });
});

describe('runs of triggers', () => {
  it('count as runs of the author of the trigger, in a definition or through the API', async () => {
    const [slug, path, own] = [unique('owned'), unique('path'), unique('own')];
    await put('ann', slug, { triggers: [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }] });
    const made = await as('bob', 'POST', '/api/triggers', {
      workflowId: slug,
      name: 'bobs',
      type: 'webhook',
      config: { path: own, scheme: 'none' },
    });
    expect(made).toMatchObject({ status: 201, body: { owner: 'bob' } });
    expect((await as('ann', 'GET', `/api/triggers/${slug}.in`)).body).toMatchObject({ owner: 'ann' });
    const deliver = (to: string, amount: number) =>
      gateway.request('POST', `/webhooks/${to}`, { headers: NOBODY, json: { amount } });
    const first = await deliver(path, 1);
    expect(first.status).toBe(202);
    await listed(slug, 1);

    await as('root', 'PUT', '/api/limits/user', { limit: 2, overflow: 'reject' });
    const second = await deliver(path, 2);
    expect(second.status).toBe(202);
    // Two of ann's go: her own starts and her webhook's are refused, bob's are not.
    expect(await deliver(path, 3)).toMatchObject({ status: 429, body: { code: 'limit_reached' } });
    expect(await start('ann', slug)).toMatchObject({ status: 429, body: { scope: 'user' } });
    const bobs = [await deliver(own, 1), await deliver(own, 2)];
    expect(bobs.map(({ status }) => status)).toEqual([202, 202]);
    expect((await deliver(own, 3)).status).toBe(429);
    expect((await start('bob', slug)).status).toBe(429);
    // Who switches a trigger does not take it over.
    expect((await as('ann', 'POST', `/api/triggers/${slug}.bobs/disable`)).body).toMatchObject({
      by: 'ann',
      owner: 'bob',
    });
    await end([first, second, ...bobs].map(({ body }) => body.executionId));
    await as('root', 'DELETE', '/api/limits/user');
  });

  it('of schedules count as well', async () => {
    const slug = unique('scheduled');
    const variableMapping = { amount: '$.scheduledTime' };
    await put('ann', slug, {
      triggers: [{ name: 'tick', type: 'schedule', config: { cron: '0 0 * * *' }, variableMapping }],
    });
    await as('root', 'PUT', '/api/limits/user', { limit: 2, overflow: 'reject' });
    const json = { start: '2026-01-01T12:00:00Z', end: '2026-01-05T12:00:00Z' };
    expect((await as('ann', 'POST', `/api/triggers/${slug}.tick/backfill`, json)).body.times).toBe(4);
    const told = (times: number) => {
      const isTold = ({ body }: Answer) => body.counts.started + body.counts.refused === times;
      return gateway.until(`/api/triggers/${slug}.tick`, isTold, 20);
    };
    expect((await told(4)).body.counts).toMatchObject({ started: 2, refused: 2 });
    // Which of the four was reported last is chance. That of a fifth is known.
    const fifth = { start: '2026-01-05T12:00:00Z', end: '2026-01-06T12:00:00Z' };
    expect((await as('ann', 'POST', `/api/triggers/${slug}.tick/backfill`, fifth)).body.times).toBe(1);
    const { body } = await told(5);
    expect(body.counts).toMatchObject({ started: 2, refused: 3 });
    expect(body.last.code).toMatch(/limit_reached/);
    const { items } = (await listed(slug, 2)).body;
    await end(items.map(({ id }: { id: string }) => id));
    await as('root', 'DELETE', '/api/limits/user');
    await as('ann', 'DELETE', `/api/workflows/${slug}`);
  });
});
