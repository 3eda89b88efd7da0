/** A run that has continued as new is read also when its first part is past its retention. */
import { describe, expect, it } from 'vitest';
import { sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway({ SIGNALBOX_HISTORY_LIMIT: '30' });

/** Asks again and again, and then once more after each answer. */
const definition = (name: string) => ({
  name,
  steps: {
    each: {
      stepType: 'loop',
      config: { items: '{{ input.rounds }}' },
      nextSteps: { loop: 'ask', done: 'last' },
    },
    ask: { stepType: 'approval', config: { message: 'Round {{ loop.index }}?' } },
    last: { stepType: 'approval', config: { message: 'The end?' }, nextSteps: { approved: 'end' } },
    end: { stepType: 'finish', config: { output: { done: true } } },
  },
});

/** Starts a run, and answers with it once it has continued as new and waits for its last question. */
async function chain(): Promise<string> {
  const rounds = Array.from({ length: 12 }, (_, i) => i);
  const { body } = await gateway.request('POST', '/api/executions', {
    json: { definition: definition(unique('chain')), input: { rounds } },
  });
  const id: string = body.executionId;
  const waits = async (path: string) =>
    gateway.until(`/api/executions/${id}`, (answer) => answer.body.waitingFor?.[0]?.path === path);
  for (const round of rounds) {
    await waits(`each~${round}/ask`);
    const decided = await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } });
    expect(decided.status).toBe(200);
  }
  await waits('last');
  return id;
}

/** As Temporal's retention does. */
async function forgetFirst(id: string): Promise<void> {
  const { client } = gateway.server;
  const { namespace } = client.options;
  const described = await client.workflow.getHandle(id).describe();
  const runId = described.raw.workflowExecutionInfo?.firstRunId ?? '';
  expect(runId).not.toBe(described.runId);
  const execution = { workflowId: id, runId };
  const gone = async (): Promise<boolean> => {
    // The server deletes a run once its end is in Visibility.
    await client.workflowService
      .deleteWorkflowExecution({ namespace, workflowExecution: execution })
      .catch(() => undefined);
    return client.workflowService.getWorkflowExecutionHistory({ namespace, execution }).then(
      () => false,
      () => true,
    );
  };
  await expect.poll(gone, { timeout: 90_000, interval: 500 }).toBe(true);
}

describe('a run whose first part is past its retention', () => {
  it('is read, followed and ended', async () => {
    const id = await chain();
    await forgetFirst(id);
    const read = async (path: string) => gateway.request('GET', `/api/executions/${id}${path}`);
    expect(await read('')).toMatchObject({ status: 200, body: { status: 'waiting', waitingFor: [{ path: 'last' }] } });
    for (const path of ['/steps', '/state']) expect([path, (await read(path)).status]).toEqual([path, 200]);
    expect((await read('/result')).body).toMatchObject({ status: 'waiting' });
    const gone = new AbortController();
    const stream = await fetch(`${gateway.url}/api/executions/${id}/events`, { signal: gone.signal });
    expect(stream.status).toBe(200);
    gone.abort();
    expect(await gateway.request('POST', `/api/executions/${id}/cancel`, { json: {} })).toMatchObject({ status: 202 });
    const ended = await gateway.until(`/api/executions/${id}`, ({ body }) => body.status === 'cancelled');
    expect(ended.status).toBe(200);
    expect((await read('/steps')).status).toBe(200);
  });
});
