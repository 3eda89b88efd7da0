/** Runs that hold more than Temporal takes in one payload, through the API, with the blob store and without. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { sharedGateway, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const MB = 1_000_000;
let other: HttpServer;
/** What was posted last. */
let posted = 0;
let calls = 0;
/** Characters of an answer without `length`. */
let usual = 10;

beforeAll(async () => {
  other = await serve((seen, response) => {
    calls++;
    if (seen.method === 'POST') posted = seen.body.length;
    const length = Number(new URL(seen.url, 'http://x').searchParams.get('length') ?? usual);
    response.setHeader('content-type', 'text/plain');
    response.end(seen.method === 'POST' ? 'ok' : 'x'.repeat(length));
  });
});
afterAll(() => other.close());

async function run(gateway: TestGateway, definition: Json, input: Json = {}): Promise<{ id: string; body: Json }> {
  const started = await gateway.request('POST', '/api/executions', { json: { definition, input } });
  const id: string = started.body.executionId;
  const { body } = await gateway.request('GET', `/api/executions/${id}/result?wait=60`);
  return { id, body };
}

describe('with the blob store', () => {
  const gateway = sharedGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8', SIGNALBOX_HISTORY_LIMIT: '20' });

  it('takes a page of 5 MB in and out, and continues as new with it', { timeout: 90_000 }, async () => {
    const { id, body } = await run(gateway, {
      name: 'ETL',
      slug: unique('etl'),
      steps: {
        fetch: {
          stepType: 'http',
          config: { url: `${other.url}/?length=${5 * MB}`, maxBytes: 10 * MB },
          nextSteps: { success: 'again' },
        },
        again: { stepType: 'loop', config: { items: [1, 2, 3, 4, 5] }, nextSteps: { loop: 'rest', done: 'send' } },
        rest: { stepType: 'sleep', config: { duration: 5 } },
        send: {
          stepType: 'http',
          config: { method: 'POST', url: other.url, body: '{{ steps.fetch.output.data }}' },
          nextSteps: { success: 'done' },
        },
        done: { stepType: 'finish', config: { output: '{{ steps.fetch.output.data.length }}' } },
      },
    });
    expect(body).toMatchObject({ status: 'completed', output: 5 * MB });
    expect(posted).toBe(5 * MB);
    const steps = await gateway.request('GET', `/api/executions/${id}/steps`);
    expect(steps.status).toBe(200);
    expect(steps.body.items[0].output.data).toHaveLength(5 * MB);
  });

  it.each([
    ['javascript', 'export default (n) => "x".repeat(n)'],
    ['python', 'def main(n): return "é" * n'],
  ])('takes what a script in %s returns, in a run of up to 16 MB', { timeout: 120_000 }, async (language, code) => {
    const config = { language, code, input: '{{ input.n }}', memoryMb: 256, timeoutMs: 60_000 };
    const definition = {
      name: 'Large script',
      slug: unique('large-script'),
      steps: {
        make: { stepType: 'run_code', config, nextSteps: { success: 'done', error: 'told' } },
        done: { stepType: 'finish', config: { output: '{{ steps.make.output.data.length }}' } },
        told: { stepType: 'finish', config: { output: '{{ error.code }}' } },
      },
    };
    expect((await run(gateway, definition, { n: 5 * MB })).body).toMatchObject({ output: 5 * MB });
    expect((await run(gateway, definition, { n: 17 * MB })).body).toMatchObject({ output: 'result_too_large' });
  });

  it('walks the list that ended a run before: 60 items of 28 KB', { timeout: 90_000 }, async () => {
    const items = Array.from({ length: 60 }, (_, id) => ({ id, pad: 'x'.repeat(28_000) }));
    calls = 0;
    const { body } = await run(
      gateway,
      {
        name: 'Grows',
        slug: unique('grows'),
        output: '{{ steps.all.output.data|length }}',
        steps: {
          all: {
            stepType: 'forEach',
            config: { items: '{{ input.items }}', concurrency: 4, onError: 'continue' },
            nextSteps: { item: 'get' },
          },
          get: { stepType: 'http', config: { url: `${other.url}/?length=100000` } },
        },
      },
      { items },
    );
    expect(body).toMatchObject({ status: 'completed', output: 60 });
    expect(calls).toBe(60);
  });

  it('refuses the output of a child that its parent could not be told', { timeout: 90_000 }, async () => {
    const child = unique('large-child');
    await gateway.request('PUT', `/api/workflows/${child}`, {
      json: {
        name: child,
        slug: child,
        steps: { fetch: { stepType: 'http', config: { url: `${other.url}/?length=${3 * MB}`, maxBytes: 4 * MB } } },
      },
    });
    const { body } = await run(gateway, {
      name: 'Parent',
      slug: unique('parent'),
      steps: {
        call: { stepType: 'run_workflow', config: { workflow: child }, nextSteps: { error: 'told' } },
        told: { stepType: 'finish', config: { output: '{{ error.code }}' } },
      },
    });
    expect(body).toMatchObject({ status: 'completed', output: 'result_too_large' });
  });

  it('refuses maxBytes over the ceiling where it is written', async () => {
    const { status, body } = await gateway.request('POST', '/api/executions', {
      json: {
        definition: {
          name: 'Wide',
          slug: unique('wide'),
          steps: { get: { stepType: 'http', config: { url: other.url, maxBytes: 20 * MB } } },
        },
      },
    });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain('maxBytes');
  });
});

describe('without it', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8', SIGNALBOX_BLOBS: 'off' });
  });
  afterAll(() => gateway.close());

  it('fails the step that does not fit, and goes on after a retry that brings less', { timeout: 90_000 }, async () => {
    usual = 1_000_000;
    const { id, body } = await run(
      gateway,
      {
        name: 'Full',
        slug: unique('full'),
        output: '{{ steps.get.output.data.length + input.text.length }}',
        steps: { get: { stepType: 'http', config: { url: other.url } } },
      },
      { text: 'y'.repeat(MB) },
    );
    expect(body).toMatchObject({
      status: 'failed',
      error: { code: 'state_too_large', path: 'get', retryable: true, details: { limit: 1_800_000 } },
    });
    usual = 10;
    const retried = await gateway.request('POST', `/api/executions/${id}/retry`);
    expect(retried.status).toBeLessThan(300);
    const again = await gateway.request('GET', `/api/executions/${id}/result?wait=60`);
    expect(again.body).toMatchObject({ status: 'completed', output: MB + 10 });
  });

  it('refuses maxBytes that only a host with a blob store keeps', async () => {
    const { status, body } = await gateway.request('POST', '/api/executions', {
      json: {
        definition: {
          name: 'Wide',
          slug: unique('wide'),
          steps: { get: { stepType: 'http', config: { url: other.url, maxBytes: 10 * MB } } },
        },
      },
    });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain('SIGNALBOX_BLOBS');
  });
});
