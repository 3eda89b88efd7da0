import { beforeAll, describe, expect, it } from 'vitest';
import { decidedText } from '../../../src/cli/commands/resume.ts';
import { summaryLines } from '../../../src/cli/run-text.ts';
import type { Json } from '../../../src/json/json.ts';
import { sharedGateway, unique } from './gateway-support.ts';

type Person = { headers: { authorization: string } };
const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
const people: { [name: string]: Person } = {};
beforeAll(async () => {
  for (const name of ['bob', 'cat']) {
    const key = await gateway.makeKey({ name: unique(name), user: name, role: 'approver' });
    people[name] = { headers: { authorization: `Bearer ${key}` } };
  }
});

const FORM = { costCenter: 'string', risk: { type: 'string', enum: ['low', 'high'] } };

async function start(config: { [member: string]: Json }, more: { [member: string]: Json } = {}): Promise<string> {
  const definition = {
    name: 'Purchase',
    slug: unique('purchase'),
    steps: {
      ask: {
        stepType: 'approval',
        config: { message: 'Buy?', requesterMayApprove: true, ...config },
        nextSteps: { approved: 'done', rejected: 'done' },
      },
      done: { stepType: 'finish', config: { output: '{{ steps.ask.output.data }}' } },
    },
    ...more,
  };
  const { status, body } = await gateway.request('POST', '/api/executions', { json: { definition } as Json });
  expect(status, JSON.stringify(body)).toBe(201);
  await gateway.until(`/api/executions/${body.executionId}`, (answer) => answer.body.waitingFor.length > 0);
  return String(body.executionId);
}

const handleOf = (id: string) => gateway.server.client.workflow.getHandle(id);
const approve = (id: string, json: { [member: string]: Json }, by?: string) =>
  gateway.request('POST', `/api/executions/${id}/approve`, {
    json: { approve: true, ...json },
    ...(by === undefined ? {} : people[by]),
  });
const detailsOf = async (id: string): Promise<string> => {
  const metadata = await handleOf(id).query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails ?? '';
};

