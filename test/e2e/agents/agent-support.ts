/** What tests of agents share: a gateway with a worker, a scripted model `house`, and MCP's reference server. */

import { expect } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { everythingServer } from '../../activities/mcp-server.ts';
import { type Asked, type ModelServer, modelServer, type Said } from '../../activities/model-server.ts';
import { type Answer, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

export const KEY = 'canary-sk-0123456789';

export type Script = readonly Said[] | ((turn: number) => Said);

export interface AgentStack {
  readonly gateway: TestGateway;
  /** The address of MCP's reference server, which is stored as `everything`. */
  readonly everything: string;
  readonly model: ModelServer;
  /** What the model says, turn by turn, by a name that its first message contains. */
  readonly scripts: Map<string, Script>;
  put(path: string, json: Json): Promise<void>;
  /** Starts an inline run of the steps; answers its id. */
  start(steps: Json): Promise<string>;
  ended(id: string): Promise<Answer['body']>;
  /** `path stepType status` of each row. */
  rows(id: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function agentStack(settings: Record<string, string> = {}): Promise<AgentStack> {
  const scripts = new Map<string, Script>();
  const everything = await everythingServer();
  const model = await modelServer((asked) => {
    const turn = asked.messages.filter(({ role }: Asked) => role === 'assistant').length;
    const script = [...scripts].find(([name]) => JSON.stringify(asked.messages).includes(name))?.[1];
    return (typeof script === 'function' ? script(turn) : script?.[turn]) ?? { status: 500 };
  });
  const gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8', ...settings });
  const put: AgentStack['put'] = async (path, json) => {
    const { status, body } = await gateway.request('PUT', path, { json });
    expect({ status, body }).toMatchObject({ status: 201 });
  };
  await put('/api/secrets/models%2Fkey', { value: KEY, allowedHosts: ['127.0.0.1'] });
  await put('/api/models/house', {
    provider: 'openai-compatible',
    model: 'm-1',
    baseUrl: `${model.url}/v1`,
    apiKeySecret: 'models/key',
    prices: { input: 1, output: 10 },
  });
  await put('/api/mcp-servers/everything', {
    url: everything.url,
    headers: { 'x-key': "{{ secrets['models/key'] }}" },
  });
  return {
    gateway,
    everything: everything.url,
    model,
    scripts,
    put,
    start: async (steps) => {
      const json = { definition: { name: 'Agent', slug: unique('agent'), steps }, input: {} };
      const { body } = await gateway.request('POST', '/api/executions', { json });
      expect(body).toMatchObject({ executionId: expect.any(String) });
      return body.executionId;
    },
    ended: async (id) =>
      (await gateway.until(`/api/executions/${id}`, ({ body }) => body.completedAt !== undefined, 30)).body,
    rows: async (id) => {
      const { body } = await gateway.request('GET', `/api/executions/${id}/steps`);
      expect(body.uncertain, JSON.stringify(body.guesses)).toBe(false);
      return body.items.map(
        ({ path, stepType, status }: { [name: string]: string }) => `${path} ${stepType} ${status}`,
      );
    },
    close: async () => {
      await gateway.close();
      await everything.close();
      await model.close();
    },
  };
}

export const call = (id: string, name: string, input: Json) => ({ id, name, input });
