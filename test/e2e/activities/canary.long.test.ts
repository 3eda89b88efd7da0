/**
 * Canary secrets in every member that accepts one, with failures, retries and continue-as-new. Afterwards none may be
 * in any history, memo, search attribute, log, file or response (E7).
 */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StepDefinition } from '../../../src/definition/document/types.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { type TestServer as HttpServer, type Seen, serve } from '../../activities/server.ts';
import { type ForkedWorker, forkWorker, type TestServer, testServer, workflowsOf } from '../../support/temporal.ts';
import { requestTo } from '../gateway/gateway-support.ts';
import { canaryActions } from './canary-actions.ts';
import { CANARY_CASES, type Receivers } from './canary-cases.ts';
import { canaryIn, MARK, unpacked } from './canary-search.ts';

const SIGNS = ' /+"&=%<ü>\'';
const TICKS = 2;

const markers = CANARY_CASES.map((_case, i) => `${MARK}${i}x${randomBytes(6).toString('hex')}`);
const received: string[] = [];
let server: TestServer;
let worker: ForkedWorker;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let gatewayLog = '';
let receiver: HttpServer;
let smtp: SMTPServer;
let executionId: string;
const actions = canaryActions();
const answers: string[] = [];

/** Everything that the request said, in clear and in other shapes. */
function echoOf({ url, headers, body }: Seen): string {
  const basic = String(headers['authorization'] ?? '').replace(/^Basic /, '');
  const decoded = Buffer.from(basic, 'base64').toString();
  received.push(url, JSON.stringify(headers), body, decoded);
  return JSON.stringify({ url, headers, body, decoded, base64: Buffer.from(body).toString('base64') });
}

/** The tool `echo` reveals everything; the first call fails. */
function answerMcp({ body }: Seen, response: ServerResponse, echo: string): void {
  const { id, method, params } = body === '' ? {} : JSON.parse(body);
  const result = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'canary', version: '1.0.0' },
    },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: echo }] },
  }[String(method)];
  if (result !== undefined) response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  else response.writeHead(method === undefined ? 405 : 202).end();
}

async function ask(method: string, path: string, json?: JsonObject) {
  const answer = await requestTo(gateway.url, method, path, json === undefined ? {} : { json });
  answers.push(JSON.stringify(answer.body), JSON.stringify([...answer.headers]));
  return answer;
}

beforeAll(async () => {
  const tried = new Set<string>();
  receiver = await serve((seen, response) => {
    const echo = echoOf(seen);
    const { pathname, search } = new URL(seen.url, 'http://x');
    const key = String(seen.headers['idempotency-key']);
    response.setHeader('content-type', 'application/json').setHeader('x-told', encodeURIComponent(seen.url));
    if (pathname === '/mcp') answerMcp(seen, response, echo);
    else if (pathname === '/redirect') response.writeHead(302, { location: `/told${search}` }).end();
    else if (pathname.startsWith('/refused')) response.writeHead(418).end(echo);
    else response.writeHead(tried.has(key) ? 200 : 503).end(echo);
    tried.add(key);
  });
  smtp = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth({ username, password }, _session, callback) {
      received.push(username ?? '', password ?? '');
      callback(new Error(`Nobody here is ${username} with ${password}`));
    },
  });
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', () => resolve()));
  server = await testServer({
    SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8',
    SIGNALBOX_HISTORY_LIMIT: '20',
    SIGNALBOX_BASH: 'unsafe',
    SIGNALBOX_ACTIONS: actions.path,
  });
  worker = await forkWorker(server);
  const sink = new Writable({
    write(chunk, _encoding, done) {
      gatewayLog += String(chunk);
      done();
    },
  });
  gateway = await startGateway(server.config, { temporal: server, log: pino({ level: 'trace' }, sink) });
});
afterAll(async () => {
  await gateway.close();
  await worker.end();
  await server.close();
  await receiver.close();
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
  actions.remove();
});

/** The steps in sequence in a loop, whether they fail or not. Their results are stored, shown and searched. */
function definition(to: Receivers): JsonObject {
  const slugs = CANARY_CASES.map((_case, i) => `case${i}`);
  const steps: { [slug: string]: StepDefinition } = {
    again: {
      stepType: 'loop',
      config: { items: [...Array(TICKS).keys()] },
      nextSteps: { loop: 'case0', done: 'done' },
    },
    done: { stepType: 'finish', config: { output: '{{ outputs }}' } },
  };
  for (const [i, { step }] of CANARY_CASES.entries()) {
    const next = slugs[i + 1] ?? 'again';
    steps[slugs[i]!] = {
      ...step(`{{ secrets.S${i} }}`, to),
      retry: { maxAttempts: 2, initialInterval: '10ms' },
      outputVariable: slugs[i]!,
      saveToState: { told: 'output|toJSON' },
      nextSteps: { success: next, error: next },
    };
  }
  const names = CANARY_CASES.map((_case, i) => [`S${i}`, `canaries/${i}`]);
  return {
    name: 'Canaries',
    slug: 'canaries',
    start: 'again',
    state: { told: { type: 'string', searchable: true } },
    config: { secrets: { ...Object.fromEntries(names), CLEAR: { value: `${MARK}-clear` } } },
    triggers: [
      { name: 'in', type: 'webhook', config: { path: 'canaries', scheme: 'standard', secret: `${MARK}-trigger` } },
    ],
    steps: steps as unknown as JsonObject,
  };
}

