/**
 * An agent in a worker process, with a host action and a leaky MCP server. The model, the server and the code that
 * transforms results repeat every secret that they get. Afterwards none may be in a history, memo, log or response.
 */

import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import type { Json } from '../../../src/json/json.ts';
import { type Asked, type ModelServer, modelServer } from '../../activities/model-server.ts';
import { type TestServer as HttpServer, type Seen, serve } from '../../activities/server.ts';
import { type ForkedWorker, forkWorker, workflowsOf } from '../../support/temporal.ts';
import { canaryIn, MARK, unpacked } from '../activities/canary-search.ts';
import { type Answer, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';
import { call } from './agent-support.ts';

const NOTE = `import { defineAction } from 'signalbox/action';
import { z } from 'zod';

export default defineAction({
  type: 'crm.note',
  summary: 'Notes something of a customer.',
  input: z.object({ customer: z.string(), text: z.string().default('-') }),
  output: z.unknown(),
  run: ({ customer, text }, { idempotencyKey }) => {
    if (customer === 'nobody') throw new Error('There is no such customer: ' + text);
    return { customer, text, idempotencyKey };
  },
});
`;

const project = mkdtempSync(join(tmpdir(), 'signalbox-project-'));
const canaries = { model: '', server: '', step: '' };
const answers: string[] = [];
const told: string[] = [];
let gateway: TestGateway;
let worker: ForkedWorker;
let model: ModelServer;
let leaky: HttpServer;

/** Whatever the request says of secrets, in clear and encoded. */
const leak = ({ headers }: Seen): string => {
  const said = JSON.stringify(headers);
  told.push(said);
  return `${said} ${Buffer.from(said).toString('base64')}`;
};

/** MCP as far as it takes, whose tool `tell` reveals all that it knows, and whose tool `fail` fails with it. */
function speak(seen: Seen): Json | undefined {
  const { id, method, params } = seen.body === '' ? {} : JSON.parse(seen.body);
  const tool = (name: string) => ({ name, description: name, inputSchema: { type: 'object' } });
  const result: { [method: string]: Json } = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'leaky', version: '1.0.0' },
    },
    'tools/list': { tools: [tool('tell'), tool('fail')] },
    'tools/call': { content: [{ type: 'text', text: leak(seen) }], isError: params?.name === 'fail' },
  };
  return result[String(method)] === undefined ? undefined : { jsonrpc: '2.0', id, result: result[String(method)]! };
}

beforeAll(async () => {
  const actions = join(project, 'actions');
  mkdirSync(actions);
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(projectRoot(), join(project, 'node_modules/signalbox'));
  symlinkSync(join(projectRoot(), 'node_modules/zod'), join(project, 'node_modules/zod'));
  writeFileSync(join(actions, 'note.mjs'), NOTE);
  model = await modelServer((asked: Asked) => {
    const known = leak(model.seen.at(-1)!);
    if (JSON.stringify(asked.messages).includes('no JSON')) return { text: known };
    if (asked.messages.some(({ role }: Asked) => role === 'tool')) return { text: `I know ${known}` };
    return {
      text: `I know ${known}`,
      calls: [
        call('a', 'crm_note', { customer: 'Ann', text: known }),
        call('b', 'crm_note', { customer: 'nobody', text: known }),
        call('c', 'crm_note', { text: known }),
        call('d', 'tell', { known }),
        call('e', 'fail', { known }),
      ],
    };
  });
  leaky = await serve((seen, response) => {
    response.setHeader('content-type', 'application/json');
    const said = speak(seen);
    if (said !== undefined) response.end(JSON.stringify(said));
    else response.writeHead(seen.body === '' ? 405 : 202).end();
  });
  gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8', SIGNALBOX_ACTIONS: actions });
  await gateway.stopWorker();
  worker = await forkWorker(gateway.server);
  for (const name of Object.keys(canaries) as (keyof typeof canaries)[]) {
    canaries[name] = `${MARK}${name}${randomBytes(6).toString('hex')}`;
    expect((await ask('PUT', `/api/secrets/${name}`, { value: canaries[name] })).status).toBe(201);
  }
  const entry = { provider: 'openai-compatible', model: 'm', baseUrl: `${model.url}/v1`, apiKeySecret: 'model' };
  expect((await ask('PUT', '/api/models/house', entry)).status).toBe(201);
  const server = { url: `${leaky.url}/mcp`, headers: { authorization: 'Bearer {{ secrets.server }}' } };
  expect((await ask('PUT', '/api/mcp-servers/leaky', server)).status).toBe(201);
});
afterAll(async () => {
  await worker.end();
  await gateway.close();
  await model.close();
  await leaky.close();
  rmSync(project, { recursive: true, force: true });
});

async function ask(method: string, path: string, json?: Json): Promise<Answer> {
  const answer = await gateway.request(method, path, json === undefined ? {} : { json });
  answers.push(JSON.stringify(answer.body), JSON.stringify([...answer.headers]));
  return answer;
}

