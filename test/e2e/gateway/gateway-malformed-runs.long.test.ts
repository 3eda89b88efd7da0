import { defaultPayloadConverter } from '@temporalio/common';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { approvalDefinition, echoDefinition, sharedGateway, unique } from './gateway-support.ts';

// Whoever can reach Temporal can start anything as a run. None of it keeps the others from being listed and read.

const gateway = sharedGateway();
let good: string;
beforeAll(async () => {
  const { body } = await gateway.request('POST', '/api/executions', {
    json: { definition: echoDefinition(unique('good')), input: { a: 1 } },
  });
  good = body.executionId;
  await gateway.request('GET', `/api/executions/${good}/result?wait=20`);
});

const LISTS = [
  '/api/executions',
  '/api/organizations/default/workflows/runs/',
  '/api/organizations/default/workflows/runs/?exclude=flow',
  '/api/approvals?all=true',
];
const READS = ['', '/steps', '/result', '/state', '/events'];

const payload = (value: unknown) => defaultPayloadConverter.toPayload(value as never);

const keyword = (value: string) => ({
  metadata: { encoding: Buffer.from('json/plain'), type: Buffer.from('Keyword') },
  data: Buffer.from(JSON.stringify(value)),
});

/** Starts a run past the gateway, with payloads as they are given. */
async function start(id: string, more: object): Promise<void> {
  const { client, config } = gateway.server;
  await client.workflowService.startWorkflowExecution({
    namespace: client.options.namespace,
    workflowId: id,
    workflowType: { name: 'run' },
    taskQueue: { name: config.taskQueue },
    requestId: id,
    // So that lists have it, whatever becomes of it.
    searchAttributes: { indexedFields: { SignalboxOrg: keyword('default') } },
    ...more,
  });
}

async function demandNoFault(id: string): Promise<{ [path: string]: { status: number; body: Json } }> {
  const answers: { [path: string]: { status: number; body: Json } } = {};
  for (const path of LISTS) {
    const answer = await gateway.until(
      path,
      ({ body }) => path.includes('approvals') || JSON.stringify(body).includes(id),
    );
    expect([path, answer.status, JSON.stringify(answer.body).slice(0, 300)]).toEqual([path, 200, expect.any(String)]);
    if (!path.includes('approvals')) expect(JSON.stringify(answer.body)).toContain(good);
    answers[path] = answer;
  }
  for (const path of READS) {
    const gone = new AbortController();
    const response = await fetch(`${gateway.url}/api/executions/${id}${path}`, { signal: gone.signal });
    expect([path, response.status]).toEqual([path, expect.toSatisfy((status: number) => status < 300)]);
    if (path !== '/events') answers[path] = { status: response.status, body: (await response.json()) as Json };
    gone.abort();
  }
  return answers;
}

/** As JSON.stringify would write it, if it could. */
const nestedText = (depth: number): string => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
const jsonPayload = (text: string) => ({
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(text),
});

describe('runs that nobody can read as a whole', () => {
  it('with a memo of another shape', async () => {
    const id = unique('odd-memo');
    const odd = {
      waitingFor: 'somebody',
      trigger: null,
      costs: 'none',
      origin: 7,
      startedAt: 'yesterday',
      status: 'odd',
    };
    const fields = Object.fromEntries(Object.entries(odd).map(([name, value]) => [name, payload(value)]));
    await start(id, {
      input: { payloads: [payload({ definition: approvalDefinition(id), trigger: null })] },
      memo: { fields },
    });
    await demandNoFault(id);
  });

  it('with a memo that is not in a known form', async () => {
    const id = unique('odd-form');
    const raw = { metadata: { encoding: Buffer.from('of/another/kind') }, data: Buffer.from('x') };
    await start(id, {
      input: { payloads: [payload({ definition: echoDefinition(id) })] },
      memo: { fields: { workflow: raw } },
    });
    const answers = await demandNoFault(id);
    expect(answers['']).toMatchObject({ body: { unreadable: { code: 'payload_unreadable' } } });
    await gateway.request('POST', `/api/executions/${id}/terminate`, { json: {} });
    await demandNoFault(id);
  });

  it('with an argument that is not in a known form', async () => {
    const id = unique('odd-argument');
    const raw = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"definition": secret-word') };
    await start(id, { input: { payloads: [raw] } });
    const answers = await demandNoFault(id);
    expect(answers['']).toMatchObject({ body: { unreadable: { code: 'payload_unreadable' } } });
    expect(answers['/steps']).toMatchObject({ body: { items: [], unreadable: { code: 'payload_unreadable' } } });
    expect(JSON.stringify(answers)).not.toContain('secret-word');
    await gateway.request('POST', `/api/executions/${id}/terminate`, { json: {} });
    const ended = await demandNoFault(id);
    expect(ended['/result']).toMatchObject({ body: { status: 'aborted' } });
  });

  it.each([
    ['no steps to speak of', { definition: { name: 'x', slug: 'x', steps: [null, 7] } }],
    [
      'a trigger of no kind',
      { definition: { steps: { a: { stepType: 'set', config: null } } }, trigger: 'odd', input: 0 },
    ],
    [
      'a state of no kind',
      { definition: { steps: { a: { stepType: 'set' } } }, carried: { version: 1, state: {}, shared: [] } },
    ],
    ['no definition', 'nothing'],
  ])('with %s', async (_, argument) => {
    const id = unique('odd-input');
    await start(id, { input: { payloads: [payload(argument)] } });
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.status === 'failed');
    await demandNoFault(id);
  });

  it('with values that are nested too deeply', async () => {
    const id = unique('odd-depth');
    const definition = JSON.stringify(echoDefinition(id));
    await start(id, {
      input: { payloads: [jsonPayload(`{"definition": ${definition}, "input": ${nestedText(20_000)}}`)] },
    });
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.status === 'failed');
    const answers = await demandNoFault(id);
    expect(answers['']).toMatchObject({
      body: { error: { code: 'value_too_deep' }, unreadable: { code: 'value_too_deep' } },
    });
  });

  it('with a message that cannot be read: what came before it is reported', async () => {
    const definition = {
      name: 'Odd signal',
      slug: unique('odd-signal'),
      steps: {
        first: { stepType: 'set', config: { values: { x: 1 } }, nextSteps: { success: 'wait' } },
        wait: { stepType: 'listen', config: { name: 'go' }, nextSteps: { received: 'done' } },
        done: { stepType: 'finish', config: { output: 1 } },
      },
    };
    const { body } = await gateway.request('POST', '/api/executions', { json: { definition } });
    const id: string = body.executionId;
    await gateway.until(`/api/executions/${id}`, (answer) => answer.body.waitingFor?.length > 0);
    await gateway.server.client.workflowService.signalWorkflowExecution({
      namespace: gateway.server.client.options.namespace,
      workflowExecution: { workflowId: id },
      signalName: 'message',
      input: { payloads: [{ metadata: { encoding: Buffer.from('odd') }, data: Buffer.from('x') }] },
    });
    const answers = await demandNoFault(id);
    expect(answers['/steps']).toMatchObject({
      body: { items: [{ path: 'first', status: 'completed' }, { path: 'wait' }] },
    });
    await gateway.request('POST', `/api/executions/${id}/terminate`, { json: {} });
    const ended = await demandNoFault(id);
    expect(ended['/steps']).toMatchObject({
      body: { items: [{ path: 'first' }, { path: 'wait', status: 'cancelled' }] },
    });
  });
});

