// A step that runs as a local activity and fails: it continues as a regular activity if its retry or the server says
// so, and its attempts are counted in one row.
import type { WorkflowFailedError, WorkflowHandle } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTrace } from '../../../src/client/runs/trace.ts';
import type { Definition, StepDefinition } from '../../../src/definition/document/types.ts';
import type { TestServer as HttpServer } from '../../activities/server.ts';
import type { TestServer } from '../../support/temporal.ts';
import { readConsistently } from '../runs/consistent-trace.ts';
import { startHttpPeer } from '../runs/http-peer-support.ts';
import { eventTypes, startRun, until } from '../runs/run-support.ts';

const RETRY_AFTER_S = 1;
const times = new Map<string, number[]>();
let other: HttpServer;
let server: TestServer;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ server, other, close } = await startHttpPeer(({ url, headers }, response) => {
    const key = String(headers['idempotency-key']);
    const seen = [...(times.get(key) ?? []), performance.now()];
    times.set(key, seen);
    const isEnough = seen.length > Number(new URL(url, 'http://x').searchParams.get('fails'));
    if (isEnough) response.end('done');
    else if (url.startsWith('/asks')) response.writeHead(503, { 'retry-after': String(RETRY_AFTER_S) }).end();
    else response.writeHead(503).end();
  }));
});
afterAll(() => close());

const local = (path: string, retry: NonNullable<StepDefinition['retry']>): Definition => ({
  name: 'Local',
  slug: 'local-retry',
  steps: { get: { stepType: 'http', config: { url: `${other.url}${path}`, as: 'text' }, local: true, retry } },
});

/** Milliseconds between the requests of the step. */
function pausesOf({ workflowId }: WorkflowHandle): number[] {
  const seen = times.get(`${workflowId}/get`) ?? [];
  return seen.slice(1).map((at, n) => at - seen[n]!);
}

async function attemptsOf(handle: WorkflowHandle) {
  const { live, folded } = await readConsistently(server, handle);
  expect(folded).toEqual(live);
  return (await readTrace(server, handle.workflowId)).items.map(({ attempts, error }) => [attempts, error?.attempts]);
}

describe('a local step that fails', () => {
  it('retries after the first interval, then the next one, and all attempts count', async () => {
    const handle = await startRun(
      server,
      local('/?fails=2', { maxAttempts: 3, initialInterval: '500ms', backoffCoefficient: 3 }),
    );
    expect(await handle.result()).toBe('done');
    const [first, second] = pausesOf(handle);
    expect(first).toBeGreaterThanOrEqual(495);
    expect(second).toBeGreaterThanOrEqual(1_495);
    expect(await attemptsOf(handle)).toEqual([[3, undefined]]);
  });

  it('waits for as long as the other side asks', async () => {
    const handle = await startRun(server, local('/asks?fails=2', { maxAttempts: 3, initialInterval: '10ms' }));
    expect(await handle.result()).toBe('done');
    for (const pause of pausesOf(handle)) expect(pause).toBeGreaterThanOrEqual(RETRY_AFTER_S * 1_000 - 5);
  });

  it('reports all attempts when it gives up', async () => {
    const handle = await startRun(server, local('/?fails=9', { maxAttempts: 3, initialInterval: '10ms' }));
    const failed = (await handle.result().catch((error: unknown) => error)) as WorkflowFailedError;
    const told = { code: 'http_status', path: 'get', attempts: 3 };
    expect((failed.cause as ApplicationFailure).details?.[0]).toMatchObject(told);
    expect(pausesOf(handle)).toHaveLength(2);
    expect(await attemptsOf(handle)).toEqual([[3, 3]]);
  });

  it('is not tried again where it may not be', async () => {
    const handle = await startRun(server, local('/?fails=9', { maxAttempts: 1 }));
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'http_status' } });
    expect(await eventTypes(handle)).not.toContain('timerStarted');
    expect(await attemptsOf(handle)).toEqual([[1, 1]]);
  });

  it('ends its pause when the run is cancelled, and reports its attempts while it is tried', async () => {
    const waiting = await startRun(server, local('/?fails=9', { maxAttempts: 3, initialInterval: '10m' }));
    await until(
      () => eventTypes(waiting),
      (types) => types.includes('timerStarted'),
    );
    expect(await attemptsOf(waiting)).toEqual([[1, undefined]]);
    await waiting.cancel();
    await expect(waiting.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(pausesOf(waiting)).toEqual([]);

    const trying = await startRun(
      server,
      local('/?fails=9', {
        maxAttempts: 3,
        initialInterval: '10ms',
        backoffCoefficient: 100_000,
        maximumInterval: '10m',
      }),
    );
    // The regular activity waits for its second attempt.
    await until(
      () => readTrace(server, trying.workflowId),
      ({ items }) => items[0]?.attempts === 3,
    );
    await trying.cancel();
  });
});
