// Failures of models, agents and tools: usage that was paid counts, and completed calls are not repeated.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOKENS } from '../../activities/model-server.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { type AgentStack, agentStack, call } from './agent-support.ts';

let stack: AgentStack;
let other: HttpServer;
beforeAll(async () => {
  other = await serve((seen, response) => response.end(seen.url));
  stack = await agentStack();
});
afterAll(async () => {
  await stack.close();
  await other.close();
});

const called = (path: string) => other.seen.filter(({ url }) => url === path).length;
const retry = async (id: string) =>
  expect(await stack.gateway.request('POST', `/api/executions/${id}/retry`, { json: {} })).toMatchObject({
    status: 202,
  });
const usage = (calls: number) => ({
  key_type: 'openai-compatible',
  input_tokens: calls * TOKENS.input,
  output_tokens: calls * TOKENS.output,
  cached_input_tokens: calls * TOKENS.cached,
  usd_cost: calls * 0.0003,
});
const sort = (name: string) => ({
  sort: {
    stepType: 'llm',
    retry: { maxAttempts: 1 },
    config: { userPrompt: name, outputSchema: { urgent: 'boolean' } },
  },
});

describe('an answer that does not fit', () => {
  it('costs what it costs, whether it is mended, is not, or the model fails meanwhile', async () => {
    stack.scripts.set('mended', [{ text: 'Sorry.' }, { text: '{"urgent": true}' }]);
    stack.scripts.set('stays wrong', [{ text: 'Sorry.' }, { text: 'Sorry again.' }]);
    stack.scripts.set('left alone', [{ text: 'Sorry.' }, { status: 400 }]);
    const [mended, unmended, alone] = await Promise.all(
      ['mended', 'stays wrong', 'left alone'].map(async (name) => stack.ended(await stack.start(sort(name)))),
    );
    expect(mended).toMatchObject({ status: 'completed', output: { urgent: true }, costs: [usage(2)] });
    expect(unmended).toMatchObject({
      status: 'failed',
      error: { code: 'model_output_invalid', path: 'sort', retryable: false },
      costs: [usage(2)],
    });
    expect(alone).toMatchObject({ status: 'failed', error: { code: 'model_status' }, costs: [usage(1)] });
    stack.scripts.set('left alone', [{ text: '{"urgent": false}' }]);
    await retry(alone.id);
    // What the failed part had cost stays.
    expect(await stack.ended(alone.id)).toMatchObject({ status: 'completed', costs: [usage(2)] });
  });
});

describe('attempts that failed', () => {
  it('cost what they cost, whether one works at last or none does, and are made when the provider says', async () => {
    const failing = (attempts: number) => {
      let n = 0;
      return (turn: number) => {
        if (turn === 0) return { text: 'Sorry.' };
        n++;
        return n <= attempts ? { status: 429, headers: { 'retry-after': '1' } } : { text: '{"urgent": true}' };
      };
    };
    const runs = [2, 3].map(async (attempts) => {
      const name = `fails ${attempts} times`;
      stack.scripts.set(name, failing(attempts));
      const { sort: step } = sort(name);
      return stack.ended(await stack.start({ sort: { ...step, retry: { maxAttempts: 3, initialInterval: '50ms' } } }));
    });
    const [works, fails] = await Promise.all(runs);
    expect(works).toMatchObject({ status: 'completed', costs: [usage(4)] });
    expect(Date.parse(works.completedAt) - Date.parse(works.startedAt)).toBeGreaterThanOrEqual(2_000);
    expect(fails).toMatchObject({ status: 'failed', error: { code: 'model_status', attempts: 3 }, costs: [usage(3)] });
  });
});

