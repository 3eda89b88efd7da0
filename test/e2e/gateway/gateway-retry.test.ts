import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { echoDefinition, type TestGateway, testGateway, unique } from './gateway-support.ts';

/** A service whose paths fail as long as they stand in `broken`, and that remembers who asked. */
const broken = new Set<string>();
const asked: { path: string; key: string | undefined }[] = [];
let service: Server;
let base: string;
let gateway: TestGateway;
beforeAll(async () => {
  service = createServer((req, res) => {
    const path = req.url ?? '';
    asked.push({ path, key: req.headers['idempotency-key']?.toString() });
    res.writeHead(broken.has(path) ? 500 : 200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ path }));
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
});
afterAll(async () => {
  await gateway.close();
  service.close();
});

const call = (path: string, more: { [key: string]: Json } = {}): { [key: string]: Json } => ({
  stepType: 'http',
  config: { url: `${base}${path}`, method: 'POST' },
  retry: { maxAttempts: 1 },
  ...more,
});

async function run(steps: { [slug: string]: Json }, more: { [key: string]: Json } = {}): Promise<string> {
  const definition = { ...echoDefinition(unique('retry')), steps, ...more };
  const started = await gateway.request('POST', '/api/executions', { json: { definition, input: { a: 1 } } });
  expect(started.status, JSON.stringify(started.body)).toBe(201);
  return String(started.body.executionId);
}

const result = async (id: string) => (await gateway.request('GET', `/api/executions/${id}/result?wait=20`)).body;
const retry = (id: string) => gateway.request('POST', `/api/executions/${id}/retry`, { json: {} });
const ask = (): Json => ({ stepType: 'approval', config: { message: 'Go on?' } });
const askedFor = (path: string) => asked.filter((one) => one.path === path);
const lines = async (id: string) => {
  const { body } = await gateway.request('GET', `/api/executions/${id}/steps`);
  expect(body.uncertain, JSON.stringify(body.guesses)).toBe(false);
  return (body.items as { path: string; status: string }[]).map(({ path, status }) => `${path} ${status}`);
};

