import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();

const post = (path: string, json: Json) => gateway.request('POST', path, { json });
const result = async (id: string) => (await gateway.request('GET', `/api/executions/${id}/result?wait=20`)).body;

describe('presets that name no step', () => {
  const refused = {
    status: 422,
    body: {
      code: 'unknown_preset',
      problems: [{ pointer: '/presets/dne', code: 'unknown_step', hint: 'Did you mean "done"?' }],
    },
  };

  it('are refused at every door before anything runs', async () => {
    const slug = unique('presets');
    const definition = echoDefinition(slug);
    const presets = { received: 1, dne: 2 };
    expect(await post('/api/executions', { definition, presets })).toMatchObject(refused);
    expect(await post('/api/executions', { definition, presets, dryRun: true })).toMatchObject(refused);
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: definition });
    expect(await post('/api/triggers/manual/run', { workflowId: slug, presets })).toMatchObject(refused);
    expect((await gateway.request('GET', `/api/executions?workflowId=${slug}`)).body.items).toEqual([]);
  });

  it('would lose members, are refused at every door as well', async () => {
    const slug = unique('presets');
    const definition = echoDefinition(slug);
    const lost = {
      status: 422,
      body: {
        code: 'invalid_preset',
        problems: [
          { pointer: '/presets/received/total', code: 'unknown_member', hint: expect.stringContaining('{data: {data') },
          { pointer: '/presets/received/port', code: 'wrong_type' },
        ],
      },
    };
    const presets = { received: { data: [1], total: 3, port: 7 } };
    expect(await post('/api/executions', { definition, presets })).toMatchObject(lost);
    expect(await post('/api/executions', { definition, presets, dryRun: true })).toMatchObject(lost);
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: definition });
    expect(await post('/api/triggers/manual/run', { workflowId: slug, presets })).toMatchObject(lost);
    // An output as the trace shows it.
    const whole = { received: { type: 'trigger', data: { data: [1], total: 3 }, meta: {}, port: null } };
    expect((await post('/api/executions', { definition, presets: whole })).status).toBe(201);
  });

  it('name steps in bodies and branches as well', async () => {
    const definition = {
      name: 'Each',
      slug: unique('each'),
      steps: {
        each: { stepType: 'forEach', config: { items: [1, 2] }, nextSteps: { item: 'call' } },
        call: { stepType: 'http', config: { url: 'http://127.0.0.1:1/' } },
      },
    };
    const { body } = await post('/api/executions', { definition, presets: { call: 9 } });
    expect(await result(body.executionId)).toMatchObject({ status: 'completed', output: [9, 9] });
  });

  it('fail a run that is started past the gateway, and nothing of it has run', async () => {
    const definition = echoDefinition(unique('by-hand'));
    const { client, config } = gateway.server;
    const workflowId = unique('by-hand');
    const start = (presets: Json, id: string) =>
      client.workflow.start('run', {
        taskQueue: config.taskQueue,
        workflowId: id,
        args: [{ definition, input: {}, presets }],
      });
    await start({ dne: 1 }, workflowId);
    const told = await gateway.until(`/api/executions/${workflowId}`, ({ body }) => body.status === 'failed');
    expect(told.body.error).toMatchObject({
      code: 'unknown_preset',
      message: expect.stringContaining('Did you mean "done"?'),
      details: { problems: [{ pointer: '/presets/dne' }] },
    });
    expect((await gateway.request('GET', `/api/executions/${workflowId}/steps`)).body).toMatchObject({ items: [] });
    await start('no object', `${workflowId}-2`);
    const odd = await gateway.until(`/api/executions/${workflowId}-2`, ({ body }) => body.status === 'failed');
    expect(odd.body.error).toMatchObject({ code: 'unknown_preset' });
  });
});

describe('complete roots', () => {
  it('are what they were, also where the run has continued as new in between', async () => {
    const definition = {
      name: 'Roots',
      slug: unique('roots'),
      steps: {
        one: { stepType: 'set', config: { values: { x: 1 } }, nextSteps: { success: 'kept' } },
        kept: { stepType: 'mapping', config: { output: '{{ variables }}' }, nextSteps: { success: 'self' } },
        self: { stepType: 'set', config: { values: { all: '{{ variables }}' } }, nextSteps: { success: 'ticks' } },
        ticks: { stepType: 'listen', config: { name: 'go', count: 2 }, nextSteps: { received: 'two' } },
        two: { stepType: 'set', config: { values: { x: 2 } }, nextSteps: { success: 'end' } },
        end: {
          stepType: 'finish',
          config: {
            output: { kept: '{{ steps.kept.output.data }}', all: '{{ variables }}', steps: '{{ steps|keys }}' },
          },
        },
      },
    };
    const dry = await post('/api/executions', { definition, dryRun: true, presets: { ticks: [1, 2] } });
    expect(dry).toMatchObject({ status: 200, body: { status: 'completed', output: { kept: { x: 1 } } } });
    const { body } = await post('/api/executions', { definition });
    const id = body.executionId;
    await gateway.until(`/api/executions/${id}`, (answer) => answer.body.waitingFor?.length > 0);
    for (const n of [1, 2]) await post(`/api/executions/${id}/messages/go`, n);
    expect(await result(id)).toEqual({
      status: 'completed',
      output: { kept: { x: 1 }, all: { x: 2, all: { x: 1 } }, steps: ['one', 'kept', 'self', 'ticks', 'two'] },
    });
    const steps = await gateway.request('GET', `/api/executions/${id}/steps`);
    expect(steps.body.items).toMatchObject([
      {},
      { output: { data: { x: 1 } } },
      { output: { data: { all: { x: 1 } } } },
      {},
      {},
      {},
    ]);
  });
});

