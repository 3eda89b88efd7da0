import type { ApplicationFailure } from '@temporalio/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { McpServerStore } from '../../../activities/mcp/servers.ts';
import { createActivities } from '../../../activities/registry.ts';
import { defineAction } from '../../../src/actions/define.ts';
import type { McpToolList } from '../../../src/contract/organization/mcp.ts';
import type { ActivityOutput } from '../../../src/contract/run/activity.ts';
import type { AgentTurn, OfferedTools } from '../../../src/contract/run/agent.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { builtInActionTools } from '../../../workers/run-access.ts';
import { everythingServer, type ReferenceServer } from '../mcp-server.ts';
import { type ModelServer, modelServer, type Said } from '../model-server.ts';
import { environment, inputOf, LOOPBACK } from '../server.ts';

let everything: ReferenceServer;
let model: ModelServer;
let said: Said;
beforeAll(async () => {
  everything = await everythingServer();
});
afterAll(() => everything.close());
beforeEach(async () => {
  model = await modelServer(() => said);
});
afterEach(() => model.close());

const refund: Definition = {
  name: 'Refund',
  slug: 'refund',
  description: 'Gives money back.',
  input: { cents: 'number' },
  steps: {},
};
const findCustomer = defineAction({
  type: 'crm.find',
  summary: 'Finds a customer.',
  input: z.object({ name: z.string() }),
  output: z.unknown(),
  run: () => null,
});

function stores(): McpServerStore {
  const tools = Array.from({ length: 129 }, (_none, i) => ({ name: `tool-${i}`, inputSchema: { type: 'object' } }));
  const lists = new Map<string, McpToolList>([['many', { tools, listedAt: new Date().toISOString(), of: '' }]]);
  const read = (name: string) => ({ name, url: everything.url, updatedAt: '' });
  return {
    read: async (_org, name) => read(name),
    list: async () => [read('one'), read('two')],
    cachedTools: async (_org, { name }) => lists.get(name),
    cacheTools: async (_org, name, list) => void lists.set(name, list),
  };
}

function turn(tools: Partial<OfferedTools>, config: JsonObject = {}): Promise<ActivityOutput> {
  const activities = createActivities(LOOPBACK, {
    models: {
      resolve: async () => ({
        name: 'house',
        provider: 'openai-compatible',
        model: 'm',
        baseUrl: `${model.url}/v1`,
        updatedAt: '',
      }),
    },
    runs: {
      resolve: async () => ({ definition: refund, hash: 'sha256:1' }),
      accept: (_definition, input) => input,
      describeChildren: async () => ({ ended: [], gone: [] }) as never,
    },
    mcpServers: stores(),
    actions: new Map([[findCustomer.type, findCustomer]]),
    actionTools: builtInActionTools(),
  });
  const offered = { servers: [], actions: [], workflows: [], ...tools } as unknown as JsonObject;
  const value = { messages: [{ role: 'user', content: 'Go' }], tools: offered, ...config };
  return environment().run(activities['agentTurn']!, inputOf(value));
}

const offeredNames = (n = 0) =>
  (model.asked()[n]?.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name);

