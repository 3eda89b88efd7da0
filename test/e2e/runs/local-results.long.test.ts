/** Results of local activities leave with their workflow task, which the server limits to 4 MB. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTrace } from '../../../src/client/runs/trace.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { startWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { startRun } from './run-support.ts';

const LENGTH = 200_000;
let other: HttpServer;
beforeAll(async () => {
  other = await serve((_seen, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end('x'.repeat(LENGTH));
  });
});
afterAll(() => other.close());

const fetching = (): Definition['steps'][string] => ({ stepType: 'http', config: { url: other.url }, local: true });
const last = { stepType: 'finish', config: { output: '{{ steps.fetch.output.data.length }}' } } as const;
const round = (): Definition => ({
  name: 'Round',
  slug: 'round',
  config: { fuse: false },
  steps: {
    again: { stepType: 'loop', config: { while: 'loop.index < 30' }, nextSteps: { loop: 'fetch', done: 'done' } },
    fetch: { ...fetching(), nextSteps: { success: 'again' } },
    done: last,
  },
});
const abreast = (): Definition => ({
  name: 'Abreast',
  slug: 'abreast',
  config: { fuse: false },
  output: '{{ outputs.all|length }}',
  steps: {
    each: {
      stepType: 'forEach',
      config: { items: Array.from({ length: 30 }, (_, i) => i), concurrency: 30 },
      nextSteps: { item: 'fetch' },
      outputVariable: 'all',
    },
    fetch: { ...fetching(), nextSteps: { success: 'size' } },
    size: { stepType: 'mapping', config: { output: '{{ lastOutput.data.length }}' } },
  },
});

async function kindsOf(server: TestServer, workflowId: string): Promise<{ local: number; regular: number }> {
  const history = await server.client.workflow.getHandle(workflowId).fetchHistory();
  const events = history.events ?? [];
  return {
    local: events.filter((event) => event.markerRecordedEventAttributes?.markerName === 'core_local_activity').length,
    regular: events.filter((event) => event.activityTaskScheduledEventAttributes).length,
  };
}

describe.each([
  ['with a blob store', {}],
  ['without', { SIGNALBOX_BLOBS: 'off' }],
])('30 local results of 200 KB, %s', (_, settings) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await testServer({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8', ...settings });
  });
  afterAll(() => server.close());

  it.each([100, 0])(
    'one after the other, with %i runs cached: both ways are taken, and the run ends',
    async (cache) => {
      const worker = await startWorker(server, { maxCachedWorkflows: cache });
      try {
        const handle = await startRun(server, round());
        expect(await handle.result()).toBe(LENGTH);
        const { local, regular } = await kindsOf(server, handle.workflowId);
        expect(local).toBeGreaterThan(5);
        expect(regular).toBeGreaterThan(2);
        expect(local + regular).toBe(30);
        const { items, uncertain } = await readTrace(server, handle.workflowId);
        expect(items.filter(({ stepSlug, status }) => stepSlug === 'fetch' && status === 'completed')).toHaveLength(30);
        expect(uncertain).toBe(false);
      } finally {
        await worker.stop();
      }
    },
  );

  it('side by side: as many begin locally as fit whatever they answer', async () => {
    const worker = await startWorker(server);
    try {
      const handle = await startRun(server, abreast());
      expect(await handle.result()).toBe(30);
      const { local, regular } = await kindsOf(server, handle.workflowId);
      expect(local).toBeGreaterThan(0);
      expect(local + regular).toBe(30);
    } finally {
      await worker.stop();
    }
  });
});
