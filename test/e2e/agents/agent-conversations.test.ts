// Agents that are spoken to, employees, and MCP servers that are programs, on the real server.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { EVERYTHING } from '../../activities/mcp-server.ts';
import type { Asked } from '../../activities/model-server.ts';
import { unique } from '../gateway/gateway-support.ts';
import { type AgentStack, agentStack, call } from './agent-support.ts';

let stack: AgentStack;
beforeAll(async () => {
  stack = await agentStack({ SIGNALBOX_MCP_STDIO: '1' });
});
afterAll(() => stack.close());

const busy = (id: string) => ({ calls: [call(id, 'trigger-long-running-operation', { duration: 20, steps: 1 })] });
const agent = (userPrompt: string) => ({ stepType: 'agent', config: { userPrompt, mcpServerIds: ['everything'] } });
const asked = (name: string): Asked[] =>
  stack.model.asked().filter(({ messages }) => JSON.stringify(messages).includes(name));

/** The agent's call of a tool is under way. */
const working = (id: string, path: string) =>
  stack.gateway.until(`/api/executions/${id}/steps`, ({ body }) =>
    body.items?.some((row: { path: string }) => row.path.endsWith(path)),
  );

describe('an agent that is spoken to', () => {
  it('answers a run that it has started', async () => {
    stack.scripts.set('a parent', [busy('a'), { text: 'Take the red one.' }]);
    const slug = unique('child');
    await stack.put(`/api/workflows/${slug}`, {
      name: 'Child',
      slug,
      steps: {
        ask: {
          stepType: 'agent_message',
          config: { to: 'parent', goal: 'Which?', interrupt: true, await_response: true, await_timeout_ms: 20_000 },
          nextSteps: { success: 'end' },
        },
        end: { stepType: 'finish', config: { output: '{{ steps.ask.output.data }}' } },
      },
    });
    const id = await stack.start({
      both: { stepType: 'parallel', nextSteps: { left: 'work', right: 'rest', done: 'end' } },
      work: agent('a parent'),
      rest: { stepType: 'listen', config: { name: 'go' }, nextSteps: { received: 'child' } },
      child: { stepType: 'run_workflow', config: { workflow: slug } },
      end: { stepType: 'finish', config: { output: '{{ steps.both.output.data }}' } },
    });
    await working(id, 'work/turn[0]/tool[0]');
    await stack.gateway.request('POST', `/api/executions/${id}/messages/go`, { json: {} });
    expect(await stack.ended(id)).toMatchObject({
      status: 'completed',
      output: { left: 'Take the red one.', right: 'Take the red one.' },
    });
    expect(asked('a parent').at(-1).messages.slice(-2)).toMatchObject([
      { role: 'tool', content: expect.stringContaining('This call was left') },
      { role: 'user', content: 'Which?' },
    ]);
  });

  it('receives messages of callers of the API, immediately or before its next turn', async () => {
    stack.scripts.set('a listener', [
      busy('a'),
      { calls: [call('b', 'get-sum', { a: 1, b: 2 })] },
      { text: 'Good-bye.' },
    ]);
    const id = await stack.start({ work: agent('a listener') });
    await working(id, 'work/turn[0]/tool[0]');
    const say = (payload: Json) =>
      stack.gateway.request('POST', `/api/executions/${id}/messages/agent_message`, { json: payload });
    expect((await say({ content: 'By the way.' })).status).toBeLessThan(300);
    expect((await say({ content: 'Stop.', interrupt: true, to: 'work' })).status).toBeLessThan(300);
    expect(await stack.ended(id)).toMatchObject({ status: 'completed', output: 'Good-bye.' });
    const { messages } = asked('a listener')[1];
    expect(messages.slice(-2)).toEqual([
      { role: 'user', content: 'By the way.' },
      { role: 'user', content: 'Stop.' },
    ]);
    expect(await say({ content: 'Too late.' })).toMatchObject({ status: 409 });
  });

  it('gets no message when it has ended, does not exist, or answers too late', async () => {
    const said = await stack.start({ end: { stepType: 'finish', config: { output: 1 } } });
    await stack.ended(said);
    const tell = (to: string, more: { [member: string]: Json } = {}) => ({
      tell: { stepType: 'agent_message', config: { to, content: 'Hello?', ...more } },
    });
    const late = { await_response: true, await_timeout_ms: 1_000 };
    const rest = { stepType: 'sleep', config: { duration: 60_000 } };
    const nobody = await stack.start({ rest });
    const errors = await Promise.all(
      [tell(said), tell('run.default.nobody.1'), tell(nobody, late)].map(
        async (steps) => (await stack.ended(await stack.start(steps))).error,
      ),
    );
    expect(errors.map(({ code }) => code)).toEqual(['closed', 'recipient_not_found', 'agent_message_timeout']);
    await stack.gateway.request('POST', `/api/executions/${nobody}/cancel`, { json: {} });
  });
});

describe('an employee that is an agent', () => {
  it('gets its assignment with attachments, and answers as it was asked to', async () => {
    const slug = unique('clerk');
    stack.scripts.set('Sort the letter', [
      { calls: [call('a', 'get-sum', { a: 1, b: 2 })] },
      { text: 'I think: ```json\n{"category": "billing", "sum": 3}\n```' },
    ]);
    await stack.put(`/api/workflows/${slug}`, {
      name: 'Clerk',
      slug,
      type: 'employee',
      steps: {
        work: {
          ...agent('{{ input.assignment }}. Attached: {{ input.attachments[0].url }}'),
          nextSteps: { success: 'end' },
        },
        end: { stepType: 'finish', config: { output: '{{ steps.work.output.data }}' } },
      },
    });
    const id = await stack.start({
      ask: {
        stepType: 'run_employee',
        config: {
          employee: slug,
          assignment: 'Sort the letter',
          attachments_json: '[{"name": "letter", "url": "https://example.org/letter"}]',
          responseSchema: { category: 'string', sum: 'number' },
        },
        nextSteps: { success: 'end' },
      },
      end: { stepType: 'finish', config: { output: '{{ steps.ask.output.data }}' } },
    });
    expect(await stack.ended(id)).toMatchObject({ status: 'completed', output: { category: 'billing', sum: 3 } });
    expect(asked('Sort the letter')[0].messages).toEqual([
      { role: 'user', content: 'Sort the letter. Attached: https://example.org/letter' },
    ]);
  });
});

describe('an MCP server that is a program', () => {
  it('is stored, lists its tools and is called, where the host allows it', async () => {
    const { command, args } = EVERYTHING;
    await stack.put('/api/mcp-servers/local', { command, args: [...args] });
    const { body } = await stack.gateway.request('GET', '/api/mcp-servers/local/tools');
    expect(body.items.map(({ name }: { name: string }) => name)).toContain('get-sum');
    const config = { server: 'local', toolName: 'get-sum', input: { a: 40, b: 2 } };
    const id = await stack.start({ sum: { stepType: 'tool', config } });
    expect(await stack.ended(id)).toMatchObject({ status: 'completed', output: expect.stringContaining('42') });
  });
});
