import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type TestGateway, testGateway, unique } from './gateway-support.ts';

let gateway: TestGateway;
let slow: Server;
let url = '';
let answers = 0;
beforeAll(async () => {
  slow = createServer((req, res) => {
    const ms = Number(new URL(req.url ?? '/', 'http://slow').searchParams.get('ms'));
    setTimeout(() => {
      answers += 1;
      res.setHeader('content-type', 'application/json').end('{"late":true}');
    }, ms);
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.1/32' });
});
afterAll(async () => {
  await gateway.close();
  slow.closeAllConnections();
  slow.close();
});

/** A slow request beside a return. */
async function start(ms: number, more: { [member: string]: Json } = {}, output: Json = { v: 'early' }) {
  const definition = {
    name: 'Return',
    slug: unique('return'),
    flow: 'dag',
    steps: {
      slow: { stepType: 'http', config: { url: `${url}/?ms=${ms}` } },
      leave: { stepType: 'return', config: { output } },
    },
    ...more,
  };
  return `/api/executions/${await gateway.startInline(definition)}`;
}

/** Temporal's own status of the run. */
async function temporalStatus(path: string): Promise<string> {
  const handle = gateway.server.client.workflow.getHandle(path.split('/').at(-1) ?? '');
  return (await handle.describe()).status.name;
}

describe('a run that has returned while an effect is in flight', () => {
  it('is completed with its output immediately, wherever it is read, and lets the effect end', async () => {
    const before = answers;
    const path = await start(5_000);
    const result = await gateway.request('GET', `${path}/result?wait=20`);
    expect(result).toMatchObject({ status: 200, body: { status: 'completed', output: { v: 'early' } } });
    expect(await temporalStatus(path)).toBe('RUNNING');
    const { body } = await gateway.request('GET', path);
    expect(body).toMatchObject({ status: 'completed', output: { v: 'early' }, waitingFor: [] });
    expect(body.completedAt).toMatch(/^20/);
    const listed = await gateway.until(
      `/api/executions?status=completed&executionId=${body.id}`,
      (answer) => answer.body.items.length === 1,
    );
    expect(listed.body.items[0].status).toBe('completed');
    // What is asked of it comes too late.
    expect((await gateway.request('POST', `${path}/approve`, { json: { approve: true } })).status).toBe(409);
    while ((await temporalStatus(path)) === 'RUNNING') await new Promise((resolve) => setTimeout(resolve, 200));
    expect(answers).toBe(before + 1);
    const ended = await gateway.request('GET', path);
    expect(ended.body).toEqual(body);
    const steps = await gateway.request('GET', `${path}/steps`);
    expect(steps.body.items.map(({ path, status }: { path: string; status: string }) => `${path} ${status}`)).toEqual([
      'slow completed',
      'leave completed',
    ]);
  });

  it('lets the run that waits for it continue immediately', async () => {
    const slug = unique('child');
    const steps = {
      slow: { stepType: 'http', config: { url: `${url}/?ms=60000` } },
      leave: { stepType: 'return', config: { output: { v: 'early' } } },
    };
    const child = { name: 'Child', slug, flow: 'dag', steps };
    expect((await gateway.request('PUT', `/api/workflows/${slug}`, { json: child })).status).toBe(201);
    const definition = {
      name: 'Parent',
      slug: unique('parent'),
      steps: { run: { stepType: 'run_workflow', config: { workflow: slug } } },
    };
    const { body } = await gateway.request('POST', '/api/executions', { json: { definition } });
    const before = answers;
    const result = await gateway.request('GET', `/api/executions/${body.executionId}/result?wait=20`);
    expect(result.body).toMatchObject({ status: 'completed', output: { v: 'early' } });
    expect(answers).toBe(before);
  });

  it('keeps its output when it is cancelled: the draining ends', async () => {
    const path = await start(20_000);
    await gateway.request('GET', `${path}/result?wait=20`);
    const cancelled = await gateway.request('POST', `${path}/cancel`, { json: { reason: 'Enough.' } });
    expect(cancelled).toMatchObject({ status: 202, body: { status: 'completed' } });
    while ((await temporalStatus(path)) === 'RUNNING') await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await temporalStatus(path)).toBe('COMPLETED');
    const result = await gateway.request('GET', `${path}/result`);
    expect(result).toMatchObject({ status: 200, body: { status: 'completed', output: { v: 'early' } } });
  });

  it('keeps its output past its timeout, and when it is terminated', async () => {
    const late = await start(20_000, { config: { timeout: 1_500 } });
    const killed = await start(20_000);
    await gateway.request('GET', `${killed}/result?wait=20`);
    expect((await gateway.request('POST', `${killed}/terminate`)).body.status).toBe('completed');
    while ((await temporalStatus(late)) === 'RUNNING') await new Promise((resolve) => setTimeout(resolve, 100));
    const retried = await gateway.request('POST', `${killed}/retry`);
    expect(retried).toMatchObject({ status: 409, body: { code: 'not_failed' } });
    for (const path of [late, killed])
      expect((await gateway.request('GET', `${path}/result`)).body).toEqual({
        status: 'completed',
        output: { v: 'early' },
      });
  });

  it('gives an output that is too large for its memo', async () => {
    const output = { text: 'x'.repeat(50_000) };
    const path = await start(3_000, {}, output);
    const result = await gateway.request('GET', `${path}/result?wait=20`);
    expect(result.body).toEqual({ status: 'completed', output });
    expect(await temporalStatus(path)).toBe('RUNNING');
    expect((await gateway.request('GET', path)).body.output).toEqual(output);
  });
});
