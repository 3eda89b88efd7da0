// A run after an agent that asked for two calls in the same turn: it is retried and forked like any other.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { type AgentStack, agentStack, call } from './agent-support.ts';

let stack: AgentStack;
let other: HttpServer;
let isBroken = true;

beforeAll(async () => {
  other = await serve((_seen, response) => {
    response.writeHead(isBroken ? 400 : 200, { 'content-type': 'application/json' });
    response.end('{"done": true}');
  });
  stack = await agentStack();
});
afterAll(async () => {
  await stack.close();
  await other.close();
});

it('is retried, and forked at the step after the agent, with both decisions kept', async () => {
  const { gateway, scripts } = stack;
  scripts.set('two-asks', [
    { calls: [call('a', 'echo', { message: 'one' }), call('b', 'echo', { message: 'two' })] },
    { text: 'Done.' },
  ]);
  const id = await stack.start({
    work: {
      stepType: 'agent',
      config: {
        userPrompt: 'two-asks',
        mcpServerIds: ['everything'],
        tools: ['echo'],
        approval: { tools: ['echo'], message: 'May it?' },
      },
      nextSteps: { success: 'end' },
    },
    end: { stepType: 'http', retry: { maxAttempts: 1 }, config: { url: other.url, method: 'POST' } },
  });
  await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.length === 2, 30);
  for (const step of ['work/turn[0]/tool[1]', 'work/turn[0]/tool[0]']) {
    const json = { approve: true, step };
    expect((await gateway.request('POST', `/api/executions/${id}/approve`, { json })).status).toBe(200);
  }
  expect(await stack.ended(id)).toMatchObject({ status: 'failed', error: { path: 'end' } });
  const asked = stack.model.asked().length;

  isBroken = false;
  const fork = await gateway.request('POST', `/api/executions/${id}/fork`, { json: { from: 'end' } });
  expect(fork.status, JSON.stringify(fork.body)).toBe(201);
  expect(await stack.ended(fork.body.executionId)).toMatchObject({ status: 'completed' });

  const retry = await gateway.request('POST', `/api/executions/${id}/retry`, { json: {} });
  expect(retry.status, JSON.stringify(retry.body)).toBeLessThan(300);
  await gateway.until(`/api/executions/${id}`, ({ body }) => body.status === 'completed', 30);
  // No turn of the model was repeated.
  expect(stack.model.asked().length).toBe(asked);
  expect(await stack.rows(id)).toContain('end http completed');
});
