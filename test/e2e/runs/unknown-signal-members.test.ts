import { describe, expect, it } from 'vitest';
import { sharedGateway, unique } from '../gateway/gateway-support.ts';
import { until } from './run-support.ts';

const gateway = sharedGateway();

const handleOf = (id: string) => gateway.server.client.workflow.getHandle(id);
const detailsOf = async (id: string): Promise<string> =>
  (await handleOf(id).query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;

async function waiting(): Promise<string> {
  const definition = {
    name: 'Members',
    slug: unique('members'),
    steps: {
      both: { stepType: 'parallel', nextSteps: { a: 'review', b: 'hear' } },
      review: { stepType: 'approval', config: { message: 'Well?' } },
      hear: { stepType: 'listen', config: { name: 'm' } },
    },
  };
  const { body } = await gateway.request('POST', '/api/executions', { json: { definition } });
  await gateway.until(`/api/executions/${body.executionId}`, (answer) => answer.body.waitingFor.length === 2);
  return body.executionId;
}

const pathsOf = async (id: string) =>
  (await handleOf(id).query<{ path: string }[]>('waiting')).map(({ path }) => path).sort();

describe('a member that no signal or update has', () => {
  it('makes an update refuse, saying which it is and what there is, and leaves no trace', async () => {
    const id = await waiting();
    const before = (await handleOf(id).fetchHistory()).events?.length;
    for (const [name, payload] of [
      ['approve', { foo: 1 }],
      ['decide', { decision: 'approved', stepp: 'review' }],
      ['reject', { comment: 'No.' }],
      ['cancelStep', { step: 'hear', reason: 'tired' }],
      ['pause', { by: 'ann' }],
    ] as const) {
      const refused = await handleOf(id)
        .executeUpdate(name, { args: [payload] as [object] })
        .catch((error: { cause?: { type?: string; message?: string } }) => error.cause);
      expect(refused).toMatchObject({ type: 'invalid_signal' });
      const odd = Object.keys(payload).find((member) => !['decision', 'step'].includes(member));
      expect((refused as { message: string }).message).toMatch(new RegExp(`'${name}' has no member '${odd}'.*{`));
    }
    expect((await handleOf(id).fetchHistory()).events?.length).toBe(before);
    expect(await pathsOf(id)).toEqual(['both/a/review', 'both/b/hear']);
    await gateway.request('POST', `/api/executions/${id}/cancel`, { json: {} });
  });

  it('makes a signal be ignored, and its run says so', async () => {
    const id = await waiting();
    await handleOf(id).signal('message', { name: 'm', data: { lost: true } });
    const details = await until(
      () => detailsOf(id),
      (text) => text.includes("no member 'data'"),
    );
    expect(details).toMatch(/The signal `message` of \S+ was ignored: 'message' has no member 'data'/);
    await handleOf(id).signal('approve', { setp: 'review' });
    await until(
      () => detailsOf(id),
      (text) => text.includes("no member 'setp'"),
    );
    expect(await pathsOf(id)).toEqual(['both/a/review', 'both/b/hear']);
    const { body: trace } = await gateway.request('GET', `/api/executions/${id}/steps`);
    expect(trace.items.filter(({ status }: { status: string }) => status === 'waiting')).toHaveLength(2);
    const deep = JSON.parse(`${'['.repeat(1_001)}${']'.repeat(1_001)}`);
    await handleOf(id).signal('message', { name: 'm', payload: deep });
    await until(
      () => detailsOf(id),
      (text) => text.includes("'payload' is nested deeper than 1000 levels"),
    );
    await expect(handleOf(id).executeUpdate('approve', { args: [{ data: deep }] })).rejects.toMatchObject({
      cause: { type: 'invalid_signal', message: expect.stringContaining("'data' is nested deeper than 1000 levels") },
    });
    await handleOf(id).signal('approve', {});
    await handleOf(id).signal('message', { name: 'm', payload: 'heard' });
    const { body } = await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
    expect(body).toMatchObject({ status: 'completed', output: { b: 'heard' } });
  });
});