describe('an input', () => {
  const declared = (slug: string) => echoDefinition(slug, { input: { a: 'number' }, state: { b: { type: 'number' } } });

  it('that is not as declared is pointed at in the request, at every door', async () => {
    const slug = unique('pointers');
    const definition = declared(slug);
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: definition });
    await post('/api/triggers', { workflowId: slug, type: 'manual', name: 'by-hand' });
    const pointers = async (path: string, json: Json) => {
      const { status, body } = await post(path, json);
      return [status, body.problems?.map(({ pointer }: { pointer: string }) => pointer)];
    };
    const bad = { a: 'x' };
    const manual = '/api/triggers/manual/run';
    expect(await pointers(manual, { workflowId: slug, input: bad })).toEqual([422, ['/input/a']]);
    expect(await pointers(manual, { workflowId: slug, variables: bad })).toEqual([422, ['/variables/a']]);
    expect(await pointers(manual, { workflowId: slug, state: { b: 'x' }, input: { a: 1 } })).toEqual([
      422,
      ['/state/b'],
    ]);
    expect(await pointers('/api/executions', { definition, input: bad })).toEqual([422, ['/input/a']]);
    expect(await pointers('/api/executions', { definition, input: bad, dryRun: true })).toEqual([422, ['/input/a']]);
    const runs = `/api/organizations/default/workflows/${slug}/runs/`;
    expect(await pointers(runs, { payload: bad })).toEqual([422, ['/payload/a']]);
    expect(await pointers(runs, { payload: { a: 1 }, state: { b: 'x' } })).toEqual([422, ['/state/b']]);
    // There the body is the payload.
    expect(await pointers(`/api/private/trigger/${slug}`, bad)).toEqual([422, ['/a']]);
    const { body } = await gateway.request('GET', `/api/triggers?workflowId=${slug}`);
    expect(await pointers(`/api/triggers/${body.items[0].id}/run`, { input: bad })).toEqual([422, ['/input/a']]);
  });

  it('of null is null where nothing is declared, and nothing where fields are', async () => {
    const slug = unique('null');
    const definition = echoDefinition(slug);
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: definition });
    const outputOf = async (path: string, json: Json) => {
      const { body } = await post(path, json);
      return (await result(body.executionId ?? body.data.executionId)).output;
    };
    expect(await outputOf('/api/executions', { definition, input: null })).toBe(null);
    expect(await outputOf('/api/executions', { definition })).toEqual({});
    expect(await outputOf('/api/triggers/manual/run', { workflowId: slug, input: null })).toBe(null);
    expect(await outputOf(`/api/organizations/default/workflows/${slug}/runs/`, { payload: null })).toBe(null);
    expect(await outputOf(`/api/private/trigger/${slug}`, null)).toBe(null);
    const dry = await post('/api/executions', { definition, input: null, dryRun: true });
    expect(dry.body.output).toBe(null);
    const filled = echoDefinition(slug, { input: { a: { type: 'number', default: 7 } } });
    expect(await outputOf('/api/executions', { definition: filled, input: null })).toEqual({ a: 7 });
    const object = echoDefinition(slug, { input: { type: 'object', properties: { a: { type: 'number' } } } });
    const refused = await post('/api/executions', { definition: object, input: null });
    expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_input', problems: [{ pointer: '/input' }] } });
    const parent = {
      name: 'Parent',
      slug: unique('null-parent'),
      steps: {
        absent: { stepType: 'run_workflow', config: { workflow: slug }, nextSteps: { success: 'given' } },
        given: { stepType: 'run_workflow', config: { workflow: slug, input: null }, nextSteps: { success: 'end' } },
        end: {
          stepType: 'finish',
          config: { output: ['{{ steps.absent.output.data }}', '{{ steps.given.output.data }}'] },
        },
      },
    };
    expect(await outputOf('/api/executions', { definition: parent })).toEqual([{}, null]);
  });
});
