import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { approvalDefinition, sharedGateway, unique } from './gateway-support.ts';

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });

async function waiting(config: { [key: string]: Json } = {}): Promise<string> {
  const definition = {
    ...approvalDefinition(unique('ended')),
    steps: { review: { stepType: 'approval', config: { message: 'Well?', requesterMayApprove: true, ...config } } },
  };
  const { body } = await gateway.request('POST', '/api/executions', { json: { definition } });
  const id = String(body.executionId);
  await gateway.until(`/api/executions/${id}`, (answer) => answer.body.waitingFor.length === 1);
  return id;
}
const act = (id: string, name: string, json: Json) =>
  gateway.request('POST', `/api/executions/${id}/${name}`, { json });
const errorOf = async (id: string) => {
  const { body } = await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
  expect((await gateway.request('GET', `/api/executions/${id}`)).body.error).toEqual(body.error);
  return body.error;
};

describe('a run that somebody has ended', () => {
  it('reports by whom and why', async () => {
    const cancelled = await waiting();
    await act(cancelled, 'cancel', { reason: 'Not needed any more' });
    expect(await errorOf(cancelled)).toMatchObject({
      code: 'cancelled',
      message: 'The run was cancelled by admin: Not needed any more.',
      details: { by: 'admin', reason: 'Not needed any more' },
    });
    const terminated = await waiting();
    await act(terminated, 'terminate', { reason: 'It is wrong.' });
    expect((await errorOf(terminated)).message).toBe(
      'The run was terminated by admin: It is wrong. It ended at once, and nothing was rolled back.',
    );
  });

  it('reports by whom and why also where it was ended through Temporal', async () => {
    const { client, namespace } = gateway.server;
    const [cancelled, terminated] = [await waiting(), await waiting()];
    const workflowExecution = { workflowId: cancelled };
    const identity = 'temporal-cli:root@machine';
    await client.workflowService.requestCancelWorkflowExecution({
      namespace,
      workflowExecution,
      identity,
      reason: 'Op.',
    });
    expect(await errorOf(cancelled)).toMatchObject({
      message: `The run was cancelled by ${identity}: Op.`,
      details: { by: identity, reason: 'Op.' },
    });
    const killed = await waiting();
    const { workflowService } = client;
    await workflowService.terminateWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: killed },
      identity,
      reason: 'Stuck',
    });
    expect((await errorOf(killed)).message).toBe(
      `The run was terminated by ${identity}: Stuck. It ended at once, and nothing was rolled back.`,
    );
    // A program is known by its process only, which says nothing.
    await client.workflow.getHandle(terminated).terminate('op says so');
    expect((await errorOf(terminated)).message).toBe(
      'The run was terminated: op says so. It ended at once, and nothing was rolled back.',
    );
  });

  it('says nothing that is not known, and why it cancelled itself', async () => {
    const plain = await waiting();
    await gateway.server.client.workflow.getHandle(plain).cancel();
    expect((await errorOf(plain)).message).toBe('The run was cancelled.');
    const denied = await waiting({ onReject: 'cancel' });
    expect((await act(denied, 'approve', { approve: false })).status).toBe(200);
    const error = await errorOf(denied);
    expect(error.code).toBe('cancelled');
    expect(error.message).toMatch(/^The run was cancelled: .+/);
  });

  it('keeps who denied an approval that cancels its run: in the error, in the trace, and in the audit', async () => {
    const denied = await waiting({ onReject: 'cancel', quorum: 'all', approvers: ['admin'] });
    expect((await act(denied, 'approve', { approve: false, comments: 'too dear' })).status).toBe(200);
    const error = await errorOf(denied);
    const vote = {
      decision: 'rejected',
      by: 'admin',
      comments: 'too dear',
      via: 'api',
      at: expect.stringMatching(/^20/),
    };
    expect(error).toMatchObject({
      code: 'cancelled',
      message: 'The run was cancelled: approval_denied by admin (too dear).',
      path: 'review',
      stepSlug: 'review',
      details: {
        reason: 'approval_denied',
        decision: 'rejected',
        decidedBy: 'admin',
        comments: 'too dear',
        reviewedAt: expect.stringMatching(/^20/),
        votes: [vote],
      },
    });
    const steps = await gateway.request('GET', `/api/executions/${denied}/steps`);
    expect(steps.body.items).toMatchObject([
      {
        path: 'review',
        status: 'cancelled',
        output: {
          type: 'approval',
          data: { decision: 'rejected', decidedBy: 'admin', comments: 'too dear', votes: [vote] },
        },
      },
    ]);
    const ofThis = ({ target }: { target: { id?: string } }) => target.id === denied;
    const { body } = await gateway.until('/api/audit', (answer) => answer.body.items.some(ofThis));
    await gateway.until('/api/audit', (answer) => answer.body.items.find(ofThis)?.outcome === 'done');
    const listed = await gateway.request('GET', '/api/audit');
    expect(body.items.length).toBeGreaterThan(0);
    expect(listed.body.items.find(ofThis)).toMatchObject({
      by: 'admin',
      action: 'POST /api/executions/:id/approve',
      target: { path: 'review', decision: 'rejected', recorded: 'decision', comments: 'too dear' },
    });
  });
});
