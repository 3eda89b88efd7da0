import { type ApplicationFailure, WorkflowUpdateFailedError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker, type TestServer, type TestWorker, testServer } from '../../support/temporal.ts';
import { approve, twice } from './run-definitions.ts';
import { eventTypes, memoOf, startRun, until, waitsAt } from './run-support.ts';

let server: TestServer;
let worker: TestWorker;
beforeAll(async () => {
  server = await testServer();
  worker = await startWorker(server);
});
afterAll(async () => {
  await worker.stop();
  await server.close();
});

describe('a run that waits for a person', () => {
  it('shows what it waits for, and continues when it is approved by signal', async () => {
    const handle = await startRun(server, approve, { input: { amount: 12, customer: 'ann' } });
    const memo = await waitsAt(handle, 'review');
    expect(memo).toMatchObject({ workflow: 'approve', version: '1.0.0', organizationId: 'default', status: 'waiting' });
    expect(memo.waitingFor).toMatchObject([
      { path: 'review', stepSlug: 'review', kind: 'approval', message: 'Refund 12?' },
    ]);
    const { searchAttributes } = await handle.describe();
    expect(searchAttributes).toMatchObject({
      SignalboxOrg: ['default'],
      SignalboxWorkflow: ['approve'],
      SignalboxStatus: ['waiting'],
      SignalboxTriggerType: ['temporal'],
      SignalboxTags: ['finance'],
      SignalboxState: ['customer=ann'],
    });
    expect(searchAttributes['SignalboxWaiting']).toContain('approval');
    expect(await handle.query('status')).toMatchObject({ status: 'waiting' });
    await handle.signal('approve', { by: 'ann', override: true, reason: 'test' });
    expect(await handle.result()).toEqual({ paid: 12, by: 'ann' });
    const closed = await handle.describe();
    expect(closed.status.name).toBe('COMPLETED');
    expect(closed.searchAttributes['SignalboxStatus']).toEqual(['completed']);
  });

  it('is shown in Markdown, with a command that answers it', async () => {
    const handle = await startRun(server, approve, { input: { amount: 1, customer: 'x' } });
    await waitsAt(handle, 'review');
    const metadata = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(metadata.currentDetails).toContain('**Approve** (`approve` 1.0.0): waiting');
    expect(metadata.currentDetails).toContain(
      `temporal workflow signal --workflow-id '${handle.workflowId}' --name approve`,
    );
    await handle.signal('reject', { step: 'review' });
    expect(await handle.result()).toEqual({ paid: 0 });
  });

  it('answers updates, refuses the second decision typed, and leaves no trace of a refusal', async () => {
    const handle = await startRun(server, twice);
    await waitsAt(handle, 'first');
    const args = [{ step: 'first', by: 'ann', key: 'k1' }] as [unknown];
    expect(await handle.executeUpdate('approve', { args })).toEqual({
      accepted: true,
      path: 'first',
      recorded: 'decision',
    });
    expect(await handle.executeUpdate('approve', { args })).toEqual({
      accepted: true,
      path: 'first',
      recorded: 'decision',
    });
    await waitsAt(handle, 'second');
    const before = await eventTypes(handle);
    const late = await handle
      .executeUpdate('reject', { args: [{ step: 'first' }] as [unknown] })
      .catch((error: unknown) => error);
    expect(late).toBeInstanceOf(WorkflowUpdateFailedError);
    expect((late as WorkflowUpdateFailedError).cause).toMatchObject({ type: 'already_decided', nonRetryable: true });
    expect((((late as Error).cause as ApplicationFailure).details ?? [])[0]).toMatchObject({ code: 'already_decided' });
    const odd = await handle.executeUpdate('decide', { args: ['yes'] as [unknown] }).catch((error: unknown) => error);
    expect((odd as Error).cause).toMatchObject({ type: 'invalid_signal' });
    const updates = (types: string[]): number =>
      types.filter((type) => type.startsWith('workflowExecutionUpdate')).length;
    expect(updates(await eventTypes(handle))).toBe(updates(before));
    await handle.executeUpdate('approve', { args: [{}] as [unknown] });
    expect(await handle.result()).toBe('approved');
  });

  it('keeps the order of signals of different names that came before its first task', async () => {
    await worker.stop();
    const handle = await startRun(server, twice);
    await handle.signal('approve', { step: 'first' });
    await handle.signal('reject', { step: 'nobody' });
    await handle.signal('approve', { step: 'second' });
    worker = await startWorker(server);
    expect(await handle.result()).toBe('approved');
  });

  it('ignores signals that nobody knows, and payloads of the wrong shape', async () => {
    const handle = await startRun(server, approve, { input: { amount: 3, customer: 'x' } });
    await waitsAt(handle, 'review');
    await handle.signal('explode', { step: 'review' });
    await handle.signal('approve', 'yes');
    await handle.signal('decide', { decision: 'maybe' });
    await handle.signal('message', { name: 7 });
    await handle.signal('approve', { step: 'review', by: 'bob' });
    expect(await handle.result()).toEqual({ paid: 3, by: 'bob' });
  });

  it('pauses, and continues where it was', async () => {
    const handle = await startRun(server, twice);
    await waitsAt(handle, 'first');
    await handle.executeUpdate('pause', { args: [{}] as [unknown] });
    await handle.signal('approve', { step: 'first' });
    await until(
      () => memoOf(handle),
      (memo) => !memo.waitingFor.some((wait) => wait.path === 'first'),
    ).catch(() => undefined);
    expect(await handle.query('waiting')).not.toMatchObject([{ path: 'second' }]);
    await handle.executeUpdate('resume', { args: [{}] as [unknown] });
    await waitsAt(handle, 'second');
    await handle.signal('approve', {});
    expect(await handle.result()).toBe('approved');
  });
});
