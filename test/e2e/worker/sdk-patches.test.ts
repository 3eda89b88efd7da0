// With SIGNALBOX_SDK_PATCHES=0 the SDK stays as it is (src/temporal-internals), and runs give the same results.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { compiledRoot, projectRoot } from '../../../src/cli/start/project-root.ts';
import { PRELUDE, withoutPromiseHook } from '../../../src/temporal-internals/promise-prelude.ts';
import { workflowBundle } from '../../../workers/bundle.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { type DataFolder, dataFolder, type Stack, startStack } from '../../support/stack.ts';
import { forkWorker, sharedServer } from '../../support/temporal.ts';
import { type Answer, approvalDefinition, echoDefinition, requestTo } from '../gateway/gateway-support.ts';

const CANARY = 'canary-5d03e1';
const LARGE = 700_000;
const ITEMS = 12;

let other: HttpServer;
beforeAll(async () => {
  other = await serve(({ url }, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end('x'.repeat(Number(new URL(url, 'http://x').searchParams.get('length') ?? 3)));
  });
});
afterAll(() => other.close());

/** The environment with which processes write what they have changed, and what a program wrote. */
function observedChanges() {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-sdk-'));
  const observer = pathToFileURL(join(projectRoot(), 'test/support/sdk-changes.mjs')).href;
  return {
    env: { NODE_OPTIONS: `--import ${observer}`, SDK_CHANGES: folder },
    changesOf: (program: string): unknown => JSON.parse(readFileSync(join(folder, `${program}.json`), 'utf8')),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

describe.each(['0', '1'])('a stack with SIGNALBOX_SDK_PATCHES=%s and encryption', (sdkPatches) => {
  const observed = observedChanges();
  let folder: DataFolder;
  let stack: Stack;
  let url: string;
  beforeAll(async () => {
    folder = dataFolder();
    stack = await startStack(folder.path, {
      ...observed.env,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      TEMPORAL_NAMESPACE: `signalbox-test-patches-${randomBytes(4).toString('hex')}`,
      SIGNALBOX_SDK_PATCHES: sdkPatches,
      SIGNALBOX_CODEC: '1',
      SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8',
    });
    url = stack.note.gateway!.url;
  });
  afterAll(() => {
    folder.remove();
    observed.remove();
  });

  const ask = (method: string, path: string, json?: object): Promise<Answer> =>
    requestTo(url, method, path, json === undefined ? {} : { json: json as never });
  async function started(definition: object, input: object = {}): Promise<string> {
    const { status, body } = await ask('POST', '/api/executions', { definition, input });
    expect(status, JSON.stringify(body)).toBe(201);
    return body.executionId;
  }
  const ended = async (id: string): Promise<Answer['body']> =>
    (await ask('GET', `/api/executions/${id}/result?wait=30`)).body;
  const review = async (id: string, approve: boolean): Promise<void> => {
    const isWaiting = async () => (await ask('GET', `/api/executions/${id}`)).body.status === 'waiting';
    await expect.poll(isWaiting).toBe(true);
    expect((await ask('POST', `/api/executions/${id}/approve`, { approve })).status).toBe(200);
  };
  const eventsOf = async (id: string) => (await stack.client.workflow.getHandle(id).fetchHistory()).events ?? [];

  it('decides approvals, hides what they hold, and starts by the worker only where it may', async () => {
    const id = await started(approvalDefinition('refund'), { amount: CANARY });
    await review(id, true);
    expect(await ended(id)).toMatchObject({ status: 'completed', output: { paid: CANARY } });
    const events = await eventsOf(id);
    const bytes = Buffer.concat(bytesIn(events));
    expect([bytes.length > 0, bytes.includes(CANARY)]).toEqual([true, false]);
    const { eagerExecutionAccepted } = events[0]?.workflowExecutionStartedEventAttributes ?? {};
    expect(eagerExecutionAccepted === true).toBe(sdkPatches === '1');
  });

  it('ends a run as cancelled that cancels itself', async () => {
    const steps = {
      review: {
        stepType: 'approval',
        config: { message: 'Well?', onReject: 'cancel' },
        nextSteps: { approved: 'end', rejected: 'end' },
      },
      end: { stepType: 'finish', config: { output: 1 } },
    };
    const id = await started({ name: 'Cancels', slug: 'cancels', steps });
    await review(id, false);
    expect(await ended(id)).toMatchObject({ status: 'cancelled' });
    expect((await eventsOf(id)).at(-1)).toHaveProperty('workflowExecutionCanceledEventAttributes');
  });

  it('stores large inputs and results outside of Temporal, encrypted, for a child too', async () => {
    expect((await ask('PUT', '/api/workflows/echo', echoDefinition('echo'))).status).toBe(201);
    const steps = {
      fetch: {
        stepType: 'http',
        config: { url: `${other.url}/?length=${LARGE}` },
        nextSteps: { success: 'call' },
      },
      call: {
        stepType: 'run_workflow',
        config: { workflow: 'echo', input: { text: '{{ steps.fetch.output.data }}', note: '{{ input.note }}' } },
        nextSteps: { success: 'done' },
      },
      done: { stepType: 'finish', config: { output: '{{ steps.call.output.data }}' } },
    };
    const note = CANARY.repeat(LARGE / CANARY.length);
    const id = await started({ name: 'Large', slug: 'large', steps }, { note });
    const { status, output } = await ended(id);
    expect(status).toBe('completed');
    expect(output.text === 'x'.repeat(LARGE) && output.note === note).toBe(true);
    const { body } = await ask('GET', `/api/executions/${id}/steps`);
    expect(body.items.map((item: { status: string }) => item.status)).toEqual(['completed', 'completed', 'completed']);
    const blobs = filesUnder(join(folder.path, 'blobs')).map((file) => readFileSync(file));
    expect(blobs.filter((blob) => blob.length > LARGE / 2).length).toBeGreaterThan(1);
    expect(blobs.some((blob) => blob.includes(CANARY) || blob.includes('xxxxxxxxxx'))).toBe(false);
  });

  it('runs light steps together', async () => {
    const steps = {
      each: {
        stepType: 'forEach',
        config: { items: Array.from({ length: ITEMS }, (_, n) => n), concurrency: 1 },
        nextSteps: { item: 'get', done: 'done' },
      },
      get: { stepType: 'http', config: { url: `${other.url}/`, as: 'text', idempotent: true } },
      done: { stepType: 'finish', config: { output: '{{ steps.each.output.data.length }}' } },
    };
    const id = await started({ name: 'Light', slug: 'light', steps });
    expect((await ended(id)).status).toBe('completed');
    const activities = (await eventsOf(id)).filter(
      (event) => event.markerRecordedEventAttributes || event.activityTaskScheduledEventAttributes,
    );
    expect(activities.length).toBeLessThan(ITEMS);
    const { body } = await ask('GET', `/api/executions/${id}/steps?limit=100`);
    const gets = body.items.filter((item: { stepSlug: string }) => item.stepSlug === 'get');
    expect(gets.map((item: { status: string }) => item.status)).toEqual(new Array(ITEMS).fill('completed'));
  });

  it('has changed nothing in the SDK, unless it may', async () => {
    expect(await stack.end('SIGTERM')).toBe(0);
    const storage = ['externalStorage', 'storageOptions'];
    const expected =
      sdkPatches === '1'
        ? { gateway: storage, worker: ['externalStorage', 'logger', 'storageOptions', 'thread'] }
        : { gateway: [], worker: [] };
    const changed = { gateway: observed.changesOf('start.mjs'), worker: observed.changesOf('main.js') };
    expect(changed).toEqual(expected);
  });
});

describe('a worker without encryption', () => {
  const { server } = sharedServer();

  it.each([
    ['0', []],
    ['1', ['codec', 'externalStorage', 'logger', 'storageOptions', 'thread']],
  ])('with SIGNALBOX_SDK_PATCHES=%s changes %j', async (sdkPatches, changed) => {
    const observed = observedChanges();
    const worker = await forkWorker(server, { ...observed.env, SIGNALBOX_SDK_PATCHES: sdkPatches });
    await worker.end();
    expect(observed.changesOf('main.js')).toEqual(changed);
    observed.remove();
  });

  it("takes the bundle as it is built, or with the SDK's own promise hook", () => {
    const file = join(compiledRoot(), 'workflow-bundle.js');
    const code = readFileSync(file, 'utf8');
    expect(workflowBundle(file, { sdkPatches: true })).toEqual({ codePath: file });
    const without = workflowBundle(file, { sdkPatches: false });
    expect([code.startsWith(PRELUDE), without]).toEqual([true, { code: withoutPromiseHook(code) }]);
  });
});

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** All bytes in the value. */
function bytesIn(value: unknown): Uint8Array[] {
  if (value instanceof Uint8Array) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(bytesIn) : [];
}
