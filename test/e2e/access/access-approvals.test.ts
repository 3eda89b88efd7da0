import { beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/contract/organization/organization.ts';
import type { Json } from '../../../src/json/json.ts';
import { approvalDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

type Person = { headers: { authorization: string } };
const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
let people: { [name: string]: Person };
const slug = unique('refund');

beforeAll(async () => {
  const person = async (name: string, role: Role, more: object = {}): Promise<Person> => {
    const { status, body } = await gateway.request('POST', '/api/keys', { json: { name, role, ...more } });
    expect(status).toBe(201);
    return { headers: { authorization: `Bearer ${body.key}` } };
  };
  people = {
    ann: await person('ann', 'approver'),
    annsCli: await person('ann on the command line', 'admin', { user: 'ann' }),
    bob: await person('bob', 'approver', { roles: ['finance'] }),
    cid: await person('cid', 'editor', { groups: ['board'] }),
    dan: await person('dan', 'runner', { roles: ['finance'] }),
    eve: await person('eve', 'approver'),
  };
});

/** A run of an approval, started by a person and waiting. */
async function waiting(config: { [member: string]: Json }, by = 'annsCli'): Promise<string> {
  const definition = approvalDefinition(slug) as { steps: { review: { config: object } } };
  Object.assign(definition.steps.review.config, config);
  const json = { definition, input: { amount: 3 } } as unknown as Json;
  const { status, body } = await gateway.request('POST', '/api/executions', { json, ...people[by] });
  expect(status, JSON.stringify(body)).toBe(201);
  const path = `/api/executions/${body.executionId}`;
  await gateway.until(path, (answer) => answer.body.waitingFor.length > 0);
  return path;
}

const decide = (path: string, by: string, approve = true, more: { [member: string]: Json } = {}) =>
  gateway.request('POST', `${path}/approve`, { json: { approve, ...more }, ...people[by] });
const resultOf = async (path: string) =>
  (await gateway.until(`${path}/result?wait=5`, ({ status }) => status === 200)).body;

describe('who decides', () => {
  it('is a person of the role, with a key that may approve at all', async () => {
    const path = await waiting({ approvers: { roles: ['finance'] } });
    expect(await decide(path, 'eve')).toMatchObject({ status: 403, body: { code: 'not_an_approver' } });
    expect(await decide(path, 'dan')).toMatchObject({ status: 403, body: { code: 'role_required' } });
    expect(await decide(path, 'bob')).toMatchObject({ status: 200, body: { decision: 'approved' } });
    expect(await resultOf(path)).toMatchObject({ status: 'completed', output: { paid: 3 } });
    const steps = await gateway.request('GET', `${path}/steps`, people['bob']);
    const review = steps.body.items.find((step: { stepSlug: string }) => step.stepSlug === 'review');
    expect(review.output.data).toMatchObject({
      decidedBy: 'bob',
      via: 'api',
      votes: [{ by: 'bob', for: ['role:finance'] }],
    });
  });

  it('is nobody who started the run, with whichever key', async () => {
    const path = await waiting({});
    expect(await decide(path, 'ann')).toMatchObject({ status: 403, body: { code: 'requester_may_not_approve' } });
    expect((await decide(path, 'annsCli')).body.code).toBe('requester_may_not_approve');
    expect((await decide(path, 'eve')).status).toBe(200);
    const allowed = await waiting({ requesterMayApprove: true });
    expect((await decide(allowed, 'ann')).status).toBe(200);
  });

  it('is a quorum of persons, of whom nobody votes twice', async () => {
    const path = await waiting({ approvers: ['bob', 'cid', 'eve'], quorum: 2 });
    const tally = async () => (await gateway.request('GET', path, people['eve'])).body.waitingFor[0].votes;
    expect(await tally()).toEqual({ have: 0, needed: 2 });
    expect(await decide(path, 'bob')).toMatchObject({
      status: 200,
      body: { decision: 'approved', recorded: 'vote', votes: { have: 1, needed: 2 } },
    });
    expect(await tally()).toEqual({ have: 1, needed: 2 });
    expect(await decide(path, 'bob')).toMatchObject({ status: 409, body: { code: 'already_voted' } });
    const last = await decide(path, 'cid');
    expect(last).toMatchObject({ status: 200, body: { decision: 'approved', recorded: 'decision' } });
    expect(last.body).not.toHaveProperty('votes');
    expect(await decide(path, 'eve')).toMatchObject({ status: 409 });
    expect(await resultOf(path)).toMatchObject({ output: { paid: 3 } });
  });

  it('is one of twenty concurrent ones', async () => {
    const path = await waiting({});
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => decide(path, n % 3 === 0 ? 'bob' : 'eve', n % 2 === 0)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
  });

  it('is an operator, by a signal that says why', async () => {
    const path = await waiting({ approvers: ['bob'] });
    const handle = gateway.server.client.workflow.getHandle(path.slice('/api/executions/'.length));
    await handle.signal('approve', { by: 'bob' });
    await handle.signal('approve', { override: true, reason: 'bob is on leave' });
    expect(await resultOf(path)).toMatchObject({ output: { paid: 3 } });
    const steps = await gateway.request('GET', `${path}/steps`, people['bob']);
    const review = steps.body.items.find((step: { stepSlug: string }) => step.stepSlug === 'review');
    expect(review.output.data).toMatchObject({ via: 'temporal', comments: 'bob is on leave', decidedBy: null });
  });
});

describe('resume tokens', () => {
  it('are shown to those alone who may decide', async () => {
    const path = await waiting({ approvers: { users: ['bob'], groups: ['board'] } });
    const shownTo = async (who: string) => {
      const places = [path, `${path}/result`, `/api/executions?workflowId=${slug}&limit=1000`];
      const answers = await Promise.all(places.map((place) => gateway.request('GET', place, people[who])));
      const id = path.slice('/api/executions/'.length);
      const [run, result, list] = answers.map(({ body }) => body);
      const listed = list.items.find((item: { id: string }) => item.id === id);
      return [run, result, listed].map((one) => one?.waitingFor[0]?.resumeToken);
    };
    await gateway.until(`/api/executions?workflowId=${slug}&status=waiting&limit=1000`, ({ body }) =>
      body.items.some((item: { id: string }) => path.endsWith(item.id)),
    );
    const [token, ...same] = await shownTo('bob');
    expect(token).toMatch(/^wrf_rt_[0-9a-f]{24}$/);
    expect(same).toEqual([token, token]);
    expect(await shownTo('cid')).toEqual([token, token, token]);
    for (const who of ['ann', 'eve', 'dan']) expect(await shownTo(who)).toEqual([undefined, undefined, undefined]);
    // A token that was passed on makes nobody an approver.
    expect((await decide(path, 'eve', true, { resumeToken: token })).body.code).toBe('not_an_approver');
    expect((await decide(path, 'bob', true, { resumeToken: `${token.slice(0, -1)}z` })).body.code).toBe(
      'resume_token_mismatch',
    );
    expect((await decide(path, 'bob', true, { resumeToken: token })).status).toBe(200);
  });
});

describe('what waits for me', () => {
  it('is what I may decide and have not', async () => {
    const about = unique('order');
    const of = (config: { [member: string]: Json }, by?: string) =>
      waiting({ resourceType: about, ...config }, by).then((path) => path.slice('/api/executions/'.length));
    const finance = await of({ approvers: ['role:finance', 'user:eve'], quorum: 2 });
    const board = await of({ approvers: ['group:board'] });
    const anybody = await of({}, 'cid');
    const listed = async (who: string, more = '') => {
      const { body } = await gateway.request(
        'GET',
        `/api/approvals?resourceType=${about}&limit=100${more}`,
        people[who],
      );
      return body.items.map((item: { executionId: string }) => item.executionId).sort();
    };
    await gateway.until(`/api/approvals?resourceType=${about}&all=true`, ({ body }) => body.items.length === 3);
    expect(await listed('bob')).toEqual([finance, anybody].sort());
    expect(await listed('eve')).toEqual([finance, anybody].sort());
    expect(await listed('cid')).toEqual([board]);
    expect(await listed('ann')).toEqual([anybody]);
    expect(await listed('dan')).toEqual([]);
    expect(await listed('dan', '&all=true')).toEqual([finance, board, anybody].sort());
    expect(await listed('dan', '&role=finance')).toEqual([finance]);

    await decide(`/api/executions/${finance}`, 'bob');
    await gateway.until(`/api/executions/${finance}`, ({ body }) => body.waitingFor[0]?.notBy?.includes('bob'));
    await expect.poll(() => listed('bob')).not.toContain(finance);
    expect(await listed('eve')).toContain(finance);
  });
});
