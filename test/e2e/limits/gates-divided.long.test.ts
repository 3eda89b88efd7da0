// A large limit, which is divided among shards: their lender, and what runs see of it.

import { afterAll, expect, it } from 'vitest';
import { SHARDED_FROM } from '../../../src/client/starts/limiters.ts';
import { LENDER_WORKFLOW } from '../../../src/contract/lender.ts';
import { approvalDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const WAITING = 30;
const ADDRESS = '/api/limits/organization';

const gateway = sharedGateway();
afterAll(async () => {
  await gateway.request('DELETE', ADDRESS);
});

/** A few at once. */
async function each<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      for (const item of left) await act(item);
    }),
  );
}

it('lets in as many runs as the limit says, and the others as these end', { timeout: 240_000 }, async () => {
  const json = { limit: SHARDED_FROM, overflow: 'queue' };
  expect((await gateway.request('PUT', ADDRESS, { json })).status).toBeLessThan(300);
  const slug = unique('divided');
  await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
  const ids: string[] = [];
  await each([...Array(SHARDED_FROM + WAITING).keys()], async (amount) => {
    const id = await gateway.start(slug, { amount });
    ids.push(id);
  });
  const address = `/api/executions?workflowId=${slug}&limit=500`;
  const count = async (status: string): Promise<number> =>
    (await gateway.request('GET', `${address}&status=${status}`)).body.items.length;
  const lenders = async () => {
    const rows = [];
    const query = `TemporalNamespaceDivision = 'signalbox' AND WorkflowType = '${LENDER_WORKFLOW}'`;
    for await (const row of gateway.server.client.workflow.list({ query })) rows.push(row);
    return rows;
  };

  await expect.poll(() => count('waiting'), { timeout: 60_000, interval: 500 }).toBe(SHARDED_FROM);
  expect(await count('pending')).toBe(WAITING);
  expect((await lenders()).length).toBeGreaterThan(0);
  const pending = (await gateway.request('GET', `${address}&status=pending`)).body.items[0];
  const one = await gateway.request('GET', `/api/executions/${pending.id}`);
  expect(one.body.waitingFor).toMatchObject([{ kind: 'slot', name: 'organization', position: expect.any(Number) }]);

  // Each end lets in one of those that wait, whichever shard it asked.
  const going = (await gateway.request('GET', `${address}&status=waiting`)).body.items.map(
    ({ id }: { id: string }) => id,
  );
  const decide = (id: string) =>
    gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } }).then(({ status }) => {
      expect(status).toBe(200);
    });
  await each(going.slice(0, WAITING), decide);
  await expect.poll(() => count('pending'), { timeout: 60_000, interval: 500 }).toBe(0);
  await expect.poll(() => count('waiting'), { timeout: 60_000, interval: 500 }).toBe(SHARDED_FROM);

  const rest = (await gateway.request('GET', `${address}&status=waiting`)).body.items;
  await each(
    rest.map(({ id }: { id: string }) => id),
    decide,
  );
  await each(ids, async (id) => {
    expect((await gateway.request('GET', `/api/executions/${id}/result?wait=30`)).body.status).toBe('completed');
  });
});