describe('what a run holds and walks', () => {
  it('is readable while it is open, after it has ended, and when its workflow is gone', async () => {
    const slug = unique('held');
    const definition = {
      name: 'Held',
      slug,
      state: { seen: 'number' },
      config: { variables: { limit: 3 }, secrets: { KEY: 'held/key' } },
      steps: {
        first: {
          stepType: 'set',
          config: { values: { x: 1 } },
          saveToState: { seen: '7' },
          outputVariable: 'one',
          nextSteps: { success: 'both' },
        },
        both: { stepType: 'parallel', nextSteps: { a: 'ask', b: 'rest', done: 'last' } },
        ask: { stepType: 'approval', config: { message: 'Well?' } },
        rest: { stepType: 'listen', config: { name: 'go' } },
        last: { stepType: 'set', config: { values: { x: 2 } } },
      },
    };
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: definition });
    const executionId = await gateway.start(slug);
    const id: string = executionId;
    await gateway.until(`/api/executions/${id}`, (answer) => answer.body.waitingFor?.length === 2);
    const open = await gateway.request('GET', `/api/executions/${id}/state`);
    expect(open).toMatchObject({
      status: 200,
      body: {
        status: 'waiting',
        variables: { limit: 3, x: 1 },
        state: { seen: 7 },
        outputs: { one: { x: 1 } },
        currentSteps: [
          { path: 'both/a/ask', stepSlug: 'ask', stepType: 'approval', status: 'waiting' },
          { path: 'both/b/rest', stepSlug: 'rest', stepType: 'listen', status: 'waiting' },
        ],
        uncertain: false,
      },
    });
    await gateway.request('DELETE', `/api/workflows/${slug}`);
    const snapshot = await gateway.request('GET', `/api/executions/${id}/definition`);
    expect(snapshot).toMatchObject({
      status: 200,
      body: {
        workflowId: slug,
        workflowVersion: '1.0.0',
        definition: { slug, steps: { ask: { stepType: 'approval' } } },
      },
    });
    expect(snapshot.body.workflowHash).toMatch(/^sha256:/);
    await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } });
    await gateway.request('POST', `/api/executions/${id}/messages/go`, { json: 1 });
    await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
    const ended = await gateway.request('GET', `/api/executions/${id}/state`);
    expect(ended.body).toMatchObject({ status: 'completed', variables: { limit: 3, x: 2 }, currentSteps: [] });
    expect((await gateway.request('GET', `/api/executions/nobody/state`)).status).toBe(404);
    expect((await gateway.request('GET', `/api/executions/nobody/definition`)).status).toBe(404);
    expect((await gateway.request('GET', `/api/executions/${id}/state?x=1`)).status).toBe(400);
  });

  it('shows no clear secret of a definition that was started past the gateway', async () => {
    const id = unique('clear');
    const triggers = [
      { name: 'h', type: 'webhook', config: { path: 'x', scheme: 'hmac', secret: 'clear-secret-word' } },
    ];
    await start(id, { input: { payloads: [payload({ definition: { ...echoDefinition(id), triggers } })] } });
    const { body } = await gateway.until(`/api/executions/${id}/definition`, ({ status }) => status === 200);
    expect(body.definition.steps).toHaveProperty('done');
    expect(JSON.stringify(body)).not.toContain('clear-secret-word');
  });
});
