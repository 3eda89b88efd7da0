import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startGateway } from '../../../src/gateway/serve.ts';
import { type ForkedWorker, forkWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { type Answer, echoDefinition, type RequestOptions, requestTo, unique } from '../gateway/gateway-support.ts';

const CANARY = 'canary-8c21f0';
const adminKey = 'an-admin-of-the-environment-0123456789';
const admin = { authorization: `Bearer ${adminKey}` };
const UI = 'http://127.0.0.1:8233';

let server: TestServer;
let worker: ForkedWorker;
let gateway: { url: string; close(): Promise<void> };
const request = (method: string, path: string, options: RequestOptions = {}): Promise<Answer> =>
  requestTo(gateway.url, method, path, { ...options, headers: { ...admin, ...options.headers } });

beforeAll(async () => {
  server = await testServer({ SIGNALBOX_CODEC: '1', SIGNALBOX_ADMIN_KEY: adminKey });
  worker = await forkWorker(server);
  gateway = await startGateway(server.config, { temporal: server, uiUrl: UI });
});
afterAll(async () => {
  await gateway.close();
  await worker.end();
  await server.close();
});

/** Runs the `temporal` CLI against the server. */
async function temporal(...args: string[]): Promise<string> {
  const address = ['--address', inject('temporalAddress'), '--namespace', server.namespace];
  const { stdout } = await promisify(execFile)(inject('temporalBinary'), [...args, ...address], {
    maxBuffer: 10_000_000,
  });
  return stdout;
}
const decoding = () => ['--codec-endpoint', `${gateway.url}/codec`, '--codec-auth', admin.authorization];
/** Canaries may hide in base64, at any of three offsets. */
const hides = (text: string): boolean =>
  text.includes(CANARY) ||
  [...text.matchAll(/"([A-Za-z0-9+/=]{8,})"/g)].some(([, data]) => Buffer.from(data ?? '', 'base64').includes(CANARY));

async function ran(definition: { [member: string]: unknown }): Promise<Answer['body']> {
  const { status, body } = await request('POST', '/api/executions', {
    json: { definition, input: { note: CANARY } } as never,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  const result = await request('GET', `/api/executions/${body.executionId}/result?wait=20`);
  expect(result.status).toBe(200);
  return { ...result.body, id: body.executionId };
}

describe('with the codec', () => {
  it('a run reads and gives what it would without, and Temporal holds none of it', async () => {
    const run = await ran(echoDefinition(unique('echo'), { name: `Echo of ${CANARY}` }));
    expect(run).toMatchObject({ status: 'completed', output: { note: CANARY } });
    const steps = await request('GET', `/api/executions/${run.id}/steps`);
    expect(steps.body.items.at(-1)).toMatchObject({ stepSlug: 'done', status: 'completed' });
    const shown = await temporal('workflow', 'show', '--workflow-id', run.id, '--output', 'json');
    const described = await temporal('workflow', 'describe', '--workflow-id', run.id, '--output', 'json');
    expect(shown).toContain(Buffer.from('binary/encrypted').toString('base64'));
    expect(hides(shown)).toBe(false);
    expect(hides(described)).toBe(false);
  });

  it('failures tell their code, and nothing else', async () => {
    const fail = { bad: { stepType: 'fail', config: { code: 'too_bad', message: `It is {{ input.note }}.` } } };
    const run = await ran({ name: 'Fails', slug: unique('fails'), steps: fail });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'too_bad', message: `It is ${CANARY}.` } });
    const shown = await temporal('workflow', 'show', '--workflow-id', run.id, '--output', 'json');
    expect(shown).toContain('too_bad');
    expect(shown).toContain('Encoded failure');
    expect(hides(shown)).toBe(false);
  });

  it('failures of activities tell nothing either', async () => {
    const get = {
      get: { stepType: 'http', config: { url: `http://127.0.0.1:9/${CANARY}` }, retry: { maxAttempts: 1 } },
    };
    const run = await ran({ name: 'Gets', slug: unique('gets'), steps: get });
    expect(run).toMatchObject({ status: 'failed' });
    expect(hides(await temporal('workflow', 'show', '--workflow-id', run.id, '--output', 'json'))).toBe(false);
  });

  it('refusals of updates are read by the gateway', async () => {
    const ask = { ask: { stepType: 'user_input', config: { message: 'What?', form: { a: 'number' } } } };
    const definition = { name: 'Asks', slug: unique('asks'), steps: ask };
    const { body } = await request('POST', '/api/executions', { json: { definition } });
    const path = `/api/executions/${body.executionId}`;
    await expect.poll(async () => (await request('GET', path)).body.status).toBe('waiting');
    const refused = await request('POST', `${path}/submit`, { json: { data: { a: 'x' } } });
    expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_submission' } });
    expect((await request('POST', `${path}/submit`, { json: { data: { a: 1 } } })).status).toBe(200);
  });
});