describe('an agent that failed', () => {
  const work = (name: string, config: object = {}) => ({
    work: {
      stepType: 'agent',
      retry: { maxAttempts: 1 },
      config: { userPrompt: name, actions: ['http.request'], ...config },
    },
  });
  const asks = (id: string, path: string) => call(id, 'http_request', { url: `${other.url}${path}` });

  it('continues in the turn that failed when its run is retried', async () => {
    const turns = [{ calls: [asks('a', '/one'), asks('b', '/two')] }, { calls: [asks('c', '/three')] }];
    stack.scripts.set('fails in its third turn', [...turns, { status: 400 }]);
    const id = await stack.start(work('fails in its third turn'));
    expect(await stack.ended(id)).toMatchObject({
      status: 'failed',
      error: { code: 'model_status', path: 'work' },
      costs: [usage(2)],
    });
    stack.scripts.set('fails in its third turn', [...turns, { text: 'All three.' }]);
    await retry(id);
    expect(await stack.ended(id)).toMatchObject({ status: 'completed', output: 'All three.', costs: [usage(3)] });
    expect(['/one', '/two', '/three'].map(called)).toEqual([1, 1, 1]);
    expect(await stack.rows(id)).toEqual([
      'work agent failed',
      'work/turn[0]/model llm completed',
      'work/turn[0]/tool[0] action completed',
      'work/turn[0]/tool[1] action completed',
      'work/turn[1]/model llm completed',
      'work/turn[1]/tool[0] action completed',
      'work/turn[2]/model llm failed',
      'work agent completed',
      'work/turn[2]/model llm completed',
    ]);
  });

  it('is forked from as a whole, also by its slug, and none of its calls is', async () => {
    stack.scripts.set('is forked', [{ calls: [asks('a', '/forked')] }, { text: 'There.' }]);
    const id = await stack.start({
      both: { stepType: 'parallel', nextSteps: { only: 'work' } },
      ...work('is forked'),
    });
    await stack.ended(id);
    const fork = (from: string) => stack.gateway.request('POST', `/api/executions/${id}/fork`, { json: { from } });
    expect(await fork('both/only/work/turn[0]/model')).toMatchObject({ status: 404, body: { code: 'no_such_step' } });
    const { status, body } = await fork('work');
    expect(status, JSON.stringify(body)).toBe(201);
    expect(await stack.ended(body.executionId)).toMatchObject({ status: 'completed', output: { only: 'There.' } });
    expect(called('/forked')).toBe(2);
  });

  it('gets as many turns again where it had none left', async () => {
    stack.scripts.set('has one turn', [{ calls: [asks('a', '/last')] }, { text: 'There.' }]);
    const id = await stack.start(work('has one turn', { maxSteps: 1 }));
    expect(await stack.ended(id)).toMatchObject({ status: 'failed', error: { code: 'agent_max_steps' } });
    await retry(id);
    expect(await stack.ended(id)).toMatchObject({ status: 'completed', output: 'There.' });
    expect(called('/last')).toBe(1);
  });
});

describe("a tool's transformCode", () => {
  const sum = (transformCode: string) => ({
    sum: {
      stepType: 'tool',
      config: {
        server: 'everything',
        toolName: 'get-structured-content',
        input: { location: 'Chicago' },
        headers: { 'x-step': '{{ secrets["models/key"] }}' },
        transformCode,
      },
      outputVariable: 'sum',
    },
  });

  it('makes the data of the result, in the sandbox of run_code', async () => {
    const code = `interface Weather { temperature: number }
      export default async function (result: Weather) {
        console.log('warm');
        return { warm: result.temperature > -100, sees: [typeof process, typeof require, typeof fetch] };
      }`;
    const { id, ...run } = await stack.ended(await stack.start(sum(code)));
    expect(run).toMatchObject({
      status: 'completed',
      output: { warm: true, sees: ['undefined', 'undefined', 'undefined'] },
    });
    const { body } = await stack.gateway.request('GET', `/api/executions/${id}/steps`);
    expect(body.items).toMatchObject([
      { path: 'sum', output: { meta: { server: 'everything', transform: { console: [{ text: 'warm' }] } } } },
    ]);
  });

  it('fails typed, with where it failed, and the call is not made again', async () => {
    const code = 'export default (result) => {\n  return result.none.temperature;\n}';
    const run = await stack.ended(await stack.start(sum(code)));
    expect(run).toMatchObject({ status: 'failed', error: { path: 'sum', stepSlug: 'sum', retryable: false } });
    expect(run.error.code).toMatch(/^script_/);
  });
});
