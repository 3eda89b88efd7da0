// What runs ask of people: approvals and inputs in one inbox, listed, counted, and read one by one, also when answered.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { sharedGateway, unique } from './gateway-support.ts';

type Person = { headers: { authorization: string } };
type Config = { [member: string]: Json };
const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
const people: { [name: string]: Person } = {};
beforeAll(async () => {
  const person = async (user: string, role: string, more: object = {}) => {
    const key = await gateway.makeKey({ name: unique(user), user, role, ...more });
    people[user] = { headers: { authorization: `Bearer ${key}` } };
  };
  await person('ann', 'editor');
  await person('bob', 'approver', { roles: ['finance'] });
  await person('dan', 'runner');
  await person('vic', 'viewer');
});

const FORM = { note: 'string' };
const LONG = `Refund of 3? ${'Because. '.repeat(40)}`;

/** A run that asks for an approval and for an input at the same time; with its slug. Both wait, and are listed. */
async function asking(approval: Config = {}, input: Config = {}): Promise<{ id: string; slug: string }> {
  const started = await startAsking(approval, input);
  const { id } = started;
  await gateway.until(`/api/executions/${id}`, (answer) => answer.body.waitingFor.length === 2);
  await gateway.until(`/api/approvals?all=true&executionId=${id}`, (answer) => answer.body.items.length === 2);
  return started;
}

async function startAsking(approval: Config, input: Config): Promise<{ id: string; slug: string }> {
  const slug = unique('ask');
  const definition = {
    name: 'Both questions',
    slug,
    version: '7.0.0',
    steps: {
      both: { stepType: 'parallel', nextSteps: { money: 'pay', text: 'words' } },
      pay: {
        stepType: 'approval',
        config: { message: 'Refund of {{ input.amount }}?', approvers: { roles: ['finance'] }, ...approval },
        nextSteps: { approved: 'both', rejected: 'both', timeout: 'both' },
      },
      words: {
        stepType: 'user_input',
        config: { form: FORM, message: 'Why?', ...input },
        nextSteps: { submitted: 'both' },
      },
    },
  };
  const json = { definition, input: { amount: 3 } } as unknown as Json;
  const { status, body } = await gateway.request('POST', '/api/executions', { json, ...people['ann'] });
  expect(status, JSON.stringify(body)).toBe(201);
  return { id: String(body.executionId), slug };
}

const get = (path: string, who?: string) => gateway.request('GET', path, who === undefined ? {} : people[who]);
const pathOf = async (id: string, step: string): Promise<string> => {
  const { body } = await get(`/api/executions/${id}/steps?step=${step}`);
  return body.items[0].path;
};
const questionOf = async (id: string, step: string, who = 'bob') =>
  get(`/api/approvals/${id}/${encodeURIComponent(await pathOf(id, step))}`, who);
const cancel = (id: string) => gateway.request('POST', `/api/executions/${id}/cancel`, { json: {} });

