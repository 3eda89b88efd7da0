import { describe, expect, it } from 'vitest';
import { approvalDefinition, sharedGateway, unique } from './gateway-support.ts';

const gateway = sharedGateway();

type Listed = { id: string; status: string };
const start = async (workflowId: string): Promise<string> => {
  const json = { workflowId, input: { amount: 1 } };
  return String((await gateway.request('POST', '/api/triggers/manual/run', { json })).body.executionId);
};
const act = (id: string, name: string) => gateway.request('POST', `/api/executions/${id}/${name}`, { json: {} });
const untilListed = async (query: string, wanted: readonly Listed[]): Promise<void> => {
  const sorted = (items: readonly Listed[]) => items.map(({ id, status }) => `${id} ${status}`).sort();
  await gateway.until(
    `/api/executions?${query}`,
    ({ body }) => JSON.stringify(sorted(body.items)) === JSON.stringify(sorted(wanted)),
  );
};

describe('an execution of several Temporal runs', () => {
  it('is listed and counted once, as it is now', async () => {
    const slug = unique('once');
    const definition = approvalDefinition(slug);
    expect((await gateway.request('PUT', `/api/workflows/${slug}`, { json: definition })).status).toBe(201);
    const [first, second, left] = [await start(slug), await start(slug), await start(slug)];
    for (const id of [first, second, left]) {
      await gateway.until(`/api/executions/${id}`, ({ body }) => body.status === 'waiting');
      await act(id, 'terminate');
    }
    const isAborted = (id: string) => ({ id, status: 'aborted' });
    await untilListed(`workflowId=${slug}`, [first, second, left].map(isAborted));
    for (const id of [first, first, second]) {
      if (id === first) await act(id, 'terminate');
      expect((await act(id, 'retry')).status).toBe(202);
    }
    await gateway.until(`/api/executions/${first}`, ({ body }) => body.status === 'waiting');
    expect(
      (await gateway.request('POST', `/api/executions/${first}/approve`, { json: { approve: true } })).status,
    ).toBe(200);
    const now = [{ id: first, status: 'completed' }, { id: second, status: 'waiting' }, isAborted(left)];
    await untilListed(`workflowId=${slug}`, now);
    await untilListed(`workflowId=${slug}&status=aborted`, [isAborted(left)]);
    await untilListed(`workflowId=${slug}&status=completed`, [{ id: first, status: 'completed' }]);
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await gateway.request('GET', `/api/executions?workflowId=${slug}&limit=1${cursor}`);
      seen.push(...(body.items as Listed[]).map(({ id }) => id));
      if (body.nextCursor === undefined) break;
      cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
    }
    expect(seen.sort()).toEqual([first, second, left].sort());
    const { body } = await gateway.request('GET', `/api/organizations/default/workflows/${slug}/runs/`);
    expect(body.items).toHaveLength(3);
    const bulk = (preview: boolean) =>
      gateway.request('POST', '/api/executions/bulk', {
        json: { action: 'retry', filter: { workflowId: slug }, ...(preview ? { preview } : {}) },
      });
    expect((await bulk(true)).body).toEqual({ action: 'retry', count: 1 });
    const { operationId, total } = (await bulk(false)).body;
    expect(total).toBe(1);
    const ended = await gateway.until(
      `/api/executions/bulk/${operationId}`,
      (answer) => answer.body.status === 'completed',
    );
    expect(ended.body).toMatchObject({ total: 1, done: 1, failed: 0 });
  });

  it('is listed once also where somebody has reset it', async () => {
    const slug = unique('reset');
    const started = await gateway.request('POST', '/api/executions', {
      json: { definition: approvalDefinition(slug), input: { amount: 1 } },
    });
    const id = String(started.body.executionId);
    await untilListed(`workflowId=${slug}`, [{ id, status: 'waiting' }]);
    const { client, namespace } = gateway.server;
    // Its first finished workflow task.
    const { events } = await client.workflow.getHandle(id).fetchHistory();
    const place = events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId;
    await client.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: id },
      ...(place ? { workflowTaskFinishEventId: place } : {}),
      reason: 'Again.',
      requestId: unique('reset'),
    });
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.status === 'waiting');
    await untilListed(`workflowId=${slug}`, [{ id, status: 'waiting' }]);
    await untilListed(`workflowId=${slug}&status=aborted`, []);
    expect((await act(id, 'cancel')).status).toBe(202);
    await untilListed(`workflowId=${slug}`, [{ id, status: 'cancelled' }]);
  });
});
