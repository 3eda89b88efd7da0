import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { approvalDefinition, echoDefinition, sharedGateway, unique } from './gateway-support.ts';

const gateway = sharedGateway();

async function start(workflowId: string, times: number, input: Json = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < times; n++) {
    const id = await gateway.start(workflowId, input);
    ids.push(id);
  }
  return ids;
}
const bulk = (json: { [key: string]: Json }) => gateway.request('POST', '/api/executions/bulk', { json });
const counted = async (json: { [key: string]: Json }, count: number) => {
  for (let n = 0; n < 100; n++) {
    const { body } = await bulk({ ...json, preview: true });
    if (body.count === count) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`It never was ${count}.`);
};
const ended = (operationId: string) =>
  gateway.until(`/api/executions/bulk/${operationId}`, ({ body }) => body.status === 'completed', 20);
const statusOf = async (id: string) => (await gateway.request('GET', `/api/executions/${id}`)).body.status;
const untilAll = async (ids: readonly string[], status: string) => {
  for (const id of ids) await gateway.until(`/api/executions/${id}`, ({ body }) => body.status === status);
};

describe('bulk operations', () => {
  it.each([
    ['cancel', 'cancelled'],
    ['terminate', 'aborted'],
  ])('%s the open runs of a filter, after a preview, and no other', async (action, status) => {
    const [mine, other] = [unique('mine'), unique('other')];
    await gateway.store(approvalDefinition(mine));
    await gateway.store(approvalDefinition(other));
    const ids = await start(mine, 3, { amount: 1 });
    const [spared] = await start(other, 1, { amount: 1 });
    const filter = { workflowId: mine, status: 'waiting' };
    await counted({ action, filter }, 3);
    await untilAll(ids, 'waiting');
    const begun = await bulk({ action, filter, reason: 'They are not needed.' });
    expect(begun).toMatchObject({ status: 202, body: { action, status: 'running', total: 3 } });
    expect(begun.headers.get('location')).toContain('/api/executions/bulk/bulk.default.');
    expect((await ended(begun.body.operationId)).body).toMatchObject({ total: 3, done: 3, failed: 0 });
    await untilAll(ids, status);
    expect(await statusOf(String(spared))).toBe('waiting');
    await counted({ action, filter }, 0);
  });

  it('are for the very state that was asked for, whatever the index takes for the same', async () => {
    const slug = unique('cased');
    await gateway.store({ ...approvalDefinition(slug), state: { customer: { type: 'string', searchable: true } } });
    const ids: string[] = [];
    for (const customer of ['ANN', 'ann', 'BOB', 'bob']) {
      const json = { workflowId: slug, input: { amount: 1 }, state: { customer } };
      ids.push(String((await gateway.request('POST', '/api/triggers/manual/run', { json })).body.executionId));
    }
    const [upper = '', lower = '', ...failing] = ids;
    await untilAll(ids, 'waiting');
    await counted({ action: 'cancel', filter: { workflowId: slug, status: 'waiting' } }, 4);
    const filterOf = (customer: string) => ({ workflowId: slug, state: { customer } });
    const none = await bulk({ action: 'cancel', filter: filterOf('Ann') });
    expect(none).toMatchObject({ status: 202, body: { total: 0 } });
    expect((await ended(none.body.operationId)).body).toMatchObject({ done: 0, failed: 0 });
    await counted({ action: 'cancel', filter: filterOf('ANN') }, 1);
    const begun = await bulk({ action: 'cancel', filter: filterOf('ANN') });
    expect(begun).toMatchObject({ status: 202, body: { total: 1 } });
    expect((await ended(begun.body.operationId)).body).toMatchObject({ done: 1, failed: 0 });
    await untilAll([upper], 'cancelled');
    expect(await statusOf(lower)).toBe('waiting');

    for (const id of failing) await gateway.request('POST', `/api/executions/${id}/terminate`);
    await counted({ action: 'retry', filter: { workflowId: slug } }, 2);
    const retried = await bulk({ action: 'retry', filter: filterOf('bob') });
    expect(retried).toMatchObject({ status: 202, body: { total: 1 } });
    expect((await ended(retried.body.operationId)).body).toMatchObject({ done: 1, failed: 0 });
    await untilAll(failing.slice(1), 'waiting');
    await untilAll(failing.slice(0, 1), 'aborted');
  });

  it('retry what has failed, once', async () => {
    const slug = unique('fails');
    const fails = {
      steps: {
        ask: {
          stepType: 'approval',
          config: { message: 'Now?', timeout: 1 },
          nextSteps: { approved: 'end' },
        },
        end: { stepType: 'finish' },
      },
    };
    await gateway.store(echoDefinition(slug, fails));
    const ids = await start(slug, 3);
    await untilAll(ids, 'failed');
    const filter = { workflow_id: slug };
    await counted({ action: 'retry', filter }, 3);
    await counted({ action: 'cancel', filter }, 0);
    const begun = await bulk({ action: 'retry', filter });
    expect(begun).toMatchObject({ status: 202, body: { action: 'retry', total: 3 } });
    expect((await ended(begun.body.operationId)).body).toMatchObject({ total: 3, done: 3, failed: 0 });
    const { body } = await gateway.until(
      `/api/executions/${ids[0]}/steps`,
      (answer) => answer.body.items.length === 2 && answer.body.items[1].status === 'failed',
    );
    expect(body.items.map((step: { path: string }) => step.path)).toEqual(['ask', 'ask']);
  });

  it('refuse filters and members that they do not know, and operations of others', async () => {
    expect(await bulk({ action: 'cancel', filter: { workflow: 'x' } })).toMatchObject({ status: 400 });
    expect(await bulk({ action: 'delete', filter: {} })).toMatchObject({ status: 400 });
    expect(await bulk({ action: 'cancel' })).toMatchObject({ status: 400 });
    expect((await gateway.request('GET', '/api/executions/bulk/bulk.other.cancel.1')).status).toBe(404);
    expect((await gateway.request('GET', '/api/executions/bulk/bulk.default.cancel.1')).status).toBe(404);
    expect((await gateway.request('GET', '/api/executions/bulk')).status).toBe(404);
  });

  it('cannot be talked into the runs of anybody else', async () => {
    const slug = unique('spared');
    await gateway.store(approvalDefinition(slug));
    const [id] = await start(slug, 1, { amount: 1 });
    await counted({ action: 'terminate', filter: { workflowId: slug } }, 1);
    const hostile = ["' OR 1=1 --", "x' OR SignalboxOrg != '", '\\', "\\' OR ExecutionStatus = 'Running", '" OR ""="'];
    for (const text of hostile) {
      for (const name of [
        'workflowId',
        'executionId',
        'channel',
        'model',
        'tag',
        'triggerId',
        'aiEmployeeId',
        'status',
      ]) {
        const { status, body } = await bulk({ action: 'terminate', filter: { [name]: text }, preview: true });
        if (status === 200) expect(body.count, `${name}: ${text}`).toBe(0);
        else expect(status, `${name}: ${text} ${JSON.stringify(body)}`).toBe(400);
      }
      const { body } = await bulk({ action: 'terminate', filter: { state: { [text]: text } }, preview: true });
      expect(body.count).toBe(0);
    }
    expect(await statusOf(String(id))).toBe('waiting');
  });
});
