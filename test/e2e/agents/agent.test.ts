// Models, agents and tools over the API: a model server with OpenAI's protocol, MCP's reference server, and runs.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type Asked, type ModelServer, TOKENS } from '../../activities/model-server.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { forkWorker } from '../../support/temporal.ts';
import { echoDefinition, type TestGateway, unique } from '../gateway/gateway-support.ts';
import { until } from '../runs/run-support.ts';
import { type AgentStack, agentStack, call, KEY } from './agent-support.ts';

let stack: AgentStack;
let gateway: TestGateway;
let model: ModelServer;
let other: HttpServer;
const slow: (() => void)[] = [];

beforeAll(async () => {
  other = await serve((seen, response) => {
    if (seen.url.startsWith('/slow') && slow.length === 0) slow.push(() => response.end('slow'));
    else response.end(seen.url);
  });
  stack = await agentStack();
  gateway = stack.gateway;
  model = stack.model;
});
afterAll(async () => {
  await stack.close();
  await other.close();
});

describe('models and servers over the API', () => {
  it('lists models, and the default among them', async () => {
    const { body } = await gateway.request('GET', '/api/models');
    expect(body.items).toEqual([
      expect.objectContaining({
        name: 'house',
        provider: 'openai-compatible',
        default: true,
        prices: { input: 1, output: 10 },
      }),
    ]);
    expect(JSON.stringify(body)).not.toContain(KEY);
    expect((await gateway.request('GET', '/api/models/none')).status).toBe(404);
    const wrong = await gateway.request('PUT', '/api/models/x', {
      json: { provider: 'openai-compatible', model: 'm' },
    });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('asks the model that was made the default last', async () => {
    const defaults = async () =>
      (await gateway.request('GET', '/api/models?limit=2')).body.items.flatMap(
        (item: { name: string; default: boolean }) => (item.default ? [item.name] : []),
      );
    await stack.put('/api/models/other', { provider: 'anthropic', model: 'm-2', default: true });
    expect(await defaults()).toEqual(['other']);
    const json = { provider: 'anthropic', model: 'm-2', default: false };
    expect((await gateway.request('PUT', '/api/models/other', { json })).status).toBe(200);
    expect(await defaults()).toEqual([]);
    const { body: page } = await gateway.request('GET', '/api/models?limit=1');
    expect(page.items.map(({ name }: { name: string }) => name)).toEqual(['house']);
    const next = await gateway.request('GET', `/api/models?limit=1&cursor=${page.nextCursor}`);
    expect(next.body).toMatchObject({ items: [{ name: 'other' }] });
    expect((await gateway.request('DELETE', '/api/models/other')).status).toBe(204);
    expect((await gateway.request('DELETE', '/api/models/other')).status).toBe(404);
    expect(await defaults()).toEqual(['house']);
  });

  it('lists the tools of a server, which a worker asks, and keeps them', async () => {
    const { status, body } = await gateway.request('GET', '/api/mcp-servers/everything/tools');
    expect(status).toBe(200);
    expect(body.items.map(({ name }: { name: string }) => name)).toContain('get-sum');
    const again = await gateway.request('GET', '/api/mcp-servers/everything/tools');
    expect(again.body.listedAt).toBe(body.listedAt);
    const named: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const path = `/api/mcp-servers/everything/tools?limit=4${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const { body: page } = await gateway.request('GET', path);
      expect(page.items.length).toBeLessThanOrEqual(4);
      named.push(...page.items.map(({ name }: { name: string }) => name));
      cursor = page.nextCursor;
    }
    expect(named).toEqual(body.items.map(({ name }: { name: string }) => name));
    expect(await gateway.request('GET', '/api/mcp-servers/everything/tools?cursor=x')).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
    expect((await gateway.request('GET', '/api/mcp-servers/none/tools')).status).toBe(404);
    await stack.put('/api/mcp-servers/gone', { url: 'http://127.0.0.1:9/mcp' });
    expect(await gateway.request('GET', '/api/mcp-servers/gone/tools')).toMatchObject({
      status: 424,
      body: { code: 'mcp_server_failed' },
    });
    expect((await gateway.request('DELETE', '/api/mcp-servers/gone')).status).toBe(204);
    const program = await gateway.request('PUT', '/api/mcp-servers/x', { json: { command: 'node' } });
    expect(program).toMatchObject({ status: 422, body: { code: 'mcp_stdio_disabled' } });
    const header = await gateway.request('PUT', '/api/mcp-servers/x', {
      json: { url: stack.everything, headers: { a: '{{ input.x }}' } },
    });
    expect(header).toMatchObject({ status: 400 });
  });

  it("checks a tool step's input against what is known of the tool", async () => {
    await gateway.request('GET', '/api/mcp-servers/everything/tools');
    const validated = async (config: Json) => {
      const json = { name: 'T', slug: 't', steps: { sum: { stepType: 'tool', config } } };
      return (await gateway.request('POST', '/api/workflows/validate', { json })).body;
    };
    const tool = (input: Json, toolName = 'get-sum', server = 'everything') => ({ server, toolName, input });
    expect(await validated(tool({ a: 1, b: '{{ input.b }}' }))).toMatchObject({ valid: true });
    expect((await validated(tool({ a: 'one', b: '{{ input.b }}' }))).problems).toMatchObject([
      { pointer: '/steps/sum/config/input/a', code: 'invalid_config' },
    ]);
    expect((await validated(tool({ a: 1 }))).problems).toMatchObject([{ pointer: '/steps/sum/config/input/b' }]);
    expect((await validated(tool({}, 'get-sun'))).problems).toMatchObject([
      { pointer: '/steps/sum/config/toolName', code: 'unknown_tool', hint: expect.stringContaining('get-sum') },
    ]);
    // What validate finds, sync refuses to store.
    const workflow = { name: 'T', slug: 't', steps: { sum: { stepType: 'tool', config: tool({}, 'get-sun') } } };
    const syncs: [path: string, json: Json, pointer: string][] = [
      ['sync', { workflow }, '/workflow'],
      ['sync-all', { workflows: [workflow], source: 'tools', dryRun: true }, '/workflows/0'],
    ];
    for (const [path, json, pointer] of syncs) {
      const synced = await gateway.request('POST', `/api/workflows/${path}`, { json });
      expect(synced).toMatchObject({ status: 422, body: { code: 'invalid_definition' } });
      expect(synced.body.problems).toMatchObject([
        { pointer: `${pointer}/steps/sum/config/toolName`, code: 'unknown_tool' },
      ]);
    }
    expect((await validated(tool({}, 'get-sum', 'everythin'))).warnings).toMatchObject([
      { pointer: '/steps/sum/config/server', code: 'unknown_server', hint: expect.stringContaining('everything') },
    ]);
  });
});

describe('an agent', () => {
  it('works with tools of a server, workflows and people, and reports what it cost', async () => {
    const slug = unique('echo');
    await stack.put(`/api/workflows/${slug}`, echoDefinition(slug, { input: { word: 'string' } }));
    stack.scripts.set('first-agent', [
      {
        text: 'Let me see.',
        calls: [
          call('a', 'get-sum', { a: 2, b: 40 }),
          call('b', slug, { word: '{{ secrets.X }}' }),
          call('c', 'echo', { message: 'hello' }),
        ],
      },
      { text: 'It is 42.' },
    ]);
    const id = await stack.start({
      work: {
        stepType: 'agent',
        config: {
          userPrompt: 'first-agent',
          mcpServerIds: ['everything'],
          tools: ['get-sum', 'echo'],
          workflows: [slug],
          approval: { tools: ['echo'], message: 'May it?' },
        },
      },
    });
    const path = 'work/turn[0]/tool[2]';
    const { body: waiting } = await gateway.until(
      `/api/executions/${id}`,
      ({ body: now }) => now.status === 'waiting' && now.waitingFor[0]?.path === path,
      20,
    );
    expect(waiting.waitingFor).toMatchObject([
      { path, stepSlug: 'work', kind: 'approval', message: 'May it? echo {"message":"hello"}' },
    ]);
    const approve = { approve: true, resumeToken: waiting.waitingFor[0].resumeToken };
    expect((await gateway.request('POST', `/api/executions/${id}/approve`, { json: approve })).status).toBe(200);
    const again = await gateway.request('POST', `/api/executions/${id}/approve`, {
      json: { approve: false, step: path },
    });
    expect(again.status).toBe(409);

    const run = await stack.ended(id);
    expect(run).toMatchObject({ status: 'completed', output: 'It is 42.' });
    expect(run.costs).toEqual([
      {
        key_type: 'openai-compatible',
        input_tokens: 2 * TOKENS.input,
        output_tokens: 2 * TOKENS.output,
        cached_input_tokens: 2 * TOKENS.cached,
        usd_cost: 0.0006,
      },
    ]);
    const decided = `/api/approvals?decided=approved&executionId=${id}`;
    const { body: list } = await gateway.until(decided, ({ body: now }) => now.items?.length === 1);
    expect(list.items).toMatchObject([{ path, stepSlug: 'work', message: 'May it?', answer: { via: 'api' } }]);
    const { body: one } = await gateway.request('GET', `/api/approvals/${id}/${encodeURIComponent(path)}`);
    expect(one).toMatchObject({ status: 'approved', mayAnswer: false, answer: { status: 'approved' } });

    const { body: steps } = await gateway.request('GET', `/api/executions/${id}/steps`);
    expect(
      steps.items.map((step: { path: string; stepType: string; status: string }) => [
        step.path,
        step.stepType,
        step.status,
      ]),
    ).toEqual([
      ['work', 'agent', 'completed'],
      ['work/turn[0]/model', 'llm', 'completed'],
      [path, 'tool', 'completed'],
      ['work/turn[0]/tool[0]', 'tool', 'completed'],
      ['work/turn[0]/tool[1]', 'run_workflow', 'completed'],
      ['work/turn[1]/model', 'llm', 'completed'],
    ]);
    const told = model.asked().at(-1).messages;
    expect(told.slice(-3).map(({ content }: Asked) => content)).toEqual([
      expect.stringContaining('42'),
      JSON.stringify({ word: '{{ secrets.X }}' }),
      'Echo: hello',
    ]);
    await gateway.until(`/api/executions?model=house&tokens[gte]=${2 * TOKENS.input}`, ({ body }) =>
      body.items.some((item: { id: string }) => item.id === id),
    );
    const { client } = gateway.server;
    const history = JSON.stringify((await client.workflow.getHandle(id).fetchHistory()).events);
    const payloads = [...history.matchAll(/"data":"([^"]+)"/g)].map(([, data]) => Buffer.from(data!, 'base64'));
    expect(payloads.join(' ')).toContain('first-agent');
    expect(`${payloads.join(' ')} ${history} ${JSON.stringify([run, steps])}`).not.toContain(KEY);
  });

  it('receives messages, and answers the callers that wait for it', async () => {
    stack.scripts.set('second-agent', [
      { calls: [call('a', 'trigger-long-running-operation', { duration: 20, steps: 1 })] },
      { text: 'Hello Ann.' },
    ]);
    const agent = { stepType: 'agent', config: { userPrompt: 'second-agent', mcpServerIds: ['everything'] } };
    const id = await stack.start({
      both: { stepType: 'parallel', nextSteps: { left: 'work', right: 'rest', done: 'end' } },
      work: agent,
      rest: { stepType: 'listen', config: { name: 'go' }, nextSteps: { received: 'tell' } },
      tell: {
        stepType: 'agent_message',
        config: { to: 'work', content: 'I am Ann.', interrupt: true, await_response: true, await_timeout_ms: 20_000 },
      },
      end: { stepType: 'finish', config: { output: '{{ steps.both.output.data }}' } },
    });
    await gateway.until(`/api/executions/${id}/steps`, ({ body }) =>
      body.items?.some(({ path }: { path: string }) => path.endsWith('work/turn[0]/tool[0]')),
    );
    await gateway.request('POST', `/api/executions/${id}/messages/go`, { json: {} });
    expect(await stack.ended(id)).toMatchObject({
      status: 'completed',
      output: { left: 'Hello Ann.', right: 'Hello Ann.' },
    });
    const { body: steps } = await gateway.request('GET', `/api/executions/${id}/steps`);
    expect(steps.items.find(({ path }: { path: string }) => path.endsWith('tool[0]'))).toMatchObject({
      status: 'cancelled',
    });
  });

  it('repeats no call that has ended when its worker is killed', async () => {
    stack.scripts.set('third-agent', [
      {
        calls: [
          call('a', 'http_request', { url: `${other.url}/fast` }),
          call('b', 'http_request', { url: `${other.url}/slow` }),
        ],
      },
      { text: 'Both are there.' },
    ]);
    await gateway.stopWorker();
    const first = await forkWorker(gateway.server);
    const id = await stack.start({
      work: { stepType: 'agent', config: { userPrompt: 'third-agent', actions: ['http.request'] } },
    });
    await until(
      async () => (await gateway.request('GET', `/api/executions/${id}/steps`)).body.items ?? [],
      (items: { path: string; status: string }[]) =>
        slow.length > 0 && items.some((row) => row.path.endsWith('tool[0]') && row.status === 'completed'),
      20_000,
    );
    const gone = new Promise((resolve) => first.child.once('exit', resolve));
    first.child.kill('SIGKILL');
    await gone;
    const second = await forkWorker(gateway.server);
    expect(await stack.ended(id)).toMatchObject({ status: 'completed', output: 'Both are there.' });
    const seen = other.seen.map(({ url }) => url);
    expect(seen.filter((url) => url === '/fast')).toHaveLength(1);
    expect(seen.filter((url) => url === '/slow')).toHaveLength(2);
    expect(model.asked().filter((asked) => JSON.stringify(asked.messages).includes('third-agent'))).toHaveLength(2);
    await second.end();
  });
});
