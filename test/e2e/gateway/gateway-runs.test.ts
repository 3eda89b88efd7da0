import { describe, expect, it } from 'vitest';
import { waitLine } from '../../../src/cli/run-text.ts';
import { approvalDefinition, echoDefinition, sharedGateway, unique } from './gateway-support.ts';

const gateway = sharedGateway();

async function stored(
  name: string,
  make: typeof echoDefinition,
  more: Parameters<typeof echoDefinition>[1] = {},
): Promise<string> {
  const slug = unique(name);
  await gateway.store(make(slug, more));
  return slug;
}

const manual = (json: { workflowId: string; [key: string]: never | string | number | object }) =>
  gateway.request('POST', '/api/triggers/manual/run', { json: json as never });

const waiting = (id: string) => gateway.until(`/api/executions/${id}`, (answer) => answer.body.waitingFor?.length > 0);

describe('runs over HTTP', () => {
  it('starts a stored workflow, waits for the result, and shows what happened', async () => {
    const slug = await stored('echo', echoDefinition);
    const started = await manual({ workflowId: slug, input: { a: 1 } });
    expect(started).toMatchObject({ status: 201, body: { status: 'pending' } });
    const id = started.body.executionId;
    expect(id).toMatch(new RegExp(`^run\\.default\\.${slug}\\.[0-9A-Z]{26}$`));
    const result = await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
    expect(result).toMatchObject({ status: 200, body: { status: 'completed', output: { a: 1 } } });
    const read = await gateway.request('GET', `/api/executions/${id}`);
    expect(read.body).toMatchObject({
      id,
      workflowId: slug,
      workflowVersion: '1.0.0',
      status: 'completed',
      waitingFor: [],
      input: { a: 1 },
      output: { a: 1 },
      trigger: { type: 'manual' },
      temporal: { workflowId: id },
    });
    expect(read.body.temporal.url).toContain(`/workflows/${id}/`);
    // In Temporal's Web UI and CLI.
    const described = await gateway.server.client.workflow.getHandle(id).describe();
    expect(await described.staticDetails()).toBe(`[Open in Signalbox](${gateway.url}/console/runs/${id})`);
    expect(Date.parse(read.body.completedAt)).toBeGreaterThanOrEqual(Date.parse(read.body.startedAt));
    const steps = await gateway.request('GET', `/api/executions/${id}/steps?limit=1`);
    expect(steps.body.items).toMatchObject([
      { path: 'received', stepSlug: 'received', stepType: 'trigger', status: 'completed', attempts: 1 },
    ]);
    const next = await gateway.request('GET', `/api/executions/${id}/steps?cursor=${steps.body.nextCursor}`);
    expect(next.body.items).toMatchObject([{ path: 'done' }]);
    expect((await gateway.request('GET', `/api/executions/${id}/steps?cursor=1`)).body.code).toBe('invalid_cursor');
  });

  it('answers a start with the end of the run, if the caller waits and it ends in time', async () => {
    const slug = await stored('waited', echoDefinition);
    const start = (wait: number, json: { [member: string]: never | string | object }) =>
      gateway.request('POST', `/api/triggers/manual/run?wait=${wait}`, { json: json as never });
    const ended = { status: 'completed', output: { a: 1 } };
    const first = await start(20, { workflowId: slug, input: { a: 1 }, clientRequestId: 'waited' });
    expect(first).toMatchObject({ status: 201, body: ended });
    expect(first.headers.get('location')).toBe(`/api/executions/${first.body.executionId}`);
    const again = await start(20, { workflowId: slug, input: { a: 1 }, clientRequestId: 'waited' });
    expect(again).toMatchObject({ status: 200, body: { executionId: first.body.executionId, ...ended } });
    const definition = { name: 'Fails', steps: { fail: { stepType: 'fail', config: { code: 'no', message: 'No.' } } } };
    const failed = await gateway.request('POST', '/api/executions?wait=20', { json: { definition } as never });
    expect(failed).toMatchObject({ status: 201, body: { status: 'failed', error: { code: 'no', message: 'No.' } } });
    const patient = await stored('patient', approvalDefinition);
    const open = await start(1, { workflowId: patient, input: { amount: 5 } });
    expect(open).toMatchObject({ status: 201, body: { status: 'waiting' } });
    expect(Object.keys(open.body)).toEqual(['executionId', 'status']);
    expect(await start(61, { workflowId: slug })).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('answers a decision and an input with the end of the run, if the caller waits and it ends in time', async () => {
    const ask = {
      stepType: 'approval',
      config: { message: 'Go on?' },
      nextSteps: { approved: 'name', rejected: 'no' },
    };
    const slug = await stored('decided', (slug) => ({
      name: 'Decided',
      slug,
      steps: {
        ask,
        name: { stepType: 'user_input', config: { message: 'Your name?' }, nextSteps: { submitted: 'hello' } },
        hello: { stepType: 'finish', config: { output: '{{ steps.name.output.data }}' } },
        no: { stepType: 'fail', config: { code: 'refused', message: 'No.' } },
      },
    }));
    const started = async (): Promise<string> => {
      const runId = await gateway.start(slug);
      await gateway.until(`/api/executions/${runId}`, (answer) => answer.body.waitingFor?.length === 1);
      return runId;
    };
    const act = (id: string, action: string, json: { readonly [name: string]: string | boolean }) =>
      gateway.request('POST', `/api/executions/${id}/${action}`, { json });
    const id = await started();
    // The run waits for the input then.
    const approved = await act(id, 'approve?wait=1', { approve: true });
    expect(approved).toMatchObject({ status: 200, body: { path: 'ask', decision: 'approved', recorded: 'decision' } });
    expect(approved.body).not.toHaveProperty('result');
    const submitted = await act(id, 'submit?wait=20', { data: 'Ann' });
    const end = { executionId: id, path: 'name', result: { status: 'completed', output: 'Ann' } };
    expect(submitted).toMatchObject({ status: 200, body: end });
    const rejected = await act(await started(), 'approve?wait=20', { approve: false });
    const error = { code: 'refused', message: 'No.' };
    expect(rejected).toMatchObject({ status: 200, body: { result: { status: 'failed', error } } });
    const unasked = await act(await started(), 'approve', { approve: false });
    expect(unasked.body).not.toHaveProperty('result');
  });

  it('approves by token, and tells every later decision that it came too late', async () => {
    const slug = await stored('refund', approvalDefinition);
    const { body } = await manual({ workflowId: slug, variables: { amount: 12 } });
    const id = body.executionId;
    const early = await gateway.request('GET', `/api/executions/${id}/result`);
    expect(early.status).toBe(202);
    const shown = await waiting(id);
    expect(shown.body).toMatchObject({
      status: 'waiting',
      waitingFor: [{ path: 'review', stepSlug: 'review', kind: 'approval', message: 'Refund 12?' }],
    });
    const token = shown.body.waitingFor[0].resumeToken;
    expect(token).toMatch(/^wrf_rt_[0-9a-f]{24}$/);
    const listed = await gateway.until(`/api/approvals?workflowId=${slug}`, (answer) => answer.body.items.length === 1);
    expect(listed.body.items[0]).toMatchObject({
      executionId: id,
      workflowId: slug,
      path: 'review',
      resumeToken: token,
    });

    const wrong = await gateway.request('POST', `/api/executions/${id}/approve`, {
      json: { approve: true, resumeToken: `wrf_rt_${'0'.repeat(24)}` },
    });
    expect(wrong).toMatchObject({ status: 403, body: { code: 'resume_token_mismatch' } });
    const odd = await gateway.request('POST', `/api/executions/${id}/approve`, {
      json: { approve: true, organizationId: 'other' },
    });
    expect(odd).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    const right = await gateway.request('POST', `/api/executions/${id}/approve`, {
      json: { approve: true, resumeToken: token, comments: 'fine' },
    });
    expect(right).toMatchObject({ status: 200, body: { executionId: id, path: 'review', decision: 'approved' } });
    const late = await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: false } });
    expect(late.status).toBe(409);
    const result = await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
    expect(result.body).toMatchObject({ status: 'completed', output: { paid: 12 } });
  });

  it('tells a decision that comes after the timeout so, while the run continues and when it has ended', async () => {
    const ask = { stepType: 'approval', config: { message: 'Now?', timeout: 1 } };
    const later = { stepType: 'approval', config: { message: 'Later?' } };
    const slug = await stored('late', echoDefinition, {
      steps: { ask: { ...ask, nextSteps: { timeout: 'later' } }, later },
    });
    const id = (await manual({ workflowId: slug })).body.executionId;
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.[0]?.path === 'later');
    const decide = (json: { approve: boolean; step?: string }) =>
      gateway.request('POST', `/api/executions/${id}/approve`, { json });
    for (const approve of [true, false])
      expect(await decide({ approve, step: 'ask' })).toMatchObject({ status: 409, body: { code: 'already_decided' } });
    expect((await decide({ approve: true, step: 'later' })).status).toBe(200);
    await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
    for (const step of ['ask', 'later'])
      expect(await decide({ approve: true, step })).toMatchObject({ status: 409, body: { code: 'closed' } });

    const unwired = await stored('too-late', echoDefinition, { steps: { ask } });
    const failed = (await manual({ workflowId: unwired })).body.executionId;
    await gateway.until(`/api/executions/${failed}`, ({ body }) => body.status === 'failed');
    const answer = await gateway.request('POST', `/api/executions/${failed}/approve`, { json: { approve: true } });
    expect(answer).toMatchObject({ status: 409, body: { code: 'closed' } });
  });

  it('tells a vote from a decision, and shows the votes so far, also where there are no persons', async () => {
    const definition = approvalDefinition(unique('votes')) as { steps: { review: { config: object } } };
    Object.assign(definition.steps.review.config, { quorum: 2 });
    const started = await gateway.request('POST', '/api/executions', {
      json: { definition, input: { amount: 3 } } as never,
    });
    const path = `/api/executions/${started.body.executionId}`;
    expect((await waiting(started.body.executionId)).body.waitingFor[0].votes).toEqual({ have: 0, needed: 2 });
    const answer = await gateway.request('POST', `${path}/approve`, { json: { approve: true } });
    expect(answer.body).toMatchObject({ decision: 'approved', recorded: 'vote', votes: { have: 1, needed: 2 } });
    const { body } = await gateway.until(path, ({ body }) => body.waitingFor[0]?.votes.have === 1);
    expect(body.waitingFor[0]).toMatchObject({ path: 'review', votes: { have: 1, needed: 2 } });
    expect(waitLine(body.waitingFor[0])).toBe('approval at review (1 of 2 votes): Refund 3?');
    expect((await gateway.request('POST', `${path}/cancel`)).status).toBe(202);
  });

  it('lets one of twenty decisions win', async () => {
    const slug = await stored('contended', approvalDefinition);
    const { body } = await manual({ workflowId: slug, input: { amount: 5 } });
    await waiting(body.executionId);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        gateway.request('POST', `/api/executions/${body.executionId}/approve`, { json: { approve: i % 2 === 0 } }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(19);
  });

  it('starts one run for a request id sent fifty times in parallel, and refuses another body', async () => {
    const slug = await stored('once', echoDefinition);
    const request = { workflowId: slug, input: { n: 1, m: 2 }, clientRequestId: 'order 17' };
    const answers = await Promise.all(Array.from({ length: 50 }, () => manual(request)));
    expect(new Set(answers.map((answer) => answer.body.executionId)).size).toBe(1);
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(49);
    expect(answers[0]?.body.executionId).toMatch(/\.key-[0-9a-f]{32}$/);
    const reordered = await manual({ clientRequestId: 'order 17', input: { m: 2, n: 1 }, workflowId: slug });
    expect(reordered.status).toBe(200);
    const other = await manual({ ...request, input: { n: 2 } });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
  });

  it('runs a definition inline, in both forms', async () => {
    const inline = await gateway.request('POST', '/api/executions', {
      json: { definition: echoDefinition('inline-echo'), input: { b: 2 }, triggeredBy: 'ann' },
    });
    expect(inline.status).toBe(201);
    const read = await gateway.until(
      `/api/executions/${inline.body.executionId}`,
      (answer) => answer.body.status === 'completed',
    );
    expect(read.body).toMatchObject({ inline: true, initiator: 'ann', output: { b: 2 }, trigger: { type: 'inline' } });
    const other = await gateway.request('POST', '/api/executions', {
      json: {
        workflowConfig: { name: 'Form 000' },
        stepsConfig: [
          {
            stepSlug: 'start',
            name: 'Start',
            stepType: 'trigger',
            order: 1,
            config: { type: 'manual' },
            nextSteps: {},
          },
        ],
        input: { c: 3 },
        triggeredBy: 'test',
      },
    });
    expect(other.status).toBe(201);
    const result = await gateway.request('GET', `/api/executions/${other.body.executionId}/result?wait=20`);
    expect(result.body.status).toBe('completed');
  });

  it('refuses an input that the definition does not declare, with the place', async () => {
    const slug = await stored('typed', echoDefinition, {
      input: { orderId: 'string', amount: { type: 'number', description: 'in cents' } },
    });
    const answer = await manual({ workflowId: slug, input: { orderId: 7, amount: 3 } });
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_input' } });
    expect(answer.body.problems[0].pointer).toBe('/input/orderId');
  });

  it('takes the organization that tale sends along where it is the caller’s own', async () => {
    const workflowConfig = { name: 'Named', config: {} };
    const stepsConfig = [
      { stepSlug: 'start', name: 'start', stepType: 'start', order: 1, config: {}, nextSteps: { success: 'out' } },
      {
        stepSlug: 'out',
        name: 'out',
        stepType: 'finish',
        order: 2,
        config: { output: '{{ input.a }}' },
        nextSteps: {},
      },
    ];
    const json = { organizationId: 'default', workflowConfig, stepsConfig, input: { a: 1 }, triggeredBy: 'me' };
    const started = await gateway.request('POST', '/api/executions', { json });
    expect(started.status).toBe(201);
    const result = await gateway.request('GET', `/api/executions/${started.body.executionId}/result?wait=20`);
    expect(result.body).toMatchObject({ status: 'completed', output: 1 });
    expect(
      await gateway.request('POST', '/api/executions', { json: { ...json, organizationId: 'another' } }),
    ).toMatchObject({ status: 400, body: { code: 'invalid_request', problems: [{ pointer: '/organizationId' }] } });
  });

  it('starts with the given state', async () => {
    const slug = unique('stateful');
    const steps = {
      received: { stepType: 'trigger', nextSteps: { success: 'done' } },
      done: { stepType: 'finish', config: { output: '{{ state.attempts + 1 }}' } },
    };
    const json = { name: 'Stateful', slug, state: { attempts: 'number' }, steps };
    expect(await gateway.request('PUT', `/api/workflows/${slug}`, { json })).toMatchObject({ status: 201 });
    const refused = await manual({ workflowId: slug, state: { attempts: 'many' } });
    expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_input' } });
    expect(refused.body.problems[0].pointer).toBe('/state/attempts');
    // alloy: a value is of its declared type, and none is made into it.
    expect(await manual({ workflowId: slug, state: { attempts: '4' } })).toMatchObject({
      status: 422,
      body: { problems: [{ pointer: '/state/attempts', code: 'invalid_state' }] },
    });
    const started = await manual({ workflowId: slug, state: { attempts: 4 } });
    const result = await gateway.request('GET', `/api/executions/${started.body.executionId}/result?wait=20`);
    expect(result.body).toMatchObject({ status: 'completed', output: 5 });
  });

  it('ends past the time that its start allows, by hand too', async () => {
    const slug = await stored('timed', approvalDefinition);
    const started = await manual({ workflowId: slug, input: { amount: 1 }, timeoutMs: 300 });
    expect(started.status).toBe(201);
    const result = await gateway.request('GET', `/api/executions/${started.body.executionId}/result?wait=20`);
    expect(result.body).toMatchObject({ status: 'failed', error: { code: 'run_timeout' } });
    expect((await manual({ workflowId: slug, timeoutMs: 0 })).status).toBe(400);
  });

  it('cancels, terminates, and says when there is nothing left to do', async () => {
    const slug = await stored('ended', approvalDefinition);
    const first = (await manual({ workflowId: slug, input: { amount: 1 } })).body.executionId;
    const second = (await manual({ workflowId: slug, input: { amount: 2 } })).body.executionId;
    await Promise.all([waiting(first), waiting(second)]);
    expect((await gateway.request('POST', `/api/executions/${first}/cancel`)).status).toBe(202);
    expect(
      (await gateway.request('POST', `/api/executions/${second}/terminate`, { json: { reason: 'test' } })).body.status,
    ).toBe('aborted');
    const cancelled = await gateway.request('GET', `/api/executions/${first}/result?wait=20`);
    expect(cancelled.body).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
    expect((await gateway.request('POST', `/api/executions/${first}/cancel`)).body.code).toBe('closed');
    expect((await gateway.request('POST', `/api/executions/${second}/messages/x`, { json: 1 })).body.code).toBe(
      'closed',
    );
  });

  it('lists by workflow, status and tag, page by page, and takes no forged cursor', async () => {
    const slug = await stored('listed', echoDefinition, { tags: ['list me'] });
    for (let i = 0; i < 3; i++) await manual({ workflowId: slug, input: { i } });
    const all = await gateway.until(
      `/api/workflows/${slug}/executions?status=completed`,
      (answer) => answer.body.items.length === 3,
    );
    expect(all.body.items[0]).toMatchObject({ workflowId: slug, status: 'completed', trigger: { type: 'manual' } });
    const page = await gateway.request('GET', `/api/executions?workflow_id=${slug}&limit=2`);
    expect(page.body.items).toHaveLength(2);
    const rest = await gateway.request(
      'GET',
      `/api/executions?workflow_id=${slug}&limit=2&cursor=${page.body.nextCursor}`,
    );
    expect(rest.body.items).toHaveLength(1);
    const ids = new Set([...page.body.items, ...rest.body.items].map((item: { id: string }) => item.id));
    expect(ids.size).toBe(3);
    const elsewhere = await gateway.request(
      'GET',
      `/api/executions?workflowId=other&limit=2&cursor=${page.body.nextCursor}`,
    );
    expect(elsewhere).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
    for (const breakout of [
      `x' OR SignalboxOrg != 'none`,
      `x\\' OR SignalboxOrg != 'none`,
      `x\\`,
      `x" OR "1" = "1`,
      '`x`',
    ]) {
      const none = await gateway.request('GET', `/api/executions?workflowId=${encodeURIComponent(breakout)}`);
      expect(none).toMatchObject({ status: 200, body: { items: [] } });
    }
    const open = await gateway.request('GET', `/api/executions?workflowId=${slug}&status=in_progress,suspended`);
    expect(open.body.items).toHaveLength(0);
    const started = await gateway.request(
      'GET',
      `/api/executions?workflowId=${slug}&started[gte]=2020-01-01&duration[lte]=3600`,
    );
    expect(started.body.items).toHaveLength(3);
  });

  it('knows nothing of what is no run', async () => {
    const slug = await stored('not-a-run', echoDefinition);
    for (const id of [`def.default.${slug}`, 'run.default.x.none', 'run.other.x.y']) {
      expect((await gateway.request('GET', `/api/executions/${id}`)).body).toMatchObject({
        status: 404,
        code: 'not_found',
      });
      expect((await gateway.request('POST', `/api/executions/${id}/cancel`)).status).toBe(404);
    }
  });
});
