import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import { compiledRoot } from '../../../src/cli/start/project-root.ts';
import { readTrace } from '../../../src/client/runs/trace.ts';
import type { Json } from '../../../src/json/json.ts';
import { sharedGateway, unique } from '../gateway/gateway-support.ts';
import { until } from './run-support.ts';

const LIMIT = 20;
const CHECK_MS = 400;

const gateway = sharedGateway({ SIGNALBOX_HISTORY_LIMIT: String(LIMIT) });

const step = (stepType: string, config: Json, nextSteps: { [port: string]: string } = {}) => ({
  stepType,
  config,
  nextSteps,
});

async function store(name: string, steps: Json, more: { [member: string]: Json } = {}): Promise<string> {
  const slug = unique(name);
  await gateway.store({ name, slug, steps, ...more });
  return slug;
}

const start = (workflowId: string, input: Json = {}): Promise<string> => gateway.start(workflowId, input);

async function resultOf(id: string): Promise<{ status: string; output?: Json; error?: { [member: string]: Json } }> {
  const { body } = await gateway.until(`/api/executions/${id}/result?wait=30`, ({ status }) => status === 200, 90);
  return body;
}

/** The child that the run waits for at that path, once it waits too. */
async function childAt(id: string, path: string): Promise<string> {
  const { body } = await gateway.until(`/api/executions/${id}`, (answer) => childIn(answer.body, path) !== undefined);
  const child = childIn(body, path)!;
  await gateway.until(`/api/executions/${child}`, ({ status, body }) => status === 200 && body.waitingFor.length > 0);
  return child;
}

type Waiting = { waitingFor?: { path: string; executionId?: string }[] };
const childIn = (body: Waiting, path: string): string | undefined =>
  body.waitingFor?.find((wait) => wait.path === path)?.executionId;

const ASKING = { ask: step('approval', { message: 'Well?' }) };
const parentOf = (child: string) => ({
  call: step('run_workflow', { workflow: child, input: { n: 1 } }, { success: 'end' }),
  end: step('finish', { output: '{{ steps.call.output.data.decision }}' }),
});

/** Past its history limit, and so in its next execution: a signal that nobody listens to is history all the same. */
async function continued(id: string): Promise<void> {
  const handle = gateway.server.client.workflow.getHandle(id);
  const runId = async (): Promise<string> => (await handle.describe()).runId;
  const first = await runId();
  for (let i = 0; i < 2 * LIMIT; i++) {
    const isTaken = await handle.signal('message', { name: 'noise', payload: i }).then(
      () => true,
      () => false,
    );
    // It is just closing.
    if (!isTaken) break;
  }
  await until(runId, (now) => now !== first);
}

/** Folding the history needs no guess, and equals the carried state at each continue-as-new (E6). */
async function expectSure(id: string): Promise<void> {
  expect((await readTrace(gateway.server, id)).guesses).toEqual([]);
}