describe('the activity agentTurn', () => {
  it('offers tools of servers, workflows and actions with their schemas', async () => {
    said = { text: 'Nothing to do.' };
    const { data, meta } = await turn({
      servers: ['one'],
      only: ['get-sum'],
      actions: ['http.request', 'crm.find'],
      workflows: [{ workflow: 'refund' }],
    });
    expect(data).toMatchObject({ answer: 'Nothing to do.', calls: [] });
    expect(meta).toMatchObject({ usage: { model: 'house' } });
    expect(offeredNames()).toEqual(['http_request', 'crm_find', 'refund', 'get-sum']);
    const [, find, workflow, sum] = model.asked()[0].tools;
    expect(find.function).toMatchObject({
      description: 'Finds a customer.',
      parameters: { properties: { name: { type: 'string' } } },
    });
    expect(workflow.function).toMatchObject({
      description: 'Gives money back.',
      parameters: { properties: { cents: { type: 'number' } }, required: ['cents'] },
    });
    expect(sum.function.parameters).toMatchObject({ required: ['a', 'b'] });
  });

  it('offers an action of the host that is named among the tools, and asks no server for it', async () => {
    said = { text: 'Nothing to do.' };
    await turn({ servers: undefined, only: ['crm.find'] } as unknown as Partial<OfferedTools>);
    expect(offeredNames()).toEqual(['crm_find']);
    await turn({ servers: ['one'], only: ['crm.find', 'echo'], actions: ['crm.find'] });
    expect(offeredNames(1)).toEqual(['crm_find', 'echo']);
  });

  it('says what each call means, and which cannot be made', async () => {
    said = {
      calls: [
        { id: 'a', name: 'get-sum', input: { a: 1, b: 2 } },
        { id: 'b', name: 'get-sum', input: { a: 'one' } },
        { id: 'c', name: 'nothing', input: {} },
        { id: 'd', name: 'refund', input: { cents: 5 } },
      ],
    };
    const { data } = await turn({ servers: ['one'], workflows: [{ workflow: 'refund', version: '1.0.0' }] });
    const { calls, messages } = data as unknown as AgentTurn;
    expect(calls).toMatchObject([
      { id: 'a', input: { a: 1, b: 2 }, target: { kind: 'tool', server: 'one', tool: 'get-sum' } },
      { id: 'b', invalid: expect.stringContaining('/b: "b" is missing') },
      { id: 'c', invalid: expect.stringContaining('nothing') },
      { id: 'd', target: { kind: 'workflow', workflow: 'refund', version: '1.0.0' } },
    ]);
    expect(calls[1]).not.toHaveProperty('target');
    expect(messages.map(({ role }) => role)).toEqual(['assistant']);
  });

  it('distinguishes tools of one name on two servers', async () => {
    said = { calls: [{ id: 'a', name: 'two_echo', input: { message: 'x' } }] };
    const { data } = await turn({ servers: ['one', 'two'], only: ['echo'] });
    expect(offeredNames()).toEqual(['echo', 'two_echo']);
    expect((data as unknown as AgentTurn).calls[0]?.target).toEqual({ kind: 'tool', server: 'two', tool: 'echo' });
  });

  it('continues the conversation, and sends an invalid answer back', async () => {
    said = { text: '{"ok": 1}' };
    const history = [
      { role: 'user', content: 'Go' },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'get-sum', input: { a: 1, b: 2 } }],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'a', toolName: 'get-sum', output: { type: 'error-text', value: 'no' } },
        ],
      },
    ];
    const failed: ApplicationFailure = await turn(
      { servers: ['one'] },
      { messages: history, outputFormat: 'json', outputSchema: { ok: 'boolean' } },
    ).catch((error) => error);
    expect(failed).toMatchObject({ type: 'model_output_invalid', nonRetryable: true });
    expect(model.asked()[0].messages.slice(-1)).toEqual([{ role: 'tool', tool_call_id: 'a', content: 'no' }]);
    expect(model.asked()).toHaveLength(2);
  });

  it('fails typed where a tool or action is not there, or too many are', async () => {
    said = { text: '' };
    const failing = (tools: Partial<OfferedTools>) => turn(tools).catch((error) => error);
    expect(await failing({ servers: ['one'], only: ['none'] })).toMatchObject({ type: 'unknown_tool' });
    expect(await failing({ actions: ['none'] })).toMatchObject({ type: 'unknown_action' });
    expect(await failing({ servers: ['many'] })).toMatchObject({
      type: 'too_many_tools',
      nonRetryable: true,
      details: [{ details: { tools: 129, limit: 128 } }],
    });
    expect(model.seen).toHaveLength(0);
  });
});
