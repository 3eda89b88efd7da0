// A worker that is asked to end while its activities wait for workflows that nobody runs.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compiledRoot } from '../../../src/cli/start/project-root.ts';
import { MIN_SHARDED_LIMIT, takeSlots } from '../../../src/client/starts/limiters.ts';
import { LIMITER_POOL_WORKFLOW, shardId } from '../../../src/contract/limits/limiter-pool.ts';
import {
  type ForkedWorker,
  forkWorker,
  startWorker,
  type TestServer,
  testServer,
  writeAccess,
} from '../../support/temporal.ts';
import { unique } from '../gateway/gateway-support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

type Pending = { readonly type: string; readonly attempt: number };

/** A limiter whose activity waits for a limiter pool that has no worker. Answers its activities that have not ended. */
async function limiterThatWaits(): Promise<() => Promise<readonly Pending[]>> {
  const lender = unique('lender');
  const run = unique('run');
  const organizationId = 'default';
  const { workflow } = server.client;
  const nobody = { taskQueue: unique('nobody'), workflowExecutionTimeout: '60s' } as const;
  const start = { organizationId, historyLimit: 100 };
  await workflow.start(LIMITER_POOL_WORKFLOW, { ...nobody, workflowId: lender, args: [start] });
  const over = writeAccess(server);
  const gate = shardId(lender, run);
  const wanted = {
    gate,
    scope: 'organization',
    limit: MIN_SHARDED_LIMIT,
    overflow: 'queue',
    group: '',
    lender,
  } as const;
  expect(await takeSlots(over, organizationId, run, [wanted])).toMatchObject([{ as: 'waiting' }]);
  const pending = async () => {
    const { raw } = await workflow.getHandle(gate).describe();
    const found = raw.pendingActivities ?? [];
    return found.map(({ activityType, attempt }) => ({ type: activityType?.name ?? '', attempt: attempt ?? 0 }));
  };
  await expect.poll(pending).toEqual([{ type: 'borrowSlots', attempt: 1 }]);
  return pending;
}

it('ends in order, and the activities begin again elsewhere', { timeout: 60_000 }, async () => {
  const worker = await startWorker(server);
  const pending = await limiterThatWaits();
  await worker.stop();
  expect(await pending()).toEqual([{ type: 'borrowSlots', attempt: 2 }]);
});

it('ends its process with success', { timeout: 60_000 }, async () => {
  const { child }: ForkedWorker = await forkWorker(server);
  await limiterThatWaits();
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
});

it('ends in order where its parent exits before it is ready', { timeout: 60_000 }, async () => {
  const child = fork(join(compiledRoot(), 'workers/main.js'), [], {
    env: server.env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exit = once(child, 'exit');
  child.disconnect();
  expect(await exit).toEqual([0, null]);
});
