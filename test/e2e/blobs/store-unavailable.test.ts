// Large results of steps while the store of large data is unavailable.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { metricsText } from '../../../src/observe/metrics.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { cli } from '../../cli/terminal.ts';
import { openUnavailableStore, type UnavailableStore } from './unavailable-store.ts';

const HISTORY_BYTES = 700_000;
const STORED_BYTES = 3_000_000;

let other: HttpServer;
beforeAll(async () => {
  other = await serve(({ url }, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end('x'.repeat(Number(new URL(url, 'http://x').searchParams.get('length'))));
  });
});
afterAll(() => other.close());

describe.each([
  ['plain', {}],
  ['encrypted', { SIGNALBOX_CODEC: '1' }],
])('a step with a large result while the store is unavailable, payloads %s', (how, settings) => {
  let store: UnavailableStore;
  beforeAll(async () => {
    store = await openUnavailableStore(settings);
  });
  afterEach(() => store.restore());
  afterAll(() => store.close());

  const started = (path: string, length: number, step: { [name: string]: Json }): Promise<string> =>
    store.start({
      fetch: {
        stepType: 'http',
        ...step,
        config: {
          url: `${other.url}/${how}${path}?length=${length}`,
          maxBytes: 16_000_000,
          ...((step['config'] as object) ?? {}),
        },
        nextSteps: { success: 'done' },
      },
      done: { stepType: 'finish', config: { output: '{{ steps.fetch.output.data.length }}' } },
    });
  /** How often the other side was called, and with how many keys. */
  const callsOf = (path: string): { calls: number; keys: number } => {
    const seen = other.seen.filter(({ url }) => url.startsWith(`/${how}${path}?`));
    return { calls: seen.length, keys: new Set(seen.map(({ headers }) => headers['idempotency-key'])).size };
  };

  it('is called once, says what it waits for, and ends when the store is back', async () => {
    const { gateway } = store;
    store.makeUnavailable();
    const id = await started('/once', STORED_BYTES, { retry: { maxAttempts: 1 } });
    const { body } = await store.waitsForStore(id);
    expect(body).toMatchObject({
      status: 'running',
      waitingFor: [{ kind: 'store', path: 'fetch', stepSlug: 'fetch', attempt: 1, since: expect.any(String) }],
    });
    const shown = await cli(['show', id], { env: { ...gateway.server.env, SIGNALBOX_URL: gateway.url } });
    expect(shown.out).toContain('waits for the store of large data at fetch (attempt 1)');
    store.restore();
    expect(await store.resultOf(id)).toMatchObject({ status: 'completed', output: STORED_BYTES });
    expect(callsOf('/once')).toEqual({ calls: 1, keys: 1 });
    expect((await store.historyOf(id)).length).toBeLessThan(60_000);
    const steps = await gateway.request('GET', `/api/executions/${id}/steps`);
    expect(steps.body.items[0]).toMatchObject({ status: 'completed', output: { data: 'x'.repeat(STORED_BYTES) } });
    expect((await gateway.request('GET', `/api/executions/${id}`)).body.waitingFor).toEqual([]);
  });

  it('goes into history where it fits there', async () => {
    store.makeUnavailable();
    const id = await started('/fits', HISTORY_BYTES, { retry: { maxAttempts: 1 } });
    expect(await store.resultOf(id)).toMatchObject({ status: 'completed', output: HISTORY_BYTES });
    expect(callsOf('/fits')).toEqual({ calls: 1, keys: 1 });
    const steps = await store.gateway.request('GET', `/api/executions/${id}/steps`);
    expect(steps.body.items[0]).toMatchObject({ output: { data: 'x'.repeat(HISTORY_BYTES) } });
    const history = await store.historyOf(id);
    expect(history.length).toBeGreaterThan(HISTORY_BYTES);
    const isPlain = history.includes(Buffer.from('x'.repeat(300)).toString('base64'));
    expect(isPlain).toBe(!('SIGNALBOX_CODEC' in settings));
    expect(await metricsText('worker')).toMatch(
      /^signalbox_blob_failures_total\{operation="store",code="blob_unavailable"\} [1-9]/m,
    );
  });

  it('continues as a regular activity if it is a light one, whatever its attempts', async () => {
    store.makeUnavailable();
    const id = await started('/light', STORED_BYTES, {
      config: { idempotent: true },
      retry: { maxAttempts: 1 },
      fuse: false,
    });
    await store.waitsForStore(id);
    store.restore();
    expect(await store.resultOf(id)).toMatchObject({ status: 'completed', output: STORED_BYTES });
    expect(callsOf('/light')).toEqual({ calls: 2, keys: 1 });
  });
});