async function run(steps: Json): Promise<{ id: string; result: Answer['body'] }> {
  const { body } = await ask('POST', '/api/executions', { definition: { name: unique('leaky'), steps }, input: {} });
  const { body: result } = await ask('GET', `/api/executions/${body.executionId}/result?wait=30`);
  return { id: body.executionId, result };
}

describe('an agent among leaky servers', () => {
  it('calls an action of the host as a tool, with its schema, once, and reports the outcome to its model', async () => {
    const { id, result } = await run({
      work: {
        stepType: 'agent',
        config: { userPrompt: 'Go.', tools: ['crm.note', 'tell', 'fail'], mcpServerIds: ['leaky'] },
      },
    });
    expect(result).toMatchObject({ status: 'completed', output: expect.stringContaining('I know') });
    expect(result.output).toContain('[secret]');
    const [first, second] = model.asked();
    expect(first.tools[0].function).toMatchObject({
      name: 'crm_note',
      description: 'Notes something of a customer.',
      parameters: { properties: { customer: { type: 'string' }, text: { default: '-' } }, required: ['customer'] },
    });
    const results = second.messages.filter(({ role }: Asked) => role === 'tool');
    expect(results.map(({ content }: Asked) => content)).toEqual([
      expect.stringContaining(`"idempotencyKey":"${id}/work/turn[0]/tool[0]"`),
      expect.stringContaining('There is no such customer'),
      expect.stringContaining('customer'),
      expect.stringContaining('[secret]'),
      expect.stringContaining('tool_error'),
    ]);
    const { body } = await ask('GET', `/api/executions/${id}/steps`);
    expect(body.items.map((row: { [name: string]: Json }) => [row['path'], row['stepType'], row['status']])).toEqual([
      ['work', 'agent', 'completed'],
      ['work/turn[0]/model', 'llm', 'completed'],
      ['work/turn[0]/tool[0]', 'action', 'completed'],
      ['work/turn[0]/tool[1]', 'action', 'failed'],
      ['work/turn[0]/tool[3]', 'tool', 'completed'],
      ['work/turn[0]/tool[4]', 'tool', 'failed'],
      ['work/turn[1]/model', 'llm', 'completed'],
    ]);
  });

  it('shows no secret to the code that transforms a result', async () => {
    const tell = (transformCode: string, next: string) => ({
      stepType: 'tool',
      config: { server: 'leaky', toolName: 'tell', headers: { 'x-step': '{{ secrets.step }}' }, transformCode },
      nextSteps: { success: next, error: 'end' },
    });
    const { result } = await run({
      one: tell('export default (r) => { console.log(r); return { told: r, hasMark: r.includes("c4n4ry") }; }', 'two'),
      two: tell('export default (r) => { throw new Error(r); }', 'end'),
      end: { stepType: 'finish', config: { output: { one: '{{ steps.one.output }}', two: '{{ error }}' } } },
    });
    expect(result).toMatchObject({
      status: 'completed',
      output: {
        one: { data: { hasMark: false, told: expect.stringContaining('[secret]') } },
        two: { code: 'script_error', message: expect.stringContaining('[secret]'), step: 'two' },
      },
    });
  });

  it('shows none in an answer that is refused', async () => {
    const config = { userPrompt: 'no JSON', outputSchema: { known: 'string' } };
    const { result } = await run({ ask: { stepType: 'agent', retry: { maxAttempts: 1 }, config } });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'model_output_invalid', details: { text: expect.stringContaining('[secret]') } },
    });
  });

  it('leaves none in any answer, history, memo, search attribute, log or file', async () => {
    for (const canary of Object.values(canaries)) expect(told.join(' ')).toContain(canary);
    for (const path of ['/api/models', '/api/mcp-servers', '/api/mcp-servers/leaky/tools', '/api/executions'])
      expect((await ask('GET', path)).status, path).toBe(200);
    for (const answer of answers) expect(canaryIn(answer)).toBeUndefined();
    const { client, taskQueue, config } = gateway.server;
    const types = new Set<string>();
    for await (const { workflowId, runId, type } of client.workflow.list({ query: workflowsOf(taskQueue) })) {
      const handle = client.workflow.getHandle(workflowId, runId);
      expect(canaryIn(unpacked(await handle.fetchHistory())), workflowId).toBeUndefined();
      const { raw, memo, typedSearchAttributes } = await handle.describe();
      expect(canaryIn(unpacked([raw, memo, typedSearchAttributes.getAll()])), workflowId).toBeUndefined();
      types.add(type);
    }
    expect([...types]).toEqual(expect.arrayContaining(['run', 'organization']));
    await worker.end();
    const files = readdirSync(config.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.some((file) => file.endsWith('worker.log'))).toBe(true);
    for (const file of files) expect(canaryIn(readFileSync(file, 'latin1')), file).toBeUndefined();
  });
});