describe('a failed run', () => {
  it('continues from where it failed, with the same key, and its trace shows both parts', async () => {
    const [one, two] = [`/${unique('one')}`, `/${unique('two')}`];
    broken.add(two);
    const id = await run({
      one: call(one, { nextSteps: { success: 'two' } }),
      two: call(two, { nextSteps: { success: 'end' } }),
      end: { stepType: 'finish', config: { output: '{{ steps.one.output.data.path }}' } },
    });
    expect(await result(id)).toMatchObject({ status: 'failed', error: { path: 'two' } });
    broken.delete(two);
    expect(await retry(id)).toMatchObject({ status: 202, body: { executionId: id, status: 'pending' } });
    expect(await result(id)).toEqual({ status: 'completed', output: one });
    expect(askedFor(one)).toHaveLength(1);
    expect(askedFor(two)).toHaveLength(2);
    expect(new Set(askedFor(two).map(({ key }) => key))).toHaveProperty('size', 1);
    expect(await lines(id)).toEqual(['one completed', 'two failed', 'two completed', 'end completed']);
    const { body } = await gateway.request('GET', `/api/executions/${id}`);
    expect(body).toMatchObject({ status: 'completed', input: { a: 1 }, workflowId: expect.stringMatching(/^retry-/) });
    expect(await retry(id)).toMatchObject({ status: 409, body: { code: 'not_failed' } });
  });

  it('may fail and be retried again, and keeps the branches that had ended', async () => {
    const [bad, good] = [`/${unique('bad')}`, `/${unique('good')}`];
    broken.add(bad);
    const id = await run({
      both: { stepType: 'parallel', nextSteps: { a: 'bad', b: 'good', done: 'end' } },
      bad: call(bad),
      good: call(good),
      end: { stepType: 'finish', config: { output: '{{ steps.both.output.data }}' } },
    });
    expect(await result(id)).toMatchObject({ status: 'failed', error: { code: 'join_failed' } });
    expect((await retry(id)).status).toBe(202);
    expect(await result(id)).toMatchObject({ status: 'failed', error: { code: 'join_failed' } });
    broken.delete(bad);
    expect((await retry(id)).status).toBe(202);
    expect(await result(id)).toMatchObject({ status: 'completed', output: { a: { path: bad }, b: { path: good } } });
    expect(askedFor(good)).toHaveLength(1);
    expect(askedFor(bad)).toHaveLength(3);
    expect(await lines(id)).toEqual([
      'both failed',
      'both/a/bad failed',
      'both/b/good completed',
      'both failed',
      'both/a/bad failed',
      'both completed',
      'both/a/bad completed',
      'end completed',
    ]);
  });

  it('is retried once, however many requests come in parallel', async () => {
    const path = `/${unique('many')}`;
    broken.add(path);
    const id = await run({ it: call(path) });
    await result(id);
    broken.delete(path);
    const answers = await Promise.all(Array.from({ length: 10 }, () => retry(id)));
    const late = answers.filter(({ status, body }) => status === 409 && body.code === 'not_failed');
    expect(answers.filter(({ status }) => status === 202).length + late.length).toBe(10);
    expect(late.length).toBeLessThan(10);
    expect(await result(id)).toMatchObject({ status: 'completed' });
    expect(askedFor(path)).toHaveLength(2);
  });

  it('continues where it was when it was terminated', async () => {
    const path = `/${unique('first')}`;
    const id = await run({
      first: call(path, { nextSteps: { success: 'ask' } }),
      ask: ask(),
    });
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.length > 0);
    await gateway.request('POST', `/api/executions/${id}/terminate`, { json: {} });
    expect((await retry(id)).status).toBe(202);
    await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.length > 0);
    await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } });
    expect(await result(id)).toMatchObject({ status: 'completed' });
    expect(askedFor(path)).toHaveLength(1);
    expect(await lines(id)).toEqual(['first completed', 'ask cancelled', 'ask completed']);
  });

  it.each(['queue', 'reject'] as const)('asks its limit again (%s)', async (overflow) => {
    const path = `/${unique('limited')}`;
    broken.add(path);
    const slug = unique('limited');
    const config = { concurrency: { limit: 1, overflow } };
    const steps = { it: call(path, { nextSteps: { success: 'ask' } }), ask: ask() };
    await gateway.store({ ...echoDefinition(slug), config, steps });
    const start = () => gateway.request('POST', '/api/triggers/manual/run', { json: { workflowId: slug } });
    const failed = String((await start()).body.executionId);
    expect(await result(failed)).toMatchObject({ status: 'failed' });
    broken.delete(path);
    const other = String((await start()).body.executionId);
    await gateway.until(`/api/executions/${other}`, ({ body }) => body.waitingFor?.length > 0);
    const approve = (id: string) =>
      gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } });
    if (overflow === 'reject')
      expect(await retry(failed)).toMatchObject({ status: 429, body: { code: 'limit_reached' } });
    else {
      expect((await retry(failed)).status).toBe(202);
      const { body } = await gateway.until(`/api/executions/${failed}`, (answer) => answer.body.waitingFor?.length > 0);
      expect(body).toMatchObject({ status: 'pending', waitingFor: [{ kind: 'slot' }] });
      expect(askedFor(path)).toHaveLength(2);
    }
    await approve(other);
    await result(other);
    // The limit learns a moment later that the run has ended.
    if (overflow === 'reject') await expect.poll(async () => (await retry(failed)).status).toBe(202);
    await gateway.until(`/api/executions/${failed}`, ({ body }) => body.waitingFor?.[0]?.kind === 'approval');
    await approve(failed);
    expect(await result(failed)).toMatchObject({ status: 'completed' });
    expect(askedFor(path)).toHaveLength(3);
    expect(new Set(askedFor(path).map(({ key }) => key)).size).toBe(2);
  });

  it('is not retried where it was rolled back, cancelled, or still runs', async () => {
    const [done, bad] = [`/${unique('done')}`, `/${unique('bad')}`];
    broken.add(bad);
    const rolled = await run(
      { one: call(done, { rollback: call(`${done}-undo`), nextSteps: { success: 'two' } }), two: call(bad) },
      { config: { onFailure: 'rollback' } },
    );
    await result(rolled);
    expect(await retry(rolled)).toMatchObject({ status: 409, body: { code: 'rolled_back' } });
    const open = await run({ ask: ask() });
    expect(await retry(open)).toMatchObject({ status: 409, body: { code: 'not_failed' } });
    await gateway.request('POST', `/api/executions/${open}/cancel`, { json: {} });
    await result(open);
    expect(await retry(open)).toMatchObject({ status: 409, body: { code: 'not_failed' } });
    expect((await retry('run.other.x.1')).status).toBe(404);
  });
});