describe('canary secrets', () => {
  it('are used everywhere they may be', async () => {
    const { port } = smtp.server.address() as AddressInfo;
    const to: Receivers = { url: receiver.url, smtpPort: port };
    for (const [i, { value }] of CANARY_CASES.entries()) {
      const marker = markers[i]!;
      const stored = value?.(marker, to) ?? `${marker}${SIGNS}`;
      expect((await ask('PUT', `/api/secrets/canaries%2F${i}`, { value: stored })).status).toBe(201);
      const [path, body] = CANARY_CASES[i]?.store?.(`canaries/${i}`, to) ?? [];
      if (path !== undefined && body !== undefined) expect((await ask('PUT', path, body)).status, path).toBe(201);
    }
    expect((await ask('PUT', '/api/workflows/canaries', definition(to))).status).toBe(201);
    const { body } = await ask('POST', '/api/triggers/manual/run', {
      workflowId: 'canaries',
      input: {},
      clientRequestId: randomBytes(6).toString('hex'),
    });
    executionId = body.executionId;
    let result = await ask('GET', `/api/executions/${executionId}/result?wait=30`);
    if (result.status === 202) result = await ask('GET', `/api/executions/${executionId}/result?wait=30`);
    expect(result.body).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(result.body)).toContain('[secret]');
    const sent = received.join('\n');
    for (const [i, { at, isKept }] of CANARY_CASES.entries())
      if (isKept !== true) expect(sent, at).toContain(markers[i]!);
  }, 90_000);

  it('occur in no answer of the gateway', async () => {
    for (const path of [
      `/api/executions/${executionId}`,
      `/api/executions/${executionId}/steps?limit=1000`,
      '/api/executions?workflowId=canaries',
      '/api/workflows',
      '/api/workflows/canaries',
      '/api/workflows/canaries/executions',
      '/api/secrets?limit=1000',
      '/api/inbox',
      '/api/models',
      '/api/mcp-servers',
      '/api/mcp-servers/canary-own',
      '/api/audit',
      '/api/workflows/canaries/history',
      '/api/triggers',
      '/api/approvals',
    ])
      expect((await ask('GET', path)).status, path).toBe(200);
    const steps = await ask('GET', `/api/executions/${executionId}/steps?limit=1000`);
    expect(steps.body.items.length).toBeGreaterThanOrEqual(CANARY_CASES.length * TICKS);
    const bash = `case${CANARY_CASES.findIndex(({ at }) => at === 'bash env')}`;
    expect(steps.body.items.find(({ stepSlug }: { stepSlug: string }) => stepSlug === bash)).toMatchObject({
      status: 'completed',
      output: { data: { stdout: '[secret]\n[secret]', stderr: '[secret]\n' } },
    });
    for (const [at, code] of [
      ['a host action that throws', 'action_failed'],
      ['a host action that gives what it may not', 'invalid_output'],
      ['a host action that takes nothing of it', 'invalid_config'],
    ]) {
      const slug = `case${CANARY_CASES.findIndex((one) => one.at === at)}`;
      const row = steps.body.items.find(({ stepSlug }: { stepSlug: string }) => stepSlug === slug);
      expect(row, at).toMatchObject({ status: 'failed', error: { code } });
    }
    // A body that cannot be read is not repeated either.
    await requestTo(gateway.url, 'PUT', '/api/secrets/x', {
      text: `{"value": "${MARK}", oops`,
      headers: { 'content-type': 'application/json' },
    }).then(({ body }) => answers.push(JSON.stringify(body)));
    await ask('PUT', '/api/secrets/x', { value: [`${MARK}`] as never });
    await ask('GET', `/api/executions?tag=${MARK}`);
    for (const answer of answers) expect(canaryIn(answer)).toBeUndefined();
  });

  it('occur in no history, memo or search attribute', async () => {
    const { client } = server;
    const types = new Set<string>();
    let runs = 0;
    for await (const { workflowId, runId, type } of client.workflow.list({
      query: workflowsOf(server.taskQueue),
    })) {
      const handle = client.workflow.getHandle(workflowId, runId);
      const history = unpacked(await handle.fetchHistory());
      expect(canaryIn(history), workflowId).toBeUndefined();
      const { raw, memo, typedSearchAttributes } = await handle.describe();
      expect(canaryIn(unpacked([raw, memo, typedSearchAttributes.getAll()])), workflowId).toBeUndefined();
      types.add(type);
      if (workflowId === executionId) runs += 1;
    }
    expect([...types]).toEqual(expect.arrayContaining(['run', 'organization', 'definition', 'version', 'hook']));
    // Continue-as-new lay in between.
    expect(runs).toBeGreaterThan(1);
  });

  it('occur in no log and no file', async () => {
    await worker.end();
    expect(gatewayLog).toContain('"route":"/api/secrets/:name"');
    expect(canaryIn(gatewayLog)).toBeUndefined();
    const files = readdirSync(server.config.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.some((file) => file.endsWith('worker.log'))).toBe(true);
    for (const file of files) expect(canaryIn(readFileSync(file, 'latin1')), file).toBeUndefined();
  });
});
