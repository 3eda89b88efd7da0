// A large limit, which is split among shards: their limiter pool, and what runs see of it.

import { afterAll, expect, it } from 'vitest';
import { MIN_SHARDED_LIMIT } from '../../../src/client/starts/limiters.ts';
import { LIMITER_POOL_WORKFLOW } from '../../../src/contract/limits/limiter-pool.ts';
import { approvalDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const WAITING = 30;
const ADDRESS = '/api/limits/organization';

const gateway = sharedGateway();
afterAll(async () => {
  await gateway.request('DELETE', ADDRESS);
});

/** With limited concurrency. */
async function eachConcurrently<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      for (const item of left) await act(item);
    }),
  );
}

it('admits as many runs as the limit allows, and the others as these end', { timeout: 240_000 }, async () => {
  const json = { limit: MIN_SHARDED_LIMIT, overflow: 'queue' };
  expect((await gateway.request('PUT', ADDRESS, { json })).status).toBeLessThan(300);
  const slug = unique('divided');
  await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
  const ids: string[] = [];
  await eachConcurrently([...Array(MIN_SHARDED_LIMIT + WAITING).keys()], async (amount) => {
    const id = await gateway.start(slug, { amount });
    ids.push(id);
  });
  const address = `/api/executions?workflowId=${slug}&limit=500`;
  const count = async (status: string): Promise<number> =>
    (await gateway.request('GET', `${address}&status=${status}`)).body.items.length;
  const pools = async () => {
    const rows = [];
    const query = `TemporalNamespaceDivision = 'signalbox' AND WorkflowType = '${LIMITER_POOL_WORKFLOW}'`;
    for await (const row of gateway.server.client.workflow.list({ query })) rows.push(row);
    return rows;
  };

  await expect.poll(() => count('waiting'), { timeout: 60_000, interval: 500 }).toBe(MIN_SHARDED_LIMIT);
  expect(await count('pending')).toBe(WAITING);
  expect((await pools()).length).toBeGreaterThan(0);
  const pending = (await gateway.request('GET', `${address}&status=pending`)).body.items[0];
  const one = await gateway.request('GET', `/api/executions/${pending.id}`);
  expect(one.body.waitingFor).toMatchObject([{ kind: 'slot', name: 'organization', position: expect.any(Number) }]);

  // Each end admits one of the waiting runs, whichever shard it asked.
  const active = (await gateway.request('GET', `${address}&status=waiting`)).body.items.map(
    ({ id }: { id: string }) => id,
  );
  const decide = (id: string) =>
    gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } }).then(({ status }) => {
      expect(status).toBe(200);
    });
  await eachConcurrently(active.slice(0, WAITING), decide);
  await expect.poll(() => count('pending'), { timeout: 60_000, interval: 500 }).toBe(0);
  await expect.poll(() => count('waiting'), { timeout: 60_000, interval: 500 }).toBe(MIN_SHARDED_LIMIT);

  const rest = (await gateway.request('GET', `${address}&status=waiting`)).body.items;
  await eachConcurrently(
    rest.map(({ id }: { id: string }) => id),
    decide,
  );
  await eachConcurrently(ids, async (id) => {
    expect((await gateway.request('GET', `/api/executions/${id}/result?wait=30`)).body.status).toBe('completed');
  });
});
