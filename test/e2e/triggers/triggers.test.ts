import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type Answer, echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();

type Members = { [key: string]: Json };

const put = async (slug: string, more: Members): Promise<Answer> => {
  const answer = await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, more) });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
};
const trigger = (id: string) => gateway.request('GET', `/api/triggers/${encodeURIComponent(id)}`);
const act = (id: string, verb: string, json: Json = {}) =>
  gateway.request('POST', `/api/triggers/${encodeURIComponent(id)}/${verb}`, { json });
const output = async (executionId: string): Promise<unknown> =>
  (await gateway.request('GET', `/api/executions/${encodeURIComponent(executionId)}/result?wait=20`)).body.output;

describe('triggers that a definition has', () => {
  it('are made, changed and deleted with it', async () => {
    const slug = unique('owned');
    const schedule = { name: 'nightly', type: 'schedule', config: { cron: '0 3 * * *', timezone: 'Europe/Berlin' } };
    const event = { name: 'on-order', type: 'event', config: { name: unique('order') } };
    await put(slug, { triggers: [schedule, event] });
    expect(await trigger(`${slug}.nightly`)).toMatchObject({
      status: 200,
      body: {
        id: `${slug}.nightly`,
        workflowId: slug,
        type: 'schedule',
        enabled: true,
        source: 'definition',
        counts: { started: 0, refused: 0 },
        schedule: { nextTimes: expect.arrayContaining([expect.stringMatching(/T0[12]:00:00/)]) },
      },
    });
    const listed = await gateway.until(`/api/triggers?workflowId=${slug}`, ({ body }) => body.items.length === 2);
    expect(listed.body.items.map((one: { name: string }) => one.name).sort()).toEqual(['nightly', 'on-order']);

    await put(slug, { triggers: [{ ...schedule, config: { cron: '0 4 * * *' } }] });
    expect((await trigger(`${slug}.nightly`)).body).toMatchObject({ config: { cron: '0 4 * * *' } });
    expect((await trigger(`${slug}.nightly`)).body.schedule.nextTimes[0]).toMatch(/T04:00:00/);
    expect((await trigger(`${slug}.on-order`)).status).toBe(404);

    expect((await gateway.request('DELETE', `/api/workflows/${slug}`)).status).toBe(204);
    expect((await trigger(`${slug}.nightly`)).status).toBe(404);
  });

  it('can only be switched off, which lasts until the definition changes it', async () => {
    const slug = unique('switched');
    const path = unique('path');
    const hook = { name: 'in', type: 'webhook', config: { path, scheme: 'none' } };
    await put(slug, { triggers: [hook] });
    const id = `${slug}.in`;
    const deliver = () => gateway.request('POST', `/webhooks/${path}`, { json: { at: unique('x') } });
    expect((await deliver()).status).toBe(202);
    const repeat = () =>
      gateway.request('POST', `/webhooks/${path}`, { json: {}, headers: { 'idempotency-key': 'again' } });
    const once = await repeat();
    const byHand = await act(id, 'run', { clientRequestId: 'again' });
    expect([once.status, byHand.status]).toEqual([202, 201]);
    expect(await act(id, 'disable')).toMatchObject({ status: 200, body: { enabled: false } });
    expect((await deliver()).status).toBe(404);
    expect(await repeat()).toMatchObject({ status: 200, body: { executionId: once.body.executionId } });
    expect(await act(id, 'run', { clientRequestId: 'again' })).toMatchObject({
      status: 200,
      body: { executionId: byHand.body.executionId },
    });
    await put(slug, { triggers: [hook], description: 'the same trigger in another version' });
    expect((await deliver()).status).toBe(404);
    expect(await act(id, 'run')).toMatchObject({ status: 409, body: { code: 'trigger_disabled' } });
    expect(await act(id, 'enable')).toMatchObject({ status: 200, body: { enabled: true } });
    expect((await deliver()).status).toBe(202);
    const change = { variableMapping: { a: '$.b' } };
    expect(await gateway.request('PATCH', `/api/triggers/${id}`, { json: change })).toMatchObject({
      status: 409,
      body: { code: 'trigger_of_definition' },
    });
    expect((await gateway.request('DELETE', `/api/triggers/${id}`)).body.code).toBe('trigger_of_definition');
    const told = await gateway.until(`/api/triggers/${id}`, ({ body }) => body.counts.started === 4);
    expect(told.body).toMatchObject({ lastRunAt: expect.any(String), last: { outcome: 'started' } });
    const done = await gateway.until(`/api/triggers/${id}`, ({ body }) => body.lastRun?.status === 'completed');
    expect(done.body.lastRun.executionId).toContain(`.${slug}.`);
  });
});

