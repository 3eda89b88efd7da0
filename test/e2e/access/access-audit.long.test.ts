import { beforeAll, expect, it } from 'vitest';
import { approvalDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const adminKey = 'an-admin-of-the-environment-0123456789';
const ANN = unique('ann');
// Twenty events of history, and the month continues in another actor.
const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: adminKey, SIGNALBOX_HISTORY_LIMIT: '20' });
let ann: { headers: { authorization: string } };
beforeAll(async () => {
  const json = { name: ANN, role: 'admin' };
  const { body } = await gateway.request('POST', '/api/keys', { json });
  ann = { headers: { authorization: `Bearer ${body.key}` } };
});

type Entry = { id: string; by?: string; action: string; target: object; outcome: string; status?: number; at: string };

/**
 * The audit entries of this test's user, the latest first, once they have outcomes. Gateways of other files may die.
 */
async function audit(query = '', atLeast = 0): Promise<Entry[]> {
  const concluded = ({ body: { items } }: { body: { items: Entry[] } }) =>
    items.length >= atLeast && items.every(({ status }) => status !== undefined);
  const { body } = await gateway.until(`/api/audit?by=${ANN}${query}`, concluded);
  return body.items;
}

it('says who changed what, and when, and what became of it', async () => {
  const slug = unique('refund');
  const before = new Date().toISOString();
  await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug), ...ann });
  await gateway.request('PUT', '/api/secrets/payments', { json: { value: 'canary-in-a-body' }, ...ann });
  await gateway.request('DELETE', `/api/workflows/${unique('nothing')}`, ann);
  const [removal, secret, put] = await audit('', 3);
  expect(put).toMatchObject({
    by: ANN,
    action: 'PUT /api/workflows/:slug',
    target: { slug },
    outcome: 'done',
    status: 201,
  });
  expect(put?.at.localeCompare(before)).toBeGreaterThanOrEqual(0);
  expect(secret).toMatchObject({ by: ANN, action: 'PUT /api/secrets/:name', target: { name: 'payments' } });
  expect(removal).toMatchObject({ action: 'DELETE /api/workflows/:slug', outcome: 'refused', status: 404 });
  expect(JSON.stringify(await audit())).not.toContain('canary');
});

it('notes keys by id, and never the key', async () => {
  const { body } = await gateway.request('POST', '/api/keys', { json: { name: 'ci', role: 'runner' }, ...ann });
  const [made] = await audit('', 4);
  expect(made).toMatchObject({ action: 'POST /api/keys', target: { id: body.id, name: 'ci' }, by: ANN });
  expect(JSON.stringify(made)).not.toContain(body.key);
});

it('notes no inline run, which keeps secrets that it brings', async () => {
  const [before] = await audit();
  const definition = approvalDefinition(unique('inline'));
  expect((await gateway.request('POST', '/api/executions', { json: { definition }, ...ann })).status).toBe(201);
  expect((await audit())[0]?.id).toBe(before?.id);
  const triggers = [
    { name: 'in', type: 'webhook', config: { path: 'x', scheme: 'github', secret: 'canary-of-an-inline-run' } },
  ];
  const json = { definition: { ...definition, triggers } };
  expect((await gateway.request('POST', '/api/executions', { json, ...ann })).status).toBe(201);
  expect((await audit())[0]?.id).toBe(before?.id);
  const { body } = await gateway.request('GET', '/api/secrets?limit=1000', ann);
  expect(body.items.filter(({ name }: { name: string }) => name.startsWith('inline/'))).toEqual([]);
});

it('keeps silent about what changed nothing', async () => {
  const [latest] = await audit();
  await gateway.request('PUT', '/api/workflows/broken', { json: { steps: 3 }, ...ann });
  await gateway.request('POST', '/api/expressions/evaluate', { json: { expression: '1 + 1' }, ...ann });
  await gateway.request('GET', '/api/workflows', ann);
  expect((await audit())[0]?.id).toBe(latest?.id);
});

it('is listed page by page over all its actors, without a worker', async () => {
  for (let i = 0; i < 60; i++)
    await gateway.request('PUT', `/api/secrets/many-${i}`, { json: { value: `value-${i}` }, ...ann });
  await audit('&limit=1000');
  const parts: string[] = [];
  const { client } = gateway.server;
  for (let part = 2; ; part++) {
    const month = new Date().toISOString().slice(0, 7);
    const found = await client.workflow
      .getHandle(`audit.default.${month}.${part}`)
      .describe()
      .catch(() => undefined);
    if (found === undefined) break;
    parts.push(found.workflowId);
  }
  expect(parts.length).toBeGreaterThan(0);
  await gateway.stopWorker();
  const seen: Entry[] = [];
  let cursor = '';
  do {
    const { status, body } = await gateway.request('GET', `/api/audit?limit=7&by=${ANN}${cursor}`, ann);
    expect(status, JSON.stringify(body)).toBe(200);
    seen.push(...body.items);
    cursor = body.nextCursor === undefined ? '' : `&cursor=${body.nextCursor}`;
  } while (cursor !== '');
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  const names = seen.filter(({ action }) => action === 'PUT /api/secrets/:name').map(({ target }) => target);
  const expected = Array.from({ length: 60 }, (_, i) => ({ name: `many-${59 - i}` }));
  expect(names).toEqual([...expected, { name: 'payments' }]);
});

it('continues after somebody has ended its actor, and keeps the earlier records', async () => {
  const [latest] = await audit('&limit=1');
  const month = new Date().toISOString().slice(0, 7);
  for (let part = 1; ; part++) {
    const handle = gateway.server.client.workflow.getHandle(`audit.default.${month}${part === 1 ? '' : `.${part}`}`);
    const found = await handle.describe().catch(() => undefined);
    if (found === undefined) break;
    if (found.status.name === 'RUNNING') await handle.terminate('by a test');
  }
  // Without a worker the secret is not stored, but the attempt is recorded.
  const key = await gateway.request('DELETE', `/api/keys/${'0'.repeat(12)}`, ann);
  expect(key.status).not.toBe(204);
  const { body } = await gateway.until(
    `/api/audit?by=${ANN}&limit=2`,
    (answer) => answer.body.items[0].id !== latest?.id,
  );
  expect(body.items[0]).toMatchObject({ action: 'DELETE /api/keys/:id', by: ANN });
  expect(body.items[1].id).toBe(latest?.id);
});

it('takes no cursor of another list', async () => {
  const { body } = await gateway.request('GET', '/api/audit?limit=1', ann);
  const other = await gateway.request('GET', `/api/audit?limit=1&by=bob&cursor=${body.nextCursor}`, ann);
  expect(other).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
});
