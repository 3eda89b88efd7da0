// Limits of users, of an organization and of the host; and who may review a proposal.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/contract/organization/organization.ts';
import type { Json } from '../../../src/json/json.ts';
import {
  type Answer,
  approvalDefinition,
  echoDefinition,
  type TestGateway,
  testGateway,
  unique,
} from '../gateway/gateway-support.ts';

let gateway: TestGateway;
const keys = new Map<string, string>();
beforeAll(async () => {
  const admin = 'an-admin-key-that-is-long-enough-for-this';
  gateway = await testGateway({
    // Of its own: limits of the host count what other test files may have left.
    TEMPORAL_NAMESPACE: unique('people'),
    SIGNALBOX_ADMIN_KEY: admin,
    SIGNALBOX_LIMIT_GLOBAL: '3',
    SIGNALBOX_LIMIT_OVERFLOW: 'reject',
  });
  keys.set('admin', admin);
  const roles: [string, Role][] = [
    ['root', 'admin'],
    ['ann', 'editor'],
    ['bob', 'editor'],
  ];
  for (const [name, role] of roles) {
    const made = await as('admin', 'POST', '/api/keys', { name, role });
    expect(made.status).toBe(201);
    keys.set(name, made.body.key);
  }
});
afterAll(() => gateway.close());

const as = (who: string, method: string, path: string, json?: Json): Promise<Answer> =>
  gateway.request(method, path, {
    headers: { authorization: `Bearer ${keys.get(who)}` },
    ...(json === undefined ? {} : { json }),
  });
const start = (who: string, workflowId: string): Promise<Answer> =>
  as(who, 'POST', '/api/triggers/manual/run', { workflowId, input: { amount: 1 } });
const end = async (id: string): Promise<void> => {
  await as('ann', 'POST', `/api/executions/${id}/cancel`, {});
  await as('ann', 'GET', `/api/executions/${id}/result?wait=20`);
};

describe('limits of people', () => {
  it('count the runs of each user, of the organization, and of all', async () => {
    const slug = unique('counted');
    expect((await as('ann', 'POST', '/api/workflows', approvalDefinition(slug))).status).toBe(201);

    expect((await as('ann', 'PUT', '/api/limits/user', {})).status).toBe(403);
    const set = await as('root', 'PUT', '/api/limits/user', { limit: 1, overflow: 'reject' });
    expect(set).toMatchObject({ status: 201, body: { scope: 'user', limit: 1, overflow: 'reject' } });
    const first = await start('ann', slug);
    expect(first.status).toBe(201);
    expect((await start('ann', slug)).body).toMatchObject({ status: 429, code: 'limit_reached', scope: 'user' });
    const bobs = await start('bob', slug);
    expect(bobs.status).toBe(201);

    expect((await as('root', 'DELETE', '/api/limits/user')).status).toBe(204);
    await as('root', 'PUT', '/api/limits/organization', { limit: 2, overflow: 'reject' });
    expect((await as('ann', 'GET', '/api/limits')).body).toMatchObject({
      own: { organization: { limit: 2 } },
      effective: { organization: { limit: 2, overflow: 'reject' }, global: { limit: 3, overflow: 'reject' } },
    });
    // Runs that went when the limit was set are counted.
    expect((await start('ann', slug)).body).toMatchObject({ code: 'limit_reached', scope: 'organization' });
    await end(first.body.executionId);
    await end(bobs.body.executionId);
    const two = [await start('ann', slug), await start('bob', slug)];
    expect(two.map(({ status }) => status)).toEqual([201, 201]);
    expect((await start('ann', slug)).body).toMatchObject({ code: 'limit_reached', scope: 'organization' });

    await as('root', 'DELETE', '/api/limits/organization');
    const third = await start('ann', slug);
    expect(third.status).toBe(201);
    expect((await start('bob', slug)).body).toMatchObject({ code: 'limit_reached', scope: 'global', limit: 3 });
    for (const { body } of [...two, third]) await end(body.executionId);
    expect((await start('bob', slug)).status).toBe(201);
  });

  it('are five and fifty where no number is given', async () => {
    expect((await as('root', 'PUT', '/api/limits/user', {})).body).toMatchObject({ limit: 5, overflow: 'queue' });
    expect((await as('root', 'PUT', '/api/limits/organization', {})).body).toMatchObject({ limit: 50 });
    await as('root', 'DELETE', '/api/limits/user');
    await as('root', 'DELETE', '/api/limits/organization');
    expect((await as('root', 'DELETE', '/api/limits/user')).status).toBe(404);
    expect((await as('root', 'PUT', '/api/limits/global', {})).status).toBe(400);
  });
});

describe('a proposal', () => {
  const propose = async (slug: string, constraints: { [key: string]: Json }) => {
    const definition = (output: Json) =>
      echoDefinition(slug, { constraints, steps: { done: { stepType: 'finish', config: { output } } } });
    const { hash } = (await as('ann', 'POST', '/api/workflows', definition(1))).body;
    const path = `/api/workflows/${slug}/proposals`;
    const made = await as('ann', 'POST', path, { baseWorkflowHash: hash, proposal: definition(2) });
    expect(made).toMatchObject({ status: 201, body: { proposedBy: 'ann' } });
    return `${path}/${made.body.id}`;
  };
  const approve = { decision: 'approve' };

  it('is reviewed by somebody else than its proposer', async () => {
    const path = await propose(unique('reviewed'), { allowSelfModification: true });
    expect((await as('ann', 'POST', `${path}/review`, approve)).body).toMatchObject({
      status: 403,
      code: 'proposer_may_not_review',
    });
    expect((await as('bob', 'POST', `${path}/review`, approve)).body).toMatchObject({ review: { by: 'bob' } });
    expect((await as('ann', 'POST', `${path}/apply`, {})).body).toMatchObject({ proposal: { appliedBy: 'ann' } });
  });

  it('may be reviewed by its proposer where the workflow says so', async () => {
    const path = await propose(unique('self-reviewed'), { allowSelfModification: true, proposerMayReview: true });
    expect((await as('ann', 'POST', `${path}/review`, approve)).status).toBe(200);
  });
});
