// Decided approvals: the list that the API and the command line show (src/client/runs/decided-approvals.ts).
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { cli } from '../../cli/terminal.ts';
import { sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
const keys: { [name: string]: string } = {};
const slug = unique('purchase');
/** The runs, by what became of them. */
const runs: { [name: string]: string } = {};
const order = unique('order');

const ask = (config: { [member: string]: Json }): Json => ({
  stepType: 'approval',
  config: { message: 'Buy?', requesterMayApprove: true, ...config },
  nextSteps: { approved: 'done', rejected: 'done' },
});
const done: Json = { stepType: 'finish' };

async function start(steps: { [slug: string]: Json }): Promise<string> {
  const definition = { name: 'Purchase', slug, steps };
  const { status, body } = await gateway.request('POST', '/api/executions', { json: { definition } as Json });
  expect(status, JSON.stringify(body)).toBe(201);
  await gateway.until(`/api/executions/${body.executionId}`, (answer) => answer.body.waitingFor.length > 0);
  return String(body.executionId);
}

async function decide(id: string, by: string, json: { [member: string]: Json }): Promise<void> {
  const headers = { authorization: `Bearer ${keys[by]}` };
  const { status, body } = await gateway.request('POST', `/api/executions/${id}/approve`, { json, headers });
  expect(status, JSON.stringify(body)).toBe(200);
}

beforeAll(async () => {
  for (const user of ['bob', 'cat']) {
    keys[user] = await gateway.makeKey({ name: unique(user), user, role: 'approver' });
  }
  const about = { resourceType: 'order', resourceId: order };
  runs['approved'] = await start({ ask: ask(about), done });
  await decide(runs['approved'], 'bob', { approve: true, comments: 'A good price' });
  runs['rejected'] = await start({ ask: ask({ quorum: 2, ...about }), done });
  await decide(runs['rejected'], 'cat', { approve: false, comments: 'Too dear' });
  await decide(runs['rejected'], 'bob', { approve: false, comments: 'Far too dear' });
  // One is decided, and the other one waits.
  runs['open'] = await start({
    both: { stepType: 'parallel', nextSteps: { a: 'one', b: 'two' } },
    one: { ...(ask({ resourceType: 'order', resourceId: 'other' }) as object), nextSteps: {} },
    two: { ...(ask({}) as object), nextSteps: {} },
  });
  await decide(runs['open'], 'cat', { approve: true, step: 'one' });
});

/** The decided approvals of these runs. */
async function listed(query: string, count: number): Promise<string[]> {
  const path = `/api/approvals?workflowId=${slug}&${query}`;
  const { body } = await gateway.until(path, (answer) => answer.body.items?.length === count);
  return body.items.map(({ executionId, status }: { executionId: string; status: string }) => {
    const name = Object.keys(runs).find((one) => runs[one] === executionId);
    return `${name} ${status}`;
  });
}

describe('the list of decided approvals', () => {
  it('has who decided, when and why, the newest first', async () => {
    expect(await listed('decided=any', 3)).toEqual(['open approved', 'rejected rejected', 'approved approved']);
    const { body } = await gateway.request('GET', `/api/approvals?workflowId=${slug}&decided=any`);
    expect(body.items[2]).toEqual({
      executionId: runs['approved'],
      workflowId: slug,
      workflowName: 'Purchase',
      requester: 'admin',
      kind: 'approval',
      mayAnswer: false,
      status: 'approved',
      path: 'ask',
      stepSlug: 'ask',
      since: expect.stringMatching(/^20/),
      message: 'Buy?',
      resourceType: 'order',
      resourceId: order,
      answer: {
        status: 'approved',
        at: expect.stringMatching(/^20/),
        by: 'bob',
        via: 'api',
        comments: 'A good price',
      },
    });
    const { items } = (await gateway.request('GET', `/api/executions/${runs['rejected']}/steps?step=ask`)).body;
    expect(items[0].decision).toMatchObject({ status: 'rejected', by: 'bob', voters: ['cat', 'bob'] });
  });

  it('is filtered by decision, person, resource and run', async () => {
    expect(await listed('decided=approved', 2)).toEqual(['open approved', 'approved approved']);
    expect(await listed('decided=rejected', 1)).toEqual(['rejected rejected']);
    expect(await listed('decided=any&approver=cat', 2)).toEqual(['open approved', 'rejected rejected']);
    expect(await listed('decided=any&approver=user:cat&user=bob', 1)).toEqual(['rejected rejected']);
    expect(await listed(`decided=any&resourceType=order&resourceId=${order}`, 2)).toEqual([
      'rejected rejected',
      'approved approved',
    ]);
    expect(await listed('decided=any&resourceType=order', 3)).toHaveLength(3);
    expect(await listed('decided=approved&resourceId=other', 1)).toEqual(['open approved']);
    expect(await listed(`decided=any&executionId=${runs['rejected']}`, 1)).toEqual(['rejected rejected']);
    for (const query of ['decided=any&approver=dan', `decided=rejected&executionId=${runs['approved']}`])
      expect(await listed(query, 0)).toEqual([]);
  });

  it('comes page by page, each decision once', async () => {
    await listed('decided=any', 3);
    const found: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await gateway.request('GET', `/api/approvals?workflowId=${slug}&decided=any&limit=1${cursor}`);
      found.push(...body.items.map(({ executionId }: { executionId: string }) => executionId));
      if (body.nextCursor === undefined) break;
      cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
    }
    expect(found).toEqual([runs['open'], runs['rejected'], runs['approved']]);
  });

  it('refuses filters that only open questions have', async () => {
    for (const query of ['all=true', 'role=finance', 'kind=input', 'status=pending', 'approver=role:finance']) {
      const { status, body } = await gateway.request('GET', `/api/approvals?decided=any&${query}`);
      expect({ query, status, code: body.code }).toEqual({ query, status: 400, code: 'invalid_request' });
    }
  });

  it('is printed by the command line', async () => {
    await listed('decided=any', 3);
    const env = { SIGNALBOX_PORT: new URL(gateway.url).port, SIGNALBOX_API_KEY: keys['bob'] };
    const list = (...args: string[]) => cli(['list', ...args], { env });
    const rejected = await list('approvals', '--workflow', slug, '--decided', 'rejected');
    expect(rejected.exit, rejected.err).toBe(0);
    expect(rejected.out).toMatch(/^ID +STEP +DECISION +BY +AT +MESSAGE +COMMENT\n/);
    expect(rejected.out).toMatch(new RegExp(`${runs['rejected']} +ask +rejected +bob +20.*Far too dear`));
    expect(rejected.out.trim().split('\n')).toHaveLength(2);
    const about = await list('approvals', '--decided', '--resource', `order/${order}`, '--approver', 'cat', '--json');
    expect(JSON.parse(about.out)).toMatchObject([{ executionId: runs['rejected'], answer: { by: 'bob' } }]);
    const none = await list('approvals', '--decided', '--execution', String(runs['open']), '--approver', 'bob');
    expect([none.exit, none.err]).toEqual([0, 'No decided approvals.']);
    const open = await list('approvals', '--execution', String(runs['open']));
    expect(open.out).toContain('two');
    expect((await list('workflows', '--decided')).exit).toBe(20);
  });
});

describe('a run with more decisions than its list of values holds', () => {
  it('is found by all of them', async () => {
    const count = 60;
    const id = await start({
      each: {
        stepType: 'forEach',
        config: { items: Array.from({ length: count }, (_, n) => n), concurrency: count },
        nextSteps: { item: 'ask' },
      },
      ask: { ...(ask({ resourceType: 'part', resourceId: '{{ item }}' }) as object), nextSteps: {} },
    });
    for (let n = 0; n < count; n++) await decide(id, 'bob', { approve: true, step: `each[${n}]/ask` });
    for (const n of [0, count - 1]) {
      const path = `/api/approvals?decided=any&executionId=${id}&resourceType=part&resourceId=${n}`;
      const { body } = await gateway.until(path, (answer) => answer.body.items?.length === 1);
      expect(body.items[0]).toMatchObject({ path: `each[${n}]/ask`, resourceId: String(n) });
    }
    const all = await gateway.request('GET', `/api/approvals?decided=approved&executionId=${id}&limit=100`);
    expect(all.body.items).toHaveLength(count);
  });
});