describe('an approval with a form', () => {
  it('shows it wherever the approval is shown, and the hints name the data that it asks for', async () => {
    const id = await start({ form: FORM });
    const { body } = await gateway.request('GET', `/api/executions/${id}`);
    expect(body.waitingFor[0].form).toEqual(FORM);
    const listed = await gateway.until(`/api/approvals?executionId=${id}`, (answer) => answer.body.items.length === 1);
    expect(listed.body.items[0].form).toEqual(FORM);
    expect(await handleOf(id).query('waiting')).toMatchObject([{ path: 'ask', form: FORM }]);
    const details = await detailsOf(id);
    expect(details).toContain('costCenter');
    const sample = '"data":{"costCenter":"<costCenter>","risk":"low"}';
    expect(details).toContain(sample);
    expect(details).not.toContain('override');
    expect(summaryLines(id, body).join('\n')).toContain(`--data '{"costCenter":"<costCenter>","risk":"low"}'`);
    // The hint is taken as it stands.
    const [, input] = /--input '(.*)'/.exec(details) ?? [];
    await handleOf(id).signal('approve', JSON.parse(input ?? ''));
    const result = await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
    expect(result.body.output).toMatchObject({ decision: 'approved', submittedData: { risk: 'low' }, via: 'temporal' });
  });

  it('tells a vote from a decision, and keeps what each voter filled in', async () => {
    const id = await start({ form: FORM, quorum: 2, approvers: ['bob', 'cat'] });
    // Where a signal needs an override, its hint has the data too.
    const hint = await detailsOf(id);
    expect(hint).toMatch(/"override":true.*"data":\{"costCenter"/);
    const first = await approve(id, { data: { costCenter: 'K1', risk: 'low' } }, 'bob');
    expect(first.body).toMatchObject({ recorded: 'vote', votes: { have: 1, needed: 2 } });
    expect(decidedText(first.body)).toBe('vote 1 of 2 recorded');
    const second = await approve(id, { data: { costCenter: 'K2', risk: 'high' } }, 'cat');
    expect(second.body).toMatchObject({ recorded: 'decision' });
    expect(decidedText(second.body)).toBe('approved');
    const { body } = await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
    expect(body.output).toMatchObject({
      submittedData: { costCenter: 'K2', risk: 'high' },
      votes: [
        { by: 'bob', data: { costCenter: 'K1', risk: 'low' } },
        { by: 'cat', data: { costCenter: 'K2', risk: 'high' } },
      ],
    });
  });
});

describe('the list of approvals', () => {
  it('has what the approval is about, and is filtered by it', async () => {
    const resourceId = unique('order');
    const about = {
      priority: 'high',
      dueDate: '2027-01-01T00:00:00.000Z',
      resourceType: 'order',
      resourceId,
      routeHint: '/orders',
      deeplink: `https://example.com/${resourceId}`,
    };
    const id = await start({ ...about, approvers: ['bob', 'cat'] });
    await gateway.until(`/api/approvals?executionId=${id}&all=true`, (answer) => answer.body.items.length === 1);
    const run = await gateway.request('GET', `/api/executions/${id}`);
    expect(run.body.waitingFor[0]).toMatchObject(about);
    const matching = [
      `resourceId=${resourceId}&all=true`,
      `resourceType=order&resourceId=${resourceId}&all=true`,
      `executionId=${id}&all=true`,
      `executionId=${id}&approver=bob`,
      `executionId=${id}&approver=user:cat`,
      `executionId=${id}&status=pending&all=true`,
      `executionId=${id}&priority=high&all=true`,
    ];
    for (const query of matching) {
      const { body } = await gateway.request('GET', `/api/approvals?${query}`);
      expect({ query, items: body.items }).toMatchObject({
        query,
        items: [{ executionId: id, status: 'pending', approverMemberId: 'bob', ...about }],
      });
    }
    const other = [
      `executionId=${id}&priority=low&all=true`,
      `executionId=${id}&approver=dan`,
      `executionId=${id}&approver=role:finance`,
      `resourceType=invoice&resourceId=${resourceId}&all=true`,
      `executionId=run.default.none.1&all=true`,
    ];
    for (const query of other) expect((await gateway.request('GET', `/api/approvals?${query}`)).body.items).toEqual([]);
    expect((await gateway.request('GET', '/api/approvals?status=rejected')).status).toBe(400);
  });
});

describe('a resume token that was used', () => {
  it('is told so, also while another approval waits; one that never was one is a mismatch', async () => {
    const second = { stepType: 'approval', config: { message: 'Really?', requesterMayApprove: true } };
    const first = { ...second, nextSteps: { approved: 'second', rejected: 'second' } };
    const id = await start({}, { steps: { first, second } });
    const { body } = await gateway.request('GET', `/api/executions/${id}`);
    const { resumeToken } = body.waitingFor[0];
    expect((await approve(id, { resumeToken })).status).toBe(200);
    await gateway.until(`/api/executions/${id}`, (answer) => answer.body.waitingFor[0]?.path === 'second');
    expect(await approve(id, { resumeToken })).toMatchObject({ status: 409, body: { code: 'already_decided' } });
    expect(await approve(id, { resumeToken: `wrf_rt_${'0'.repeat(24)}` })).toMatchObject({
      status: 403,
      body: { code: 'resume_token_mismatch' },
    });
    // Of all that come at once, one decides, and the others are told that it is over.
    const shown = await gateway.request('GET', `/api/executions/${id}`);
    const token = shown.body.waitingFor[0].resumeToken;
    const answers = await Promise.all(Array.from({ length: 8 }, () => approve(id, { resumeToken: token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
  });
});

describe('the current details of a run that has ended', () => {
  it('tell its end, and no command for what it waits for no more', async () => {
    const done = await start({});
    const cancelled = await start({});
    expect(await detailsOf(done)).toContain('--name approve');
    expect((await approve(done, {})).status).toBe(200);
    await gateway.request('POST', `/api/executions/${cancelled}/cancel`);
    for (const [id, status] of [
      [done, 'completed'],
      [cancelled, 'cancelled'],
    ] as const) {
      await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
      const details = await detailsOf(id);
      expect(details).toContain(`: ${status}`);
      expect(details).not.toContain('--name');
    }
  });
});