describe('the inbox', () => {
  it('has both kinds, with all that an answer needs, for those who may answer', async () => {
    const subject = { priority: 'high', deeplink: 'https://example.org/7', dueDate: '2027-01-15T10:00:00Z' };
    const { id, slug } = await asking({ ...subject, timeout: '1h', commentRequired: true, form: FORM });
    const { body } = await get(`/api/approvals?all=true&executionId=${id}`, 'bob');
    const common = {
      executionId: id,
      workflowId: slug,
      workflowName: 'Both questions',
      requester: 'ann',
      status: 'pending',
    };
    const approval = body.items.find((item: { kind: string }) => item.kind === 'approval');
    expect(approval).toMatchObject({
      ...common,
      stepSlug: 'pay',
      message: 'Refund of 3?',
      form: FORM,
      commentRequired: true,
      priority: 'high',
      deeplink: 'https://example.org/7',
      dueDate: '2027-01-15T10:00:00.000Z',
      audience: ['role:finance'],
      mayAnswer: true,
      resumeToken: expect.stringMatching(/^wrf_rt_/),
    });
    expect(Date.parse(approval.until) - Date.parse(approval.since)).toBe(3_600_000);
    const input = body.items.find((item: { kind: string }) => item.kind === 'input');
    expect(input).toMatchObject({ ...common, stepSlug: 'words', message: 'Why?', form: FORM, mayAnswer: true });
    expect(input).not.toHaveProperty('resumeToken');

    const kinds = async (who: string, query = '') =>
      (await get(`/api/approvals?executionId=${id}${query}`, who)).body.items
        .map((item: { kind: string }) => item.kind)
        .sort();
    expect(await kinds('bob')).toEqual(['approval', 'input']);
    expect(await kinds('dan')).toEqual(['input']);
    expect(await kinds('vic')).toEqual([]);
    expect(await kinds('vic', '&all=true')).toEqual(['approval', 'input']);
    expect(await kinds('bob', '&kind=input')).toEqual(['input']);
    expect(await kinds('bob', '&kind=approval&priority=high')).toEqual(['approval']);
    expect(await kinds('bob', '&role=finance')).toEqual(['approval', 'input']);

    const count = async (who: string, query = '') =>
      (await get(`/api/approvals/count?executionId=${id}${query}`, who)).body;
    expect(await count('bob')).toEqual({ mine: 2, all: 2 });
    expect(await count('dan')).toEqual({ mine: 1, all: 2 });
    expect(await count('vic', '&kind=approval')).toEqual({ mine: 0, all: 1 });
    await cancel(id);
  });

  it('lists the newest first, page after page, each once', async () => {
    const about = unique('order');
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push((await asking({ resourceType: about })).id);
    const seen: { executionId: string; kind: string; since: string }[] = [];
    let cursor = '';
    do {
      const { status, body } = await get(`/api/approvals?resourceType=${about}&limit=3${cursor}`, 'bob');
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.items.length).toBeLessThanOrEqual(3);
      seen.push(...body.items);
      cursor = body.nextCursor === undefined ? '' : `&cursor=${encodeURIComponent(body.nextCursor)}`;
      if (cursor !== '') {
        const elsewhere = await get(`/api/approvals?resourceType=${about}x&limit=3${cursor}`, 'bob');
        expect(elsewhere).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
      }
    } while (cursor !== '');
    expect(seen.map(({ executionId, kind }) => `${executionId} ${kind}`).sort()).toEqual(
      ids.flatMap((id) => [`${id} approval`, `${id} input`]).sort(),
    );
    const times = seen.map(({ since }) => since);
    expect(times).toEqual([...times].sort().reverse());
    for (const id of ids) await cancel(id);
  });

  it.each(['kind=timer', 'kind=', 'limit=0', 'cursor=nonsense', 'mine=true'])('refuses %s', async (query) => {
    expect((await get(`/api/approvals?${query}`, 'bob')).status).toBe(400);
    if (!/limit|cursor/.test(query)) expect((await get(`/api/approvals/count?${query}`, 'bob')).status).toBe(400);
  });
});