describe('a run that starts another', () => {
  it('ends with its output, and its trace names it', async () => {
    const child = await store('double', { end: step('finish', { output: '{{ input.n * 2 }}' }) });
    const parent = await store('calls', {
      call: step('run_workflow', { workflow: child, input: { n: 21 } }, { success: 'end' }),
      end: step('finish', { output: { twice: '{{ lastOutput.data }}' } }),
    });
    const id = await start(parent);
    expect(await resultOf(id)).toMatchObject({ status: 'completed', output: { twice: 42 } });
    const { body } = await gateway.request('GET', `/api/executions/${id}/steps`);
    const { executionId } = body.items[0].output.meta;
    expect(executionId).toMatch(new RegExp(`^run\\.default\\.${child}\\.child-[0-9a-f]{32}$`));
    const { body: run } = await gateway.request('GET', `/api/executions/${executionId}`);
    expect(run).toMatchObject({ parentId: id, workflowId: child, trigger: { type: 'subworkflow', id } });
  });

  it('continues without waiting where its config says so', async () => {
    const child = await store('asks', ASKING);
    const parent = await store('sends-off', { call: step('subworkflow', { workflow: child, wait: false }) });
    const id = await start(parent);
    const { output } = await resultOf(id);
    await expectSure(id);
    const { executionId } = output as { executionId: string };
    const { body } = await gateway.until(
      `/api/executions/${executionId}`,
      (answer) => answer.body.status === 'waiting',
    );
    expect(body.waitingFor[0].path).toBe('ask');
    await gateway.request('POST', `/api/executions/${executionId}/approve`, { json: { approve: true } });
    expect(await resultOf(executionId)).toMatchObject({ status: 'completed' });
  });

  it('fails as the run failed that it waited for', async () => {
    const child = await store('fails', { end: step('fail', { code: 'no_stock', message: 'Nothing left.' }) });
    const id = await start(await store('caller', parentOf(child)));
    const { error } = await resultOf(id);
    expect(error).toMatchObject({ code: 'no_stock', message: 'Nothing left.', path: 'call', stepSlug: 'call' });
    expect(error?.['details']).toMatchObject({ executionId: expect.stringContaining(child) });
  });

  it('is refused at depth 20, whoever calls whom', async () => {
    const slug = unique('endless');
    await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: { name: 'endless', slug, steps: { again: step('run_workflow', { workflow: slug }) } },
    });
    const { status, error } = await resultOf(await start(slug));
    expect({ status, code: error?.['code'] }).toEqual({ status: 'failed', code: 'depth_exceeded' });
    let depth = 0;
    for (let at: Json = error?.['details'] ?? null; at !== null; depth++) at = (at as { cause?: Json }).cause ?? null;
    // One for each child that failed, and the step's own at the bottom.
    expect(depth).toBe(21);
  });

  it('takes the version that it names, by number or by hash', async () => {
    const slug = await store('changing', { end: step('finish', { output: 'old' }) }, { version: '1.0.0' });
    const { body: first } = await gateway.request('GET', `/api/workflows/${slug}`);
    await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: { name: 'changing', slug, version: '2.0.0', steps: { end: step('finish', { output: 'new' }) } },
    });
    const outputs: Json[] = [];
    for (const version of ['1.0.0', first.hash, '2.0.0']) {
      const call = step('run_workflow', { workflow: slug, version });
      outputs.push((await resultOf(await start(await store('picks', { call })))).output ?? null);
    }
    expect(outputs).toEqual(['old', 'old', 'new']);
  });

  it('gives it only an input that its workflow declares, with the defaults', async () => {
    const format = { n: 'number', by: { type: 'number', default: 2 } };
    const end = { end: step('finish', { output: '{{ input.n * input.by }}' }) };
    const child = await store('declares', end, { input: format });
    const employee = await store('clerk', ASKING, { input: { assignment: 'boolean' }, type: 'employee' });
    const calling = async (stepType: string, config: Json) =>
      resultOf(await start(await store('gives', { call: step(stepType, config) })));
    const good = await calling('run_workflow', { workflow: child, input: { n: 21 } });
    expect(good).toMatchObject({ status: 'completed', output: 42 });
    const refused = [
      await calling('run_workflow', { workflow: child, input: { n: 'str' } }),
      await calling('run_workflow', { workflow: child, input: {}, wait: false }),
      await calling('run_workflow', { workflow: child, input: 'n' }),
      await calling('run_employee', { employee, assignment: 'Sort it' }),
    ];
    const problemAt = (pointer: string) => ({
      status: 'failed',
      error: { code: 'invalid_input', path: 'call', retryable: false, details: { problems: [{ pointer }] } },
    });
    expect(refused).toMatchObject(['/n', '/n', '', '/assignment'].map(problemAt));
    const { body } = await gateway.request('GET', `/api/executions?workflowId=${employee}`);
    expect(body.items).toEqual([]);
  });

  it.each([
    ['that does not exist', 'workflow_not_found', {}, {}],
    ['in a version that does not exist', 'version_not_found', {}, { version: '9.9.9' }],
    ['that is disabled', 'workflow_disabled', { enabled: false }, {}],
  ])('fails for a workflow %s', async (_what, code, more, config) => {
    const exists = code !== 'workflow_not_found';
    const workflow = exists ? await store('target', ASKING, more) : unique('nobody');
    const { error } = await resultOf(
      await start(await store('asker', { call: step('run_workflow', { workflow, ...config }) })),
    );
    expect(error).toMatchObject({ code, stepSlug: 'call' });
  });
});

