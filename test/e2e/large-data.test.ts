/** Results over 256 KB: kept beside Temporal, read by later steps, by the trace, and after the run has continued as new. */
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepBlobs } from '../../src/client/blob-sweep.ts';
import { firstRunId } from '../../src/client/first-event.ts';
import { readTrace } from '../../src/client/trace.ts';
import type { Definition } from '../../src/definition/types.ts';
import { type TestServer as HttpServer, serve } from '../activities/server.ts';
import { startWorker, type TestWorker } from '../support/temporal.ts';
import { type TestGateway, testGateway } from './gateway-support.ts';
import { startRun, until } from './run-support.ts';

const LARGE = 700_000;
let gateway: TestGateway;
let other: HttpServer;

beforeAll(async () => {
  other = await serve((seen, response) => {
    const length = Number(new URL(seen.url, 'http://x').searchParams.get('length'));
    response.setHeader('content-type', seen.method === 'POST' ? 'application/json' : 'text/plain');
    response.end(seen.method === 'POST' ? JSON.stringify({ got: seen.body.length }) : 'x'.repeat(length));
  });
  gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8', SIGNALBOX_HISTORY_LIMIT: '20' });
});
afterAll(async () => {
  await gateway.close();
  await other.close();
});

const fetching = (length: number, rest: Definition['steps']): Definition => ({
  name: 'Large',
  slug: 'large',
  steps: {
    fetch: {
      stepType: 'http',
      config: { url: `${other.url}/?length=${length}` },
      ...(Object.keys(rest).length === 0 ? {} : { nextSteps: { success: Object.keys(rest)[0]! } }),
    },
    ...rest,
  },
});

async function historyBytes(handle: WorkflowHandle): Promise<number> {
  return JSON.stringify(await handle.fetchHistory()).length;
}

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Nothing else has been stored meanwhile: all tests use one folder, one after the other. */
function grownOld(folder: string): void {
  for (const file of filesOf(folder)) utimesSync(file, 1_000, 1_000);
}

describe('a result over 256 KB', () => {
  it('stands in history as a reference, and later steps, the trace and the answers have it whole', async () => {
    const { server } = gateway;
    const handle = await startRun(
      server,
      fetching(LARGE, {
        send: {
          stepType: 'http',
          config: { url: other.url, body: { text: '{{ steps.fetch.output.data }}' } },
          nextSteps: { success: 'done' },
        },
        done: { stepType: 'finish', config: { output: '{{ steps.fetch.output.data }}' } },
      }),
    );
    expect(await handle.result()).toBe('x'.repeat(LARGE));
    expect(await historyBytes(handle)).toBeLessThan(60_000);
    const { items } = await readTrace(server, handle.workflowId);
    expect(items.map(({ stepSlug }) => stepSlug)).toEqual(['fetch', 'send', 'done']);
    expect(items[0]).toMatchObject({ output: { data: 'x'.repeat(LARGE) } });
    expect(items[1]).toMatchObject({ output: { data: { got: LARGE + '{"text":""}'.length } } });
    const steps = await gateway.request('GET', `/api/executions/${handle.workflowId}/steps`);
    expect(steps.body.items[0].output.data).toHaveLength(LARGE);
    const result = await gateway.request('GET', `/api/executions/${handle.workflowId}/result`);
    expect(result.body.output).toHaveLength(LARGE);
  });

  it('outlives the worker’s memory and continue-as-new', async () => {
    const { server } = gateway;
    await gateway.stopWorker();
    const worker: TestWorker = await startWorker(server, { maxCachedWorkflows: 0 });
    try {
      const handle = await startRun(
        server,
        fetching(LARGE, {
          again: {
            stepType: 'loop',
            config: { items: [1, 2, 3, 4, 5] },
            nextSteps: { loop: 'rest', done: 'done' },
          },
          rest: { stepType: 'sleep', config: { duration: 5 }, nextSteps: { success: 'again' } },
          done: { stepType: 'finish', config: { output: '{{ steps.fetch.output.data.length }}' } },
        }),
      );
      expect(await handle.result()).toBe(LARGE);
      const description = await handle.describe();
      const { runId } = description;
      expect(runId).not.toBe(firstRunId(description));
      expect(await historyBytes(server.client.workflow.getHandle(handle.workflowId, runId))).toBeLessThan(60_000);
      const { items } = await readTrace(server, handle.workflowId);
      expect(items[0]).toMatchObject({ stepSlug: 'fetch', output: { data: 'x'.repeat(LARGE) } });
    } finally {
      await worker.stop();
    }
  });

  it('over the hard limit is a typed failure', async () => {
    const worker = await startWorker(gateway.server);
    try {
      const handle = await startRun(gateway.server, fetching(2_100_000, {}));
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'response_too_large' } });
    } finally {
      await worker.stop();
    }
  });

  it('is removed when its run is gone, and not before', async () => {
    const { server } = gateway;
    const { folder } = server.config.blobs;
    const worker = await startWorker(server);
    try {
      const handle = await startRun(server, fetching(LARGE, {}));
      expect(await handle.result()).toHaveLength(LARGE);
      const { workflowId } = handle;
      const before = filesOf(folder).length;
      expect(await sweepBlobs(server, folder, 30)).toBe(0);
      grownOld(folder);
      // Every payload is older now than the first event that could refer to it, so only young ones are safe: write this one again.
      const again = await startRun(server, fetching(LARGE, {}));
      await again.result();
      const execution = { workflowId };
      await server.client.workflowService.deleteWorkflowExecution({
        namespace: server.namespace,
        workflowExecution: execution,
      });
      await until(
        () =>
          handle.describe().then(
            () => true,
            () => false,
          ),
        (isThere) => !isThere,
      );
      expect(await sweepBlobs(server, folder, 30)).toBeGreaterThan(0);
      expect(filesOf(folder).length).toBeLessThan(before + 2);
      expect(await again.result()).toHaveLength(LARGE);
    } finally {
      await worker.stop();
    }
  });
});