describe('the codec server', () => {
  it('lets the temporal CLI read what it may not read alone', async () => {
    const run = await ran(echoDefinition(unique('echo')));
    const shown = await temporal('workflow', 'show', '--workflow-id', run.id, '--output', 'json', ...decoding());
    expect(hides(shown)).toBe(true);
    expect(await temporal('workflow', 'result', '--workflow-id', run.id, ...decoding())).toContain(CANARY);
  });

  it('lets the temporal CLI send what is encrypted', async () => {
    const slug = unique('by-hand');
    const input = JSON.stringify({ definition: echoDefinition(slug), input: { note: CANARY } });
    const queue = ['--task-queue', server.taskQueue, '--type', 'run', '--workflow-id', slug];
    const output = await temporal('workflow', 'execute', ...queue, '--input', input, ...decoding());
    expect(output).toContain(CANARY);
    expect(hides(await temporal('workflow', 'show', '--workflow-id', slug, '--output', 'json'))).toBe(false);
  });

  const payload = {
    metadata: { encoding: Buffer.from('json/plain').toString('base64') },
    data: Buffer.from('"hello"').toString('base64'),
  };
  const post = (way: string, payloads: object[], headers: { [name: string]: string } = {}) =>
    request('POST', `/codec/${way}`, { json: { payloads } as never, headers });

  it('encodes and decodes, and leaves what is plain', async () => {
    const encoded = await post('encode', [payload, payload]);
    expect(encoded.body.payloads).toHaveLength(2);
    expect(JSON.stringify(encoded.body)).not.toContain(payload.data);
    expect((await post('decode', encoded.body.payloads)).body).toEqual({ payloads: [payload, payload] });
    expect((await post('decode', [payload])).body).toEqual({ payloads: [payload] });
  });

  it('says what it cannot decode', async () => {
    const [sealed] = (await post('encode', [payload])).body.payloads;
    const bytes = Buffer.from(sealed.data, 'base64');
    bytes[bytes.length - 1]! ^= 1;
    const changed = { ...sealed, data: bytes.toString('base64') };
    expect(await post('decode', [changed])).toMatchObject({ status: 422, body: { code: 'codec_failed' } });
  });

  it('is for admins of `default`', async () => {
    const made = async (json: { [member: string]: string }) =>
      (await request('POST', '/api/keys', { json: json as never })).body.key;
    const editor = await made({ name: 'editor', role: 'editor' });
    const other = await made({ name: 'other', role: 'admin', organization: unique('acme') });
    expect((await post('decode', [payload], { authorization: `Bearer ${editor}` })).status).toBe(403);
    expect((await post('decode', [payload], { authorization: `Bearer ${other}` })).status).toBe(404);
    expect((await requestTo(gateway.url, 'POST', '/codec/decode', { json: { payloads: [] } })).status).toBe(401);
  });

  it('answers pages of the Web UI, and of no other origin', async () => {
    const preflight = (origin: string) =>
      fetch(`${gateway.url}/codec/decode`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    const allowed = await preflight(UI);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe(UI);
    expect(allowed.headers.get('access-control-allow-headers')).toContain('authorization');
    const refused = await preflight('https://evil.example');
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    const answer = await post('decode', [payload], { origin: UI });
    expect(answer.headers.get('access-control-allow-origin')).toBe(UI);
  });
});
