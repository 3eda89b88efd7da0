import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();

type Steps = {
  [slug: string]: { stepType: string; config?: { [member: string]: Json }; nextSteps?: { [port: string]: string } };
};

async function start(steps: Steps): Promise<string> {
  const definition = { name: 'Inbox', slug: unique('inbox'), steps };
  const { body } = await gateway.request('POST', '/api/executions', { json: { definition } });
  await gateway.until(`/api/executions/${body.executionId}`, (answer) => answer.body.status === 'waiting');
  return body.executionId;
}

const detailsOf = async (id: string): Promise<string> =>
  (await gateway.server.client.workflow.getHandle(id).query<{ currentDetails: string }>('__temporal_workflow_metadata'))
    .currentDetails;

const send = (id: string, name: string, json: Json) =>
  gateway.request('POST', `/api/executions/${id}/messages/${name}`, { json });
const result = async (id: string) => (await gateway.request('GET', `/api/executions/${id}/result?wait=20`)).body;

describe('the inbox of a run', () => {
  it('takes messages up to 80% of its bytes from the API, drops signals beyond all of them, and says so', async () => {
    const id = await start({
      wait: { stepType: 'listen', config: { name: 'go' }, nextSteps: { received: 'take' } },
      take: { stepType: 'listen', config: { name: 'n', count: 10 }, nextSteps: { received: 'done' } },
      done: { stepType: 'finish', config: { output: '{{ lastOutput.data.length }}' } },
    });
    const large = 'x'.repeat(98_000);
    for (let n = 0; n < 9; n++) expect((await send(id, 'n', large)).status).toBe(202);
    const refused = await send(id, 'n', 'little');
    expect(refused).toMatchObject({ status: 429, body: { code: 'inbox_overflow' } });
    expect(refused.body.detail).toContain('9 unread messages of 88');
    const run = gateway.server.client.workflow.getHandle(id);
    for (let n = 0; n < 3; n++) await run.signal('message', { name: 'n', payload: large });
    const shown = await gateway.until(`/api/executions/${id}`, ({ body }) => body.droppedMessages !== undefined);
    expect(shown.body).toMatchObject({ status: 'waiting', droppedMessages: expect.toSatisfy((n: number) => n >= 1) });
    expect(await run.query('status')).toMatchObject({ unread: 10, dropped: 2 });
    expect(await detailsOf(id)).toContain('2 messages were dropped');
    // What it listens to is no burden on its inbox, but this gateway waits until the run has read some.
    await run.signal('message', { name: 'go' });
    expect(await result(id)).toMatchObject({ status: 'completed', output: 10 });
    expect((await gateway.request('GET', `/api/executions/${id}`)).body.droppedMessages).toBe(2);
  });

  it('need not have room for a large message that the run listens to', async () => {
    const id = await start({
      wait: { stepType: 'listen', config: { name: ['first', 'large'] }, nextSteps: { received: 'rest' } },
      rest: { stepType: 'listen', config: { name: 'end' } },
    });
    const large = 'x'.repeat(1_100_000);
    expect(await send(id, 'end', large)).toMatchObject({ status: 429, body: { code: 'inbox_overflow' } });
    expect(await send(id, 'large', large)).toMatchObject({ status: 202 });
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor[0]?.path === 'rest');
    expect(await gateway.server.client.workflow.getHandle(id).query('status')).toMatchObject({ unread: 0 });
    expect(await send(id, 'end', 1)).toMatchObject({ status: 202 });
    expect(await result(id)).toMatchObject({ status: 'completed', output: 1 });
  });

  it('keeps what a listener had received for the retry of its run', async () => {
    const id = await start({
      wait: { stepType: 'listen', config: { name: 'm', count: 2, timeout: '1500ms' }, nextSteps: { received: 'done' } },
      done: { stepType: 'finish', config: { output: '{{ lastOutput.data }}' } },
    });
    await send(id, 'm', 'first');
    expect(await result(id)).toMatchObject({
      status: 'failed',
      error: { code: 'listen_timeout', details: { received: 1 } },
    });
    expect(await gateway.request('POST', `/api/executions/${id}/retry`, { json: {} })).toMatchObject({ status: 202 });
    await send(id, 'm', 'second');
    expect(await result(id)).toMatchObject({ status: 'completed', output: ['first', 'second'] });
  });
});