describe('a run that waits for another', () => {
  it('gets its end after continuing as new', async () => {
    const id = await start(await store('patient', parentOf(await store('asks', ASKING))));
    const child = await childAt(id, 'call');
    await continued(id);
    await gateway.request('POST', `/api/executions/${child}/approve`, { json: { approve: true } });
    expect(await resultOf(id)).toMatchObject({ status: 'completed', output: 'approved' });
  });

  it('cancels it when it is cancelled', async () => {
    const id = await start(await store('caller', parentOf(await store('asks', ASKING))));
    const child = await childAt(id, 'call');
    await gateway.request('POST', `/api/executions/${id}/cancel`, { json: {} });
    expect(await resultOf(id)).toMatchObject({ status: 'cancelled' });
    expect(await resultOf(child)).toMatchObject({ status: 'cancelled' });
  });

  it('cancels it when another branch has won', async () => {
    const child = await store('asks', ASKING);
    const parent = await store('racer', {
      both: step('race', {}, { call: 'call', other: 'listen', done: 'end' }),
      call: step('run_workflow', { workflow: child }),
      listen: step('listen', { name: 'go' }),
      end: step('finish', { output: '{{ lastOutput.data.winner }}' }),
    });
    const id = await start(parent);
    const childId = await childAt(id, 'both/call/call');
    await gateway.request('POST', `/api/executions/${id}/messages/go`, { json: {} });
    expect(await resultOf(id)).toMatchObject({ output: 'other' });
    expect(await resultOf(childId)).toMatchObject({ status: 'cancelled' });
  });

  it('fails when the other is cancelled by somebody else', async () => {
    const id = await start(await store('caller', parentOf(await store('asks', ASKING))));
    await gateway.request('POST', `/api/executions/${await childAt(id, 'call')}/cancel`, { json: {} });
    expect((await resultOf(id)).error).toMatchObject({ code: 'child_cancelled' });
  });

  it('notices immediately that the other was terminated', async () => {
    const id = await start(await store('caller', parentOf(await store('asks', ASKING))));
    await gateway.request('POST', `/api/executions/${await childAt(id, 'call')}/terminate`, { json: {} });
    expect((await resultOf(id)).error).toMatchObject({ code: 'child_terminated' });
  });

  it('notices it also in a later execution, by asking now and then', async () => {
    const child = await store('asks', ASKING);
    const definition = { name: 'later', slug: unique('later'), steps: parentOf(child) };
    const { client, taskQueue } = gateway.server;
    const { workflowId: id } = await client.workflow.start('run', {
      taskQueue,
      workflowId: `run.default.${definition.slug}.1`,
      args: [{ definition }],
      memo: { childCheckMs: CHECK_MS },
    });
    const childId = await childAt(id, 'call');
    await continued(id);
    await gateway.request('POST', `/api/executions/${childId}/terminate`, { json: {} });
    expect((await resultOf(id)).error).toMatchObject({ code: 'child_terminated' });
    await expectSure(id);
  });

  it('gives up at its timeout, and takes the other along', async () => {
    const child = await store('asks', ASKING);
    const call = { ...step('run_workflow', { workflow: child }), timeout: '2s' };
    const id = await start(await store('hasty', { call }));
    const childId = await childAt(id, 'call');
    expect((await resultOf(id)).error).toMatchObject({ code: 'timeout', path: 'call' });
    expect(await resultOf(childId)).toMatchObject({ status: 'cancelled' });
  });
});

