// What the record of a run says of where it came from, and lists by the state and the models of runs.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type AgentStack, agentStack } from '../agents/agent-support.ts';
import { echoDefinition, unique } from '../gateway/gateway-support.ts';

let stack: AgentStack;
const ask = (method: string, path: string, json?: Json) =>
  stack.gateway.request(method, path, json === undefined ? {} : { json });
beforeAll(async () => {
  stack = await agentStack();
}, 60_000);
afterAll(() => stack.close());

it('a run tells the names of its workflow and its trigger, and how that fired', async () => {
  const [slug, path] = [unique('named'), unique('path')];
  const triggers = [{ name: 'orders in', type: 'webhook', config: { path, scheme: 'none' } }];
  const definition = echoDefinition(slug, { name: 'Orders of the shop', triggers });
  expect((await ask('PUT', `/api/workflows/${slug}`, definition)).status).toBe(201);
  const delivered = await stack.gateway.request('POST', `/webhooks/${path}`, {
    json: { a: 1 },
    headers: { 'idempotency-key': 'd-1' },
  });
  const { body } = await ask('GET', `/api/executions/${delivered.body.executionId}`);
  expect(body).toMatchObject({
    workflowId: slug,
    workflowName: 'Orders of the shop',
    trigger: {
      type: 'webhook',
      id: `${slug}.orders in`,
      name: 'orders in',
      metadata: { path, deliveryId: 'd-1' },
    },
  });
  const inline = await ask('POST', '/api/executions', { definition: echoDefinition(unique('inline')), input: {} });
  const shown = await ask('GET', `/api/executions/${inline.body.executionId}`);
  expect(shown.body).toMatchObject({ workflowName: 'Echo', trigger: { type: 'inline' } });
  expect(shown.body.trigger).not.toHaveProperty('name');
});

it('a run is found by any model that it asked, and by no other', async () => {
  // Other files have runs too.
  const [one, two] = [unique('one'), unique('two')];
  for (const name of [one, two])
    await stack.put(`/api/models/${name}`, {
      provider: 'openai-compatible',
      model: 'm-2',
      baseUrl: `${stack.model.url}/v1`,
      apiKeySecret: 'models/key',
    });
  stack.scripts.set('two-models', () => ({ text: 'Said.' }));
  const step = (model: string, next?: string) => ({
    stepType: 'llm',
    config: { model, userPrompt: 'two-models' },
    ...(next === undefined ? {} : { nextSteps: { success: next } }),
  });
  const several = await stack.start({
    first: step(one, 'second'),
    second: step(two, 'third'),
    third: step(one),
  });
  const single = await stack.start({ first: step(one) });
  expect((await stack.ended(several)).status).toBe('completed');
  expect((await stack.ended(single)).status).toBe('completed');
  const found = async (query: string): Promise<string[]> =>
    (await ask('GET', `/api/executions?${query}`)).body.items.map(({ id }: { id: string }) => id).sort();
  const eventually = (query: string, ids: string[]) =>
    expect.poll(() => found(query), { interval: 200 }).toEqual(ids.sort());
  await eventually(`model=${one}`, [several, single]);
  await eventually(`model=${two}`, [several]);
  expect(await found(`model=${two.toUpperCase()}`)).toEqual([]);
  expect(await found('model=m-2')).toEqual([]);
  expect(await found(`state[model]=${two}`)).toEqual([]);
  expect((await ask('GET', `/api/executions/${several}`)).body.model).toBe(one);
});

it('runs of alloy are found by each field of their state', async () => {
  const slug = unique('al');
  const document = {
    slug,
    name: 'Written as in alloy',
    starting_step_id: 'start',
    flow: { start: { type: 'starting_step', next_step_id: 'f' }, f: { type: 'finish', config: { output: 1 } } },
    state_definition: {
      customerId: { type: 'string', description: 'Whose.' },
      n: 'number',
      hidden: { type: 'string', searchable: false },
    },
  };
  expect((await ask('PUT', `/api/workflows/${slug}`, document)).status).toBe(201);
  const runs = `/api/organizations/default/workflows/${slug}/runs/`;
  const started = await ask('POST', runs, { payload: {}, state: { customerId: 'ü 123', n: 7, hidden: 'h' } });
  const id = started.body.data.run_id;
  const found = async (query: string): Promise<string[]> =>
    (await ask('GET', `${runs}?${query}`)).body.items.map((run: { id: string }) => run.id);
  await expect.poll(() => found(`state[customerId]=${encodeURIComponent('ü 123')}`)).toEqual([id]);
  expect(await found('state[n]=7')).toEqual([id]);
  expect(await found('state[n]=7&state[customerId]=other')).toEqual([]);
  expect(await found('state[hidden]=h')).toEqual([]);
});

it('a definition with more searchable fields than lists hold says so', async () => {
  const state = Object.fromEntries(
    Array.from({ length: 51 }, (_, n) => [`f${n}`, { type: 'string', searchable: true }]),
  );
  const document = echoDefinition(unique('many'), { state });
  const { body } = await ask('POST', '/api/workflows/validate', document);
  expect(body).toMatchObject({ valid: true, warnings: [{ pointer: '/state', code: 'too_many_searchable' }] });
  const { f0: _first, ...fewer } = state;
  expect((await ask('POST', '/api/workflows/validate', { ...document, state: fewer })).body.warnings).toEqual([]);
});

it('a run that was put off has the key of what has held it', async () => {
  const slug = unique('composite');
  const path = unique('path');
  const definition = echoDefinition(slug, {
    config: { debounce: { key: 'id', seconds: 1 } },
    triggers: [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }],
  });
  expect((await ask('PUT', `/api/workflows/${slug}`, definition)).status).toBe(201);
  expect((await ask('POST', `/webhooks/${path}`, { id: 'kk' })).status).toBe(202);
  const runs = `/api/organizations/default/workflows/${slug}/runs/`;
  const { body } = await stack.gateway.until(runs, (answer) => answer.body.items.length === 1);
  expect(body.items[0].debounce_key).toBe(`${slug}.in:kk`);
});
