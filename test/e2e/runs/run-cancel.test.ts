import { CancelledFailure, WorkflowFailedError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Definition } from '../../../src/definition/document/types.ts';
import { startWorker, type TestServer, type TestWorker, testServer } from '../../support/temporal.ts';
import { abreast, approve, fetchOnce } from './run-definitions.ts';
import { startRun, until, waitsAt } from './run-support.ts';

let begunCalls = 0;
let cancelledCalls = 0;

let server: TestServer;
let worker: TestWorker;
beforeAll(async () => {
  server = await testServer();
  const { Context } = await import('@temporalio/activity');
  worker = await startWorker(server, {
    activities: {
      http: (async (input: { config: { url: string } }) => {
        if (!input.config.url.endsWith('/hang')) return { data: input.config.url };
        begunCalls++;
        const beating = setInterval(() => Context.current().heartbeat(), 100);
        try {
          await Context.current().cancelled;
        } catch (error) {
          cancelledCalls++;
          throw error;
        } finally {
          clearInterval(beating);
        }
        return { data: null };
      }) as never,
    },
  });
});
afterAll(async () => {
  await worker.stop();
  await server.close();
});

describe('cancelling a run', () => {
  it('ends it as cancelled while it waits', async () => {
    const handle = await startRun(server, approve, { input: { amount: 1, customer: 'x' } });
    await waitsAt(handle, 'review');
    await handle.cancel();
    const error = await handle.result().catch((failed: unknown) => failed);
    expect((error as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
    const closed = await handle.describe();
    expect(closed.status.name).toBe('CANCELLED');
    expect(closed.searchAttributes['SignalboxStatus']).toEqual(['cancelled']);
  });

  it('takes its activities along', async () => {
    const handle = await startRun(server, fetchOnce, { input: { what: 'hang' } });
    await until(
      async () => begunCalls,
      (calls) => calls === 1,
    );
    await handle.cancel();
    await expect(handle.result()).rejects.toBeInstanceOf(WorkflowFailedError);
    expect((await handle.describe()).status.name).toBe('CANCELLED');
    await until(
      async () => cancelledCalls,
      (calls) => calls === 1,
    );
  });

  it('cancels one step only', async () => {
    const one: Definition = {
      ...abreast,
      slug: 'abreast-one',
      steps: { ...abreast.steps, ask: { stepType: 'approval', config: { message: 'Go on?' }, onError: 'continue' } },
    };
    const handle = await startRun(server, one);
    await waitsAt(handle, 'all/person/ask');
    expect(await handle.executeUpdate('cancelStep', { args: [{ step: 'ask' }] as [unknown] })).toMatchObject({
      accepted: true,
    });
    expect(await handle.result()).toBeNull();
  });

  it('ends it as cancelled before it began', async () => {
    await worker.stop();
    const handle = await startRun(server, approve, { input: { amount: 1, customer: 'x' } });
    await handle.cancel();
    worker = await startWorker(server);
    await expect(handle.result()).rejects.toBeInstanceOf(WorkflowFailedError);
    expect((await handle.describe()).status.name).toBe('CANCELLED');
  });
});