describe('one question', () => {
  it('comes with the facts, and its whole message', async () => {
    const { id, slug } = await asking({ message: LONG, form: FORM });
    const { status, body } = await questionOf(id, 'pay');
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      executionId: id,
      workflowId: slug,
      workflowName: 'Both questions',
      workflowVersion: '7.0.0',
      requester: 'ann',
      executionStatus: 'waiting',
      kind: 'approval',
      status: 'pending',
      mayAnswer: true,
      message: LONG,
      form: FORM,
      input: { amount: 3 },
      stepInput: { message: LONG, approvers: { roles: ['finance'] } },
    });
    expect(body.resumeToken).toMatch(/^wrf_rt_/);
    expect(body).not.toHaveProperty('answer');
    const others = (await questionOf(id, 'pay', 'vic')).body;
    expect(others.mayAnswer).toBe(false);
    expect(others).not.toHaveProperty('resumeToken');
    await cancel(id);
    await gateway.until(`/api/executions/${id}/result?wait=5`, (answer) => answer.status === 200);
    const ended = (await questionOf(id, 'pay')).body;
    expect(ended).toMatchObject({ status: 'cancelled', executionStatus: 'cancelled', mayAnswer: false });
    expect(ended.answer).not.toHaveProperty('by');
  });

  it('says who has answered it, when and how; and so does the refusal of a second answer', async () => {
    const { id } = await asking({ form: FORM });
    const [pay, words] = [await pathOf(id, 'pay'), await pathOf(id, 'words')];
    const before = new Date().toISOString();
    const approve = (json: Config) =>
      gateway.request('POST', `/api/executions/${id}/approve`, { json, ...people['bob'] });
    const yes = { approve: true, step: pay, comments: 'Fair enough.', data: { note: 'seen' } };
    expect((await approve(yes)).status).toBe(200);
    const { body } = await questionOf(id, 'pay', 'vic');
    expect(body).toMatchObject({
      status: 'approved',
      mayAnswer: false,
      message: 'Refund of 3?',
      stepInput: { message: 'Refund of 3?' },
      answer: { status: 'approved', by: 'bob', via: 'api', comments: 'Fair enough.', data: { note: 'seen' } },
    });
    expect(body.answer.at >= before).toBe(true);
    expect(body).not.toHaveProperty('resumeToken');
    const again = await approve({ ...yes, approve: false });
    expect(again).toMatchObject({
      status: 409,
      body: {
        answer: { path: pay, status: 'approved', by: 'bob', at: body.answer.at, via: 'api', comments: 'Fair enough.' },
      },
    });
    expect(again.body.answer).not.toHaveProperty('data');

    const submit = () =>
      gateway.request('POST', `/api/executions/${id}/submit`, {
        json: { data: { note: 'so' }, step: words },
        ...people['dan'],
      });
    expect((await submit()).status).toBe(200);
    await gateway.until(`/api/executions/${id}/result?wait=5`, (answer) => answer.status === 200);
    expect((await questionOf(id, 'words')).body).toMatchObject({
      kind: 'input',
      status: 'submitted',
      executionStatus: 'completed',
      answer: { by: 'dan', via: 'api', data: { note: 'so' } },
    });
    const late = await submit();
    expect(late).toMatchObject({ status: 409, body: { code: 'closed', answer: { path: words, by: 'dan' } } });
  });

  it('that nobody answered in time says so', async () => {
    const { id } = await startAsking({ timeout: '50ms' }, { timeout: '50ms', default: { note: 'none' } });
    await gateway.until(`/api/executions/${id}/result?wait=10`, (answer) => answer.status === 200);
    const approval = (await questionOf(id, 'pay')).body;
    expect(approval).toMatchObject({ status: 'timeout', answer: { status: 'timeout', via: 'timeout' } });
    expect(approval.answer).not.toHaveProperty('by');
    const input = (await questionOf(id, 'words')).body;
    expect(input).toMatchObject({ status: 'timeout', answer: { via: 'timeout', data: { note: 'none' } } });
  });

  it('that was never asked is not found, nor one of another organization', async () => {
    const { id } = await asking();
    for (const path of ['nothing', 'both', '%F0%9F%92%A5', `${'x'.repeat(900)}`])
      expect(await get(`/api/approvals/${id}/${path}`, 'bob')).toMatchObject({
        status: 404,
        body: { code: 'no_such_step' },
      });
    expect(await get('/api/approvals/run.default.x.y/pay', 'bob')).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const json = { name: 'stranger', role: 'admin', organization: unique('other') };
    const { body } = await gateway.request('POST', '/api/keys', { json });
    const headers = { authorization: `Bearer ${body.key}` };
    const path = `/api/approvals/${id}/${encodeURIComponent(await pathOf(id, 'pay'))}`;
    expect(await gateway.request('GET', path, { headers })).toMatchObject({ status: 404, body: { code: 'not_found' } });
    await cancel(id);
  });
});
