import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { searchAttributeKeys } from '../../src/client/search-attributes/keys.ts';
import { bootstrap } from '../../src/client/temporal/bootstrap.ts';
import { type TestServer, testServer } from '../support/temporal.ts';

describe('the server of a stack', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await testServer();
  });
  afterAll(() => server.close());

  test('hands out the runs that wait for a worker in the order of their starts', async () => {
    const { client, connection, namespace } = server;
    const taskQueue = `${server.taskQueue}-order`;
    const ids = Array.from({ length: 24 }, (_, index) => `order-${Date.now()}-${index}`);
    for (const workflowId of ids)
      await client.workflow.start('nothing', { workflowId, taskQueue, workflowTaskTimeout: '2 minutes' });
    const taken: (string | null | undefined)[] = [];
    for (const _ of ids) {
      const task = await connection.withDeadline(Date.now() + 60_000, () =>
        connection.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue } }),
      );
      taken.push(task.workflowExecution?.workflowId);
    }
    for (const workflowId of ids) await client.workflow.getHandle(workflowId).terminate();
    expect([...taken].sort()).toEqual([...ids].sort());
    // Starts that come right after one another may swap. Among four partitions they are far apart.
    const apart = ids.map((id, place) => Math.abs(taken.indexOf(id) - place));
    expect(apart.reduce((sum, one) => sum + one, 0) / ids.length).toBeLessThan(1.5);
  });
});

describe('bootstrap', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await testServer();
  });
  afterAll(() => server.close());

  test('registers every search attribute, and may be repeated', async () => {
    await bootstrap(server, { retentionDays: 30, ownServer: true });
    const { customAttributes } = await server.connection.operatorService.listSearchAttributes({
      namespace: server.namespace,
    });
    expect(Object.keys(customAttributes ?? {})).toEqual(
      expect.arrayContaining(searchAttributeKeys.map((key) => key.name)),
    );
  });

  test('sets the retention of a server of our own', async () => {
    await bootstrap(server, { retentionDays: 7, ownServer: true });
    const { config } = await server.connection.workflowService.describeNamespace({ namespace: server.namespace });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(7 * 86_400);
  });

  test('creates a namespace that is missing, with its retention, and it can be used at once', async () => {
    const namespace = `made-${Date.now()}`;
    const { Client } = await import('@temporalio/client');
    const client = new Client({ connection: server.connection, namespace });
    await bootstrap({ ...server, namespace, client }, { retentionDays: 3 });
    expect(await client.workflow.count(`SignalboxOrg = 'x'`)).toMatchObject({ count: 0 });
  });
});
