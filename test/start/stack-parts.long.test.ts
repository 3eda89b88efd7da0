import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type DataFolder,
  dataFolder,
  type Stack,
  startPartOnly,
  startStack,
  startToEnd,
  startWorkerOnly,
  until,
} from '../support/stack.ts';

describe('one part alone', { timeout: 120_000 }, () => {
  let folder: DataFolder;
  let stack: Stack;
  beforeAll(async () => {
    folder = dataFolder();
    stack = await startStack(folder.path);
  });
  afterAll(async () => {
    await stack.end('SIGTERM');
    folder.remove();
  });

  test('a worker joins the stack that runs on its data folder, and leaves it running', async () => {
    const worker = startWorkerOnly(folder.path, { SIGNALBOX_TASK_QUEUE: 'a-second-queue' });
    await until('the worker polls', 30_000, () =>
      worker.output().includes('The worker polls task queue a-second-queue'),
    );
    const definition = { name: 'Hello', slug: 'hello', steps: { hello: { stepType: 'finish', config: {} } } };
    const handle = await stack.client.workflow.start('run', {
      taskQueue: 'a-second-queue',
      workflowId: 'on-the-second-queue',
      args: [{ definition }],
    });
    await handle.result();
    expect(await worker.end('SIGTERM')).toBe(0);
    expect(stack.child.exitCode).toBeNull();
    expect((await handle.describe()).status.name).toBe('COMPLETED');
  });

  test('a worker that dies ends its process with an error, so that its parent process sees it', async () => {
    const worker = startWorkerOnly(folder.path, { SIGNALBOX_TASK_QUEUE: 'a-third-queue' });
    await until('the worker polls', 30_000, () => worker.output().includes('The worker polls task queue'));
    const { pid } = JSON.parse(
      worker
        .output()
        .split('\n')
        .find((line) => line.includes('The worker is ready.')) ?? '',
    ) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await until('the process has ended', 30_000, () => worker.child.exitCode !== null);
    expect(worker.child.exitCode).toBe(1);
    expect(worker.output()).toContain('The worker ended unexpectedly (SIGKILL).');
  });

  test('a gateway alone logs to standard output', async () => {
    const gateway = startPartOnly('gateway', folder.path, { SIGNALBOX_PORT: '0', SIGNALBOX_LOG_LEVEL: 'info' });
    await until('the gateway listens', 30_000, () => gateway.output().includes('The gateway listens at'));
    const [, url] = /listens at (\S+)\. /.exec(gateway.output()) ?? [];
    const id = 'request-of-this-test';
    expect((await fetch(`${url}/healthz`, { headers: { 'x-request-id': id } })).status).toBe(200);
    await until('the request is logged', 30_000, () => gateway.output().includes(id));
    expect(await gateway.end('SIGTERM')).toBe(0);
  });

  test('a gateway says that it made its namespace, which a mistake in the name looks like', async () => {
    const warning = 'Warning: namespace signalbx did not exist at 127.0.0.1:';
    for (const isNew of [true, false]) {
      const gateway = startPartOnly('gateway', folder.path, { SIGNALBOX_PORT: '0', TEMPORAL_NAMESPACE: 'signalbx' });
      await until('the gateway listens', 60_000, () => gateway.output().includes('The gateway listens at'));
      expect(gateway.output().includes(warning)).toBe(isNew);
      await gateway.end('SIGTERM');
    }
  });

  test('a worker says what it needs where nothing configures the address of Temporal', async () => {
    const empty = dataFolder();
    const refused = await startToEnd(empty.path, {}, ['--only', 'worker']);
    expect(refused.code).toBe(20);
    expect(refused.output).toContain('Set TEMPORAL_ADDRESS');
    empty.remove();
  });

  test('a stack with an external Temporal starts no server, and reports an address that does not answer', async () => {
    const mine = dataFolder();
    const beside = await startStack(mine.path, { TEMPORAL_ADDRESS: stack.note.temporal.address });
    expect(beside.note.temporal.server).toBeUndefined();
    expect(beside.note.temporal.address).toBe(stack.note.temporal.address);
    await beside.end('SIGTERM');
    expect(mine.processes()).toEqual([]);
    const refused = await startToEnd(mine.path, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining('Temporal does not answer at 127.0.0.1:1'),
    });
    mine.remove();
  });
});
