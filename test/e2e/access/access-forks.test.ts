// Four eyes across forks: neither who forks a run nor who started it decides on what the fork, or a child of it, asks.

import { beforeAll, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { approvalDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
const keys: { [name: string]: string } = {};
beforeAll(async () => {
  for (const [name, role] of Object.entries({ ann: 'runner', ben: 'editor', cid: 'editor', dee: 'approver' })) {
    const { body } = await gateway.request('POST', '/api/keys', { json: { name: unique(name), user: name, role } });
    keys[name] = body.key;
  }
});

const as = async (name: string, method: string, path: string, json: Json = {}) => {
  const headers = { authorization: `Bearer ${keys[name]}` };
  return gateway.request(method, path, method === 'GET' ? { headers } : { headers, json });
};
const waits = async (id: string) => {
  await gateway.until(`/api/executions/${id}`, ({ body }) => body.status === 'waiting');
  return id;
};
async function started(workflowId: string): Promise<string> {
  const { body } = await as('ann', 'POST', '/api/triggers/manual/run', { workflowId, input: { amount: 9 } });
  return waits(body.executionId);
}
async function forked(name: string, id: string): Promise<string> {
  await as(name, 'POST', `/api/executions/${id}/terminate`);
  await gateway.until(`/api/executions/${id}`, ({ body }) => body.status === 'aborted');
  const { status, body } = await as(name, 'POST', `/api/executions/${id}/fork`, { edits: { input: { amount: 1e6 } } });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.executionId;
}
const refusals = async (id: string, names: readonly string[]) => {
  for (const name of names) {
    const answer = await as(name, 'POST', `/api/executions/${id}/approve`, { approve: true });
    expect(answer, name).toMatchObject({
      body: { code: name === 'ann' ? 'role_required' : 'requester_may_not_approve' },
    });
  }
};
const notBy = async (id: string) => (await as('dee', 'GET', `/api/executions/${id}`)).body.waitingFor[0].notBy;

it('a fork is decided by neither, also when it is forked or retried again', async () => {
  const slug = unique('four');
  await as('ben', 'PUT', `/api/workflows/${slug}`, approvalDefinition(slug));
  const fork = await waits(await forked('ben', await started(slug)));
  expect(await notBy(fork)).toEqual(['ben', 'ann']);
  await refusals(fork, ['ann', 'ben']);

  const second = await waits(await forked('cid', fork));
  expect(await notBy(second)).toEqual(['cid', 'ben', 'ann']);
  await as('ben', 'POST', `/api/executions/${second}/terminate`);
  await gateway.until(`/api/executions/${second}`, ({ body }) => body.status === 'aborted');
  expect((await as('dee', 'POST', `/api/executions/${second}/retry`)).status).toBe(202);
  await waits(second);
  expect(await notBy(second)).toEqual(['cid', 'ben', 'ann']);
  await refusals(second, ['ben', 'cid']);
  expect((await as('dee', 'POST', `/api/executions/${second}/approve`, { approve: true })).status).toBe(200);
  const { body } = await as('dee', 'GET', `/api/executions/${second}/result?wait=10`);
  expect(body).toMatchObject({ status: 'completed', output: { paid: 1e6 } });
});

it('a child of a fork is decided by neither', async () => {
  const [slug, parent] = [unique('child'), unique('parent')];
  await as('ben', 'PUT', `/api/workflows/${slug}`, approvalDefinition(slug));
  const definition = {
    name: parent,
    slug: parent,
    steps: { call: { stepType: 'run_workflow', config: { workflow: slug, input: '{{ input }}' } } },
  };
  await as('ben', 'PUT', `/api/workflows/${parent}`, definition);
  const fork = await forked('ben', await started(parent));
  const { body } = await gateway.until(`/api/executions?workflowId=${slug}&status=waiting`, (answer) =>
    answer.body.items.some(({ parentId }: { parentId: string }) => parentId === fork),
  );
  const child = body.items.find(({ parentId }: { parentId: string }) => parentId === fork).id;
  expect(await notBy(child)).toEqual(['ben', 'ann']);
  await refusals(child, ['ben']);
  expect((await as('dee', 'POST', `/api/executions/${child}/approve`, { approve: true })).status).toBe(200);
});
