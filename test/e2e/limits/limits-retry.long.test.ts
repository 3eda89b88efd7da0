// Retries under a limit that rejects: a run that comes again under its id holds nothing until it has asked.
import { expect, it } from 'vitest';
import { definitionLimits } from '../../../src/engine/state/definition-limits.ts';
import { approvalDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();

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

/** As the gateway starts a run that holds its lease; answers its id. */
async function startTaken(slug: string, taskQueue: string, takenAt: number): Promise<string> {
  const { body } = await gateway.request('GET', `/api/workflows/${slug}`);
  const definition = body.definition ?? body;
  const input = { amount: 1 };
  const wanted = definitionLimits({ organizationId: 'default', definition, input });
  expect(wanted).toHaveLength(1);
  const gates = wanted.map((gate) => ({ ...gate, taken: true, takenAt }));
  const workflowId = unique('taken');
  const args = [{ definition, input, organizationId: 'default', gates }];
  await gateway.server.client.workflow.start('run', { workflowId, taskQueue, args });
  return workflowId;
}

it('asks again where the start came long after the lease', async () => {
  const slug = await stored();
  await asks(String((await start(slug)).body.executionId));
  const late = await startTaken(slug, gateway.server.taskQueue, Date.now() - 60_000);
  const { body } = await gateway.request('GET', `/api/executions/${late}/result?wait=10`);
  expect(body).toMatchObject({ status: 'failed', error: { code: 'limit_reached' } });
  const { body: trace } = await gateway.request('GET', `/api/executions/${late}/steps`);
  expect(trace).toMatchObject({ uncertain: false, items: [] });
  // A run that holds its lease continues immediately.
  await asks(await startTaken(slug, gateway.server.taskQueue, Date.now()));
});

it('asks again where a run was terminated before its first task', async () => {
  const slug = await stored();
  const other = String((await start(slug)).body.executionId);
  await asks(other);
  const id = await startTaken(slug, unique('nobody'), Date.now());
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

it('gives the slot of a run that has just been terminated, though a moment ago it was seen to go', async () => {
  const slug = await stored();
  let holder = String((await start(slug)).body.executionId);
  for (let turn = 0; turn < 10; turn++) {
    await asks(holder);
    const refused = await Promise.all([start(slug), start(slug), start(slug)]);
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429]);
    await terminate(holder);
    const next = await start(slug);
    expect(next, JSON.stringify(next.body)).toMatchObject({ status: 201 });
    holder = String(next.body.executionId);
  }
  await terminate(holder);
});
