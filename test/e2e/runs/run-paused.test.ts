import { execFileSync } from 'node:child_process';
import { describe, expect, inject, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { approvalDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';
import { until } from './run-support.ts';

const gateway = sharedGateway();

/** A run that waits at the approval `review`, with more members of its config. */
async function waiting(config: { [key: string]: Json } = {}): Promise<string> {
  const { steps, ...rest } = approvalDefinition(unique('asked')) as {
    steps: { [slug: string]: { [key: string]: Json } };
  };
  const review = { ...steps['review'], config: { message: 'Well?', ...config } };
  const definition = { ...rest, steps: { ...steps, review } } as { [key: string]: Json };
  const { body } = await gateway.request('POST', '/api/executions', { json: { definition, input: { amount: 1 } } });
  const id = String(body.executionId);
  await gateway.until(`/api/executions/${id}`, (answer) => answer.body.waitingFor.length === 1);
  return id;
}
const handleOf = (id: string) => gateway.server.client.workflow.getHandle(id);
const detailsOf = async (id: string): Promise<string> =>
  (await handleOf(id).query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
/** Runs the command of the details that begins so, as a reader would copy it. */
async function copy(id: string, name: string): Promise<void> {
  const command = (await detailsOf(id)).split('\n').find((line) => line.includes(`--name ${name}`)) ?? '';
  const binary = inject('temporalBinary');
  const env = { ...process.env, TEMPORAL_ADDRESS: inject('temporalAddress') };
  execFileSync('/bin/sh', ['-c', command.trim().replace(/^temporal /, `'${binary}' `)], { env, stdio: 'pipe' });
}
const result = async (id: string) => (await gateway.request('GET', `/api/executions/${id}/result?wait=20`)).body;

describe('a paused run', () => {
  it('says so in every view, with the command that resumes it', async () => {
    const id = await waiting();
    expect((await gateway.request('GET', `/api/executions/${id}`)).body).not.toHaveProperty('paused');
    await handleOf(id).signal('pause', {});
    const { body } = await gateway.until(`/api/executions/${id}`, (answer) => answer.body.paused === true);
    expect(body).toMatchObject({ status: 'waiting', pausedSince: expect.stringMatching(/^\d{4}-/) });
    expect(await handleOf(id).query('status')).toMatchObject({ paused: true, pausedSince: body.pausedSince });
    const { body: soFar } = await gateway.request('GET', `/api/executions/${id}/result`);
    expect(soFar).toMatchObject({ status: 'waiting', paused: true });
    expect(await detailsOf(id)).toContain(`**Paused** since ${body.pausedSince}`);
    expect((await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } })).status).toBe(
      200,
    );
    await gateway.until(`/api/executions/${id}`, (answer) => answer.body.waitingFor.length === 0);
    expect((await gateway.request('GET', `/api/executions/${id}`)).body.paused).toBe(true);
    await copy(id, 'resume');
    expect(await result(id)).toMatchObject({ status: 'completed' });
    expect((await gateway.request('GET', `/api/executions/${id}`)).body).not.toHaveProperty('paused');
    const { body: steps } = await gateway.request('GET', `/api/executions/${id}/steps`);
    expect(steps.uncertain).toBe(false);
  });
});

describe('a signal that is ignored', () => {
  it('is shown by the run, and the command that it hints is accepted', async () => {
    const id = await waiting({ commentRequired: true, approvers: { roles: ['finance'] } });
    expect((await gateway.request('GET', `/api/executions/${id}`)).body.waitingFor).toMatchObject([
      { path: 'review', commentRequired: true },
    ]);
    await handleOf(id).signal('approve', { step: 'review' });
    const details = await until(
      () => detailsOf(id),
      (text) => text.includes('was ignored'),
    );
    expect(details).toMatch(/The signal `approve` of \S+ was ignored: .*override/);
    await handleOf(id).signal('approve', { step: 'nowhere' });
    await until(
      () => detailsOf(id),
      (text) => text.includes("no step 'nowhere'"),
    );
    await copy(id, 'approve');
    expect(await result(id)).toMatchObject({ status: 'completed' });
  });
});