describe('run_employee', () => {
  it('shapes what the employee says', async () => {
    const said = '```json\n{"category": "billing", "about": "{{ input.assignment }}"}\n```';
    const employee = await store('clerk', { say: step('finish', { output: said }) }, { type: 'employee' });
    const ask = (responseSchema: Json) =>
      step('run_employee', { employee, assignment: 'Sort it', responseSchema }, { success: 'end' });
    const end = step('finish', { output: '{{ steps.ask.output.data }}' });
    const good = await start(await store('boss', { ask: ask({ category: 'string' }), end }));
    expect((await resultOf(good)).output).toEqual({ category: 'billing', about: 'Sort it' });
    const bad = await start(await store('boss', { ask: ask({ urgent: 'boolean' }), end }));
    expect((await resultOf(bad)).error).toMatchObject({ code: 'invalid_response', stepSlug: 'ask' });
  });

  it('is refused for a workflow that is no employee', async () => {
    const employee = await store('plain', ASKING);
    const ask = step('run_employee', { employee, assignment: 'Sort it' });
    expect((await resultOf(await start(await store('boss', { ask })))).error).toMatchObject({
      code: 'not_an_employee',
    });
  });
});

describe('many children', () => {
  it('run beside each other, over continue-as-new, and every history replays', async () => {
    const child = await store('asks', ASKING);
    const ids = Array.from({ length: 12 }, (_, n) => n);
    const parent = await store('crowd', {
      each: step('forEach', { items: ids, concurrency: 12 }, { item: 'call', done: 'end' }),
      call: step('run_workflow', { workflow: child }),
      end: step('finish', { output: '{{ steps.each.output.data.length }}' }),
    });
    const id = await start(parent);
    const { body } = await gateway.until(
      `/api/executions/${id}`,
      (answer) => answer.body.waitingFor?.length === 12,
      30,
    );
    for (const { executionId } of body.waitingFor) {
      await gateway.until(`/api/executions/${executionId}`, (answer) => answer.body.waitingFor?.length === 1, 30);
      await gateway.request('POST', `/api/executions/${executionId}/approve`, { json: { approve: true } });
    }
    expect(await resultOf(id)).toMatchObject({ status: 'completed', output: 12 });
    await expectSure(id);
    const { client } = gateway.server;
    const histories = [];
    for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${id}'` }))
      histories.push({ workflowId: id, history: await client.workflow.getHandle(id, runId).fetchHistory() });
    for (const { executionId: workflowId } of body.waitingFor)
      histories.push({ workflowId, history: await client.workflow.getHandle(workflowId).fetchHistory() });
    expect(histories.length).toBeGreaterThan(13);
    const workflowBundle = { codePath: join(compiledRoot(), 'workflow-bundle.js') };
    for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories))
      expect(error, workflowId).toBeUndefined();
  });
});

describe('a workflow of mesh that begins itself anew', () => {
  it('is a chain of runs, each with its parent, and ends at the depth limit at the latest', async () => {
    const slug = unique('recursive-001');
    await gateway.store({
      id: 'wf-1',
      slug,
      steps: [
        {
          name: 'work',
          action: { code: 'export default (input) => ({ n: input.n + 1, more: input.n + 1 < input.until })' },
          input: { n: '@input.n', until: '@input.until' },
        },
        {
          name: 'again',
          when: { ref: '@work.more' },
          action: { toolName: 'COLLECTION_WORKFLOW_EXECUTION_CREATE' },
          input: { workflow_collection_id: 'wf-1', input: { n: '@work.n', until: '@input.until' } },
        },
      ],
    });
    const chain = async (input: Json): Promise<string[]> => {
      const statuses: string[] = [];
      for (let id: string | undefined = await start(slug, input); id !== undefined; ) {
        const { status, output, error } = await resultOf(id);
        statuses.push(error === undefined ? status : `${status} ${String(error['code'])}`);
        id = ((output ?? {}) as { executionId?: string }).executionId;
      }
      return statuses;
    };
    // The output of a run is that of its last step, which names the run that it started.
    expect(await chain({ n: 0, until: 3 })).toEqual(['completed', 'completed', 'completed']);
    const endless = await chain({ n: 0, until: 1000 });
    expect(endless).toHaveLength(21);
    expect(endless.at(-1)).toBe('failed depth_exceeded');
  });
});