describe('triggers that the API makes', () => {
  it('start what they name, with their mapping and state, once for each request id', async () => {
    const slug = unique('made');
    const state = { stateType: { type: 'string' } };
    await put(slug, {
      state,
      steps: {
        done: { stepType: 'finish', config: { output: { input: '{{ input }}', state: '{{ state.stateType }}' } } },
      },
    });
    const made = await gateway.request('POST', '/api/triggers', {
      json: {
        workflowId: slug,
        name: 'by hand',
        type: 'manual',
        variableMapping: { id: '$.order.id', text: 'order {{ body.order.id }}' },
        targetState: { stateType: 'set' },
      },
    });
    expect(made).toMatchObject({ status: 201, body: { id: `${slug}.by hand`, source: 'api', enabled: true } });
    const json = { input: { order: { id: 7 } }, clientRequestId: 'one' };
    const first = await act(made.body.id, 'run', json);
    expect(first.status).toBe(201);
    expect(await output(first.body.executionId)).toEqual({ input: { id: 7, text: 'order 7' }, state: 'set' });
    expect(await act(made.body.id, 'run', json)).toMatchObject({
      status: 200,
      body: { executionId: first.body.executionId },
    });
    expect(await act(made.body.id, 'run', { ...json, input: 2 })).toMatchObject({ status: 422 });
    const run = await gateway.request('GET', `/api/executions/${first.body.executionId}`);
    expect(run.body.trigger).toEqual({ type: 'manual', id: made.body.id, name: 'by hand' });
    const again = await gateway.request('POST', '/api/triggers', {
      json: { workflowId: slug, name: 'by hand', type: 'manual' },
    });
    expect(again).toMatchObject({ status: 409, body: { code: 'trigger_exists' } });
  });

  it('take a webhook path of their own, and secrets that are never answered', async () => {
    const slug = unique('hooked');
    await put(slug, {});
    const [path, other] = [unique('path'), unique('other')];
    const config = { type: 'webhook', path, scheme: 'api_key', secret: 'canary-of-trigger' };
    const made = await gateway.request('POST', '/api/triggers', { json: { workflowId: slug, name: 'in', config } });
    expect(made).toMatchObject({ status: 201, body: { webhookUrl: `${gateway.url}/webhooks/${path}` } });
    expect(JSON.stringify(made.body)).not.toContain('canary-of-trigger');
    const deliver = (to: string, key = 'canary-of-trigger') =>
      gateway.request('POST', `/webhooks/${to}`, { json: { n: unique('n') }, headers: { 'x-api-key': key } });
    expect((await deliver(path)).status).toBe(202);
    expect((await deliver(path, 'wrong')).status).toBe(401);
    const moved = await gateway.request('PATCH', `/api/triggers/${made.body.id}`, {
      json: { config: { path: other } },
    });
    expect(moved).toMatchObject({ status: 200, body: { config: { path: other } } });
    expect((await deliver(other)).status).toBe(202);
    expect((await deliver(path)).status).toBe(404);
    const change = async (config: Json) =>
      (await gateway.request('PATCH', `/api/triggers/${made.body.id}`, { json: { config } })).body;
    const bound = await change({ secret: 'that of later', headers: { 'X-Kind': 'order', 'X-Api-Key': '*' } });
    expect(bound.config).toEqual({ ...moved.body.config, headers: { 'X-Kind': 'order', 'X-Api-Key': '*' } });
    expect((await change({ headers: { 'X-Kind': null } })).config.headers).toEqual({ 'X-Api-Key': '*' });
    expect((await change({ path: null })).problems).toMatchObject([{ pointer: '/config/path' }]);
    expect((await deliver(other)).status).toBe(401);
    expect((await deliver(other, 'that of later')).status).toBe(202);
    const thief = unique('thief');
    const taken = { name: 'in', type: 'webhook', config: { path: other, scheme: 'none' } };
    const stolen = await gateway.request('PUT', `/api/workflows/${thief}`, {
      json: echoDefinition(thief, { triggers: [taken] }),
    });
    expect(stolen).toMatchObject({ status: 409, body: { code: 'path_taken' } });
    expect((await gateway.request('DELETE', `/api/triggers/${made.body.id}`)).status).toBe(204);
    expect((await deliver(other)).status).toBe(404);
  });

  it('go with their workflow', async () => {
    const slug = unique('parent');
    await put(slug, {});
    const made = await gateway.request('POST', '/api/triggers', {
      json: { workflowId: slug, name: 'hourly', type: 'schedule', config: { cron: '@hourly' } },
    });
    expect(made.status).toBe(201);
    await gateway.until(`/api/triggers?workflowId=${slug}`, ({ body }) => body.items.length === 1);
    expect((await gateway.request('DELETE', `/api/workflows/${slug}`)).status).toBe(204);
    expect((await trigger(made.body.id)).status).toBe(404);
  });

  it.each([
    [{ type: 'schedule', config: { cron: '61 * * * *' } }, '/config/cron'],
    [{ type: 'schedule', config: { cron: '* * * * *', timezone: 'Mars/Olympus' } }, '/config/timezone'],
    [{ type: 'schedule', config: { cron: '* * * * *', target: 'orchestrator' } }, '/config/prompt'],
    [{ type: 'event', config: { name: 'x', filter: 'data.' } }, '/config/filter'],
    [{ type: 'event', config: {} }, '/config'],
    [{ type: 'webhook', config: { path: '../x', scheme: 'none' } }, '/config/path'],
    [{ type: 'manual', variableMapping: { a: 'no path' } }, '/variableMapping/a'],
    [{}, '/type'],
  ])('%j is refused, and the answer says where', async (json, pointer) => {
    const answer = await gateway.request('POST', '/api/triggers', { json: { workflowId: 'any', name: 'x', ...json } });
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_trigger' } });
    expect(answer.body.problems[0].pointer).toMatch(new RegExp(`^${pointer}`));
  });

  it('need a workflow that is there', async () => {
    const json = { workflowId: unique('nowhere'), name: 'x', type: 'manual' };
    expect((await gateway.request('POST', '/api/triggers', { json })).body.code).toBe('workflow_not_found');
    expect((await trigger('nowhere.x')).status).toBe(404);
  });
});
