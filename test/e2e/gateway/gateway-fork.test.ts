import { describe, expect, it } from 'vitest';
import { definitionHash } from '../../../src/definition/document/canonical.ts';
import type { Json } from '../../../src/json/json.ts';
import { echoDefinition, sharedGateway, unique } from './gateway-support.ts';

const gateway = sharedGateway();

type Steps = { [slug: string]: Json };
const set = (name: string, value: Json, next?: string): Json => ({
  stepType: 'set',
  config: { values: { [name]: value } },
  ...(next === undefined ? {} : { nextSteps: { success: next } }),
});
const ask = (ports: { [port: string]: string } = {}): Json => ({
  stepType: 'approval',
  config: { message: 'Go on?' },
  nextSteps: ports,
});

async function stored(steps: Steps, more: { [key: string]: Json } = {}): Promise<string> {
  const slug = unique('fork');
  await gateway.store({ ...echoDefinition(slug), steps, ...more });
  return slug;
}
const start = (workflowId: string, input: Json = { n: 1 }): Promise<string> => gateway.start(workflowId, input);
const result = async (id: string) => (await gateway.request('GET', `/api/executions/${id}/result?wait=20`)).body;
const fork = (id: string, json: { [key: string]: Json }, headers = {}) =>
  gateway.request('POST', `/api/executions/${id}/fork`, { json, headers });
async function forked(id: string, json: { [key: string]: Json }): Promise<string> {
  const answer = await fork(id, json);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return String(answer.body.executionId);
}
const paths = async (id: string) =>
  ((await gateway.request('GET', `/api/executions/${id}/steps`)).body.items as { path: string; status: string }[]).map(
    ({ path, status }) => `${path} ${status}`,
  );

const line: Steps = {
  start: { stepType: 'trigger', nextSteps: { success: 'first' } },
  first: set('a', '{{ input.n }}', 'second'),
  second: set('b', '{{ variables.a + 10 }}', 'end'),
  end: {
    stepType: 'finish',
    config: {
      output: { a: '{{ variables.a }}', b: '{{ variables.b }}', n: '{{ input.n }}', id: '{{ execution.id }}' },
    },
  },
};

