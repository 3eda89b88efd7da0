// Retries under a limit that rejects: a run that comes again under its id holds nothing until it has asked.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { definitionGates } from '../../src/engine/gates.ts';
import { approvalDefinition, type TestGateway, testGateway, unique } from './gateway-support.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(async () => {
  await gateway.close();
});

const start = (workflowId: string) =>
  gateway.request('POST', '/api/triggers/manual/run', { json: { workflowId, input: { amount: 1 } } });
const retry = (id: string) => gateway.request('POST', `/api/executions/${id}/retry`, { json: {} });
const asks = (id: string) =>
  gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.[0]?.kind === 'approval');
const terminate = (id: string) => gateway.server.client.workflow.getHandle(id).terminate('by somebody else');

async function stored(): Promise<string> {
  const slug = unique('strict');
  const json = approvalDefinition(slug, { config: { concurrency: { limit: 1, overflow: 'reject' } } });
  expect((await gateway.request('POST', '/api/workflows', { json })).status).toBe(201);
  return slug;
}

it('asks again where a run was terminated before its first task', async () => {
  const slug = await stored();
  const other = String((await start(slug)).body.executionId);
  await asks(other);
  // As the gateway starts a run that holds its lease, where no worker looks.
  const { body } = await gateway.request('GET', `/api/workflows/${slug}`);
  const definition = body.definition ?? body;
  const input = { amount: 1 };
  const gates = definitionGates({ organizationId: 'default', definition, input }).map((gate) => ({
    ...gate,
    taken: true,
  }));
  expect(gates).toHaveLength(1);
  const id = unique('early');
  await gateway.server.client.workflow.start('run', {
    workflowId: id,
    taskQueue: unique('nobody'),
    args: [{ definition, input, organizationId: 'default', gates }],
  });
  await terminate(id);
  expect(await retry(id)).toMatchObject({ status: 429, body: { code: 'limit_reached' } });
  await terminate(other);
  expect((await retry(id)).status).toBe(202);
  await asks(id);
  expect((await start(slug)).status).toBe(429);
});

it('keeps the lease that a retry has taken, while the run is not there yet', async () => {
  const slug = await stored();
  for (let turn = 0; turn < 3; turn++) {
    const id = String((await start(slug)).body.executionId);
    await asks(id);
    await terminate(id);
    const [again, ...others] = await Promise.all([retry(id), ...Array.from({ length: 5 }, () => start(slug))]);
    const going = [again, ...others].filter(({ status }) => status < 300);
    expect(going).toHaveLength(1);
    const [one] = going;
    await asks(String(one?.body.executionId));
    await terminate(String(one?.body.executionId));
  }
});