describe('a fork', () => {
  it('has the definition of its hash, as the run has, and the state that was given at the start', async () => {
    const end = { stepType: 'finish', config: { output: '{{ state.urgency }}' } };
    const slug = await stored({ end }, { state: { urgency: { type: 'string', default: 'low' } } });
    const { body } = await gateway.request('POST', '/api/triggers/manual/run', {
      json: { workflowId: slug, state: { urgency: 'high' } },
    });
    for (const id of [body.executionId, await result(body.executionId).then(() => forked(body.executionId, {}))]) {
      expect(await result(id)).toMatchObject({ status: 'completed', output: 'high' });
      const { body: snapshot } = await gateway.request('GET', `/api/executions/${id}/definition`);
      expect(snapshot.definition.state).toEqual({ urgency: { type: 'string', default: 'low' } });
      expect(definitionHash(snapshot.definition)).toBe(snapshot.workflowHash);
    }
  });

  it('begins at a visit of its choice, with what is edited, and is a run of its own', async () => {
    const slug = await stored(line);
    const id = await start(slug);
    expect(await result(id)).toMatchObject({ output: { a: 1, b: 11 } });
    const plain = await forked(id, { from: 'second' });
    expect(plain).not.toBe(id);
    expect(await result(plain)).toMatchObject({ status: 'completed', output: { a: 1, b: 11, n: 1, id: plain } });
    expect(await paths(plain)).toEqual(['second completed', 'end completed']);
    const edited = await forked(id, { from: 'second', edits: { variables: { a: 5 }, input: { n: 3 } } });
    expect(await result(edited)).toMatchObject({ output: { a: 5, b: 15, n: 3 } });
    const read = await gateway.request('GET', `/api/executions/${edited}`);
    expect(read.body).toMatchObject({ workflowId: slug, input: { n: 3 }, forkOf: { executionId: id, path: 'second' } });
    const again = await forked(edited, { from: 'end' });
    expect(await result(again)).toMatchObject({ output: { a: 5, b: 15, n: 3 } });
  });

  it('reads the edited outputs of steps before it', async () => {
    const slug = await stored({
      ask: ask({ approved: 'end' }),
      end: { stepType: 'finish', config: { output: ['{{ steps.ask.output.data }}', '{{ lastOutput.data }}'] } },
    });
    const id = await start(slug);
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.length > 0);
    expect(await fork(id, { from: 'ask' })).toMatchObject({ status: 409, body: { code: 'still_open' } });
    await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } });
    await result(id);
    const edited = await forked(id, { from: 'end', edits: { steps: { ask: 'yes' } } });
    expect(await result(edited)).toMatchObject({ output: ['yes', 'yes'] });
    const anew = await forked(id, { from: 'ask' });
    await gateway.until(`/api/executions/${anew}`, ({ body }) => body.waitingFor?.length > 0);
  });

  it('within a branch keeps the branches that had finished, and asks anew what was open', async () => {
    const slug = await stored({
      all: { stepType: 'parallel', nextSteps: { a: 'one', b: 'two', c: 'three', done: 'end' } },
      one: set('one', 'kept'),
      two: set('two', 1, 'more'),
      more: { stepType: 'fail', config: { code: 'no', message: 'No.' } },
      three: ask(),
      end: { stepType: 'finish', config: { output: '{{ variables.one }} {{ variables.two }}' } },
    });
    const id = await start(slug);
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.length > 0);
    await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } });
    expect(await result(id)).toMatchObject({ status: 'failed', error: { code: 'join_failed' } });
    const mended = {
      all: { stepType: 'parallel', nextSteps: { a: 'one', b: 'two', c: 'three', done: 'end' } },
      one: set('one', 'run again'),
      two: set('two', 2, 'more'),
      more: set('more', 1),
      three: ask(),
      end: { stepType: 'finish', config: { output: '{{ variables.one }} {{ variables.two }}' } },
    };
    const put = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: { ...echoDefinition(slug), steps: mended },
    });
    expect(put.status).toBe(200);
    const fixed = await forked(id, { from: 'all/b/more', version: put.body.hash });
    expect(await result(fixed)).toMatchObject({ status: 'completed', output: 'kept 1' });
    expect(await paths(fixed)).toEqual(['all completed', 'all/b/more completed', 'end completed']);
    const whole = await forked(id, { from: 'two', version: put.body.version });
    expect(await result(whole)).toMatchObject({ output: 'kept 2' });
  });

  it('says what it cannot begin at', async () => {
    const slug = await stored({
      each: { stepType: 'loop', config: { items: [1, 2] }, nextSteps: { loop: 'body' } },
      body: set('a', 1),
    });
    const id = await start(slug);
    await result(id);
    expect(await fork(id, { from: 'nowhere' })).toMatchObject({ status: 404, body: { code: 'no_such_step' } });
    expect(await fork(id, { from: 'body' })).toMatchObject({
      status: 409,
      body: { code: 'ambiguous_step', paths: ['each~0/body', 'each~1/body'] },
    });
    expect(await result(await forked(id, { from: 'each~1/body' }))).toMatchObject({ status: 'completed' });
    const gone = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: { ...echoDefinition(slug), steps: { body: set('a', 2) } },
    });
    const answer = await fork(id, { from: 'each~1/body', version: gone.body.hash });
    expect(answer).toMatchObject({ status: 422, body: { code: 'place_gone' } });
    expect(await fork(id, { from: 'each', version: '9.9.9' })).toMatchObject({ status: 404 });
    expect(await fork(id, { from: 'each', edits: { steps: { nowhere: 1 } } })).toMatchObject({ status: 422 });
    expect((await fork('run.other.x.1', { from: 'each' })).status).toBe(404);
  });

  it('is one for a key, however often it is asked for', async () => {
    const id = await start(await stored(line));
    await result(id);
    const key = { 'idempotency-key': unique('key') };
    const answers = [await fork(id, { from: 'second' }, key), await fork(id, { from: 'second' }, key)];
    expect(answers.map(({ status }) => status)).toEqual([201, 200]);
    expect(answers[0]?.body.executionId).toBe(answers[1]?.body.executionId);
    expect((await fork(id, { from: 'end' }, key)).status).toBe(422);
  });

  it('is answered the same with its key while the original continues', async () => {
    const id = await start(await stored({ ask: ask(), end: { stepType: 'finish' } }));
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.length > 0);
    await gateway.request('POST', `/api/executions/${id}/terminate`);
    const key = { 'idempotency-key': unique('key') };
    const first = await fork(id, { from: 'ask' }, key);
    expect(first.status).toBe(201);
    expect((await gateway.request('POST', `/api/executions/${id}/retry`)).status).toBe(202);
    expect(await fork(id, { from: 'ask' })).toMatchObject({ status: 409, body: { code: 'still_open' } });
    const again = await fork(id, { from: 'ask' }, key);
    expect(again).toMatchObject({ status: 200, body: { executionId: first.body.executionId } });
  });
});

describe('a fork that says little', () => {
  it('begins at the first visit, with the whole run before it', async () => {
    const id = await start(await stored(line));
    await result(id);
    const copy = await forked(id, { edits: { input: { n: 5 } } });
    expect((await result(copy)).output).toMatchObject({ a: 5, b: 15, n: 5 });
    expect(await paths(copy)).toEqual(['start completed', 'first completed', 'second completed', 'end completed']);
    const dag = await stored({ a: { stepType: 'mapping', config: { output: 1 } } }, { flow: 'dag' });
    const graph = await start(dag);
    await result(graph);
    expect(await fork(graph, {})).toMatchObject({ status: 422, body: { code: 'invalid_input' } });
  });

  it('tells which steps are of another kind in the version that it continues with', async () => {
    const slug = await stored(line);
    const id = await start(slug);
    await result(id);
    const second = { stepType: 'mapping', config: { output: 7 }, nextSteps: { success: 'end' } };
    const changed = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: {
        ...echoDefinition(slug),
        steps: { ...line, second, end: { stepType: 'finish', config: { output: '{{ lastOutput.data }}' } } },
      },
    });
    expect(changed.status).toBe(200);
    const same = await fork(id, { from: 'second' });
    expect(same.body).not.toHaveProperty('warnings');
    const answer = await fork(id, { from: 'second', version: changed.body.hash });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        warnings: [
          { pointer: '/steps/second/stepType', code: 'kind_changed', message: expect.stringContaining("'set'") },
        ],
      },
    });
    expect((await result(answer.body.executionId)).output).toBe(7);
  });
});
