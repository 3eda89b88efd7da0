// Large payloads in a bucket, on a real S3 server that checks signatures (deploy/s3).
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BlobStore, OWNER_FILE } from '../../../src/client/payloads/blob-store.ts';
import { blobStorage } from '../../../src/client/payloads/external-storage.ts';
import { probeBlobStore } from '../../../src/client/payloads/open-blob-store.ts';
import { s3Store } from '../../../src/client/payloads/s3-store.ts';
import { sweepBlobs } from '../../../src/client/runs/blob-sweep.ts';
import { readBlobSettings, type S3Settings } from '../../../src/config/blob-settings.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { cli } from '../../cli/terminal.ts';
import { itIsABlobStore, type StoreUnderTest } from '../../client/blob-stores.ts';
import { type S3Server, startS3 } from '../../support/s3.ts';
import { dataFolder, startStack } from '../../support/stack.ts';
import { type ForkedWorker, forkWorker, startWorker, testServer } from '../../support/temporal.ts';
import { requestTo, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';
import { startRun } from './run-support.ts';

const LARGE = 700_000;
/** Has no room in the history. */
const LARGER = 3_000_000;
const BUILD_MS = 900_000;
let s3: S3Server;
let other: HttpServer;

beforeAll(async () => {
  s3 = await startS3();
  other = await serve(({ url }, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end('x'.repeat(Number(new URL(url, 'http://x').searchParams.get('length') ?? LARGE)));
  });
}, BUILD_MS);
afterAll(async () => {
  await other?.close();
  await s3?.close();
});

const settingsOf = (env: Record<string, string>): S3Settings => readBlobSettings(env, 'data').s3!;
const payloadsIn = (bucket: string, prefix: string): string[] =>
  readdirSync(s3.fileOf(bucket, prefix), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== OWNER_FILE)
    .map((entry) => join(entry.parentPath, entry.name));

/** Fetches a large text, waits for an approval, and gives its length. */
const fetching = (slug: string, waits: boolean, length = LARGE) => ({
  name: 'Large',
  slug,
  steps: {
    fetch: {
      stepType: 'http',
      config: { url: `${other.url}/?length=${length}`, maxBytes: 16_000_000 },
      nextSteps: { success: waits ? 'wait' : 'done' },
    },
    ...(waits ? { wait: { stepType: 'approval', config: { message: 'On?' }, nextSteps: { approved: 'done' } } } : {}),
    done: { stepType: 'finish', config: { output: '{{ steps.fetch.output.data.length }}' } },
  },
});

describe('a bucket', () => {
  let under: StoreUnderTest;
  beforeAll(async () => {
    const settings = settingsOf(s3.settings(`${await s3.bucket()}/some/prefix`));
    const credentials = { ...settings.credentials!, secretAccessKey: 'another-secret-key' };
    under = {
      store: s3Store(settings),
      denied: s3Store({ ...settings, credentials }),
      unreachable: async (act) => {
        await s3.stop();
        try {
          return await act();
        } finally {
          await s3.start();
        }
      },
    };
  });
  itIsABlobStore(() => under);

  it('says why it refuses', async () => {
    const settings = settingsOf(s3.settings(await s3.bucket()));
    const probed = (change: Partial<S3Settings>) =>
      s3Store({ ...settings, ...change })
        .write({ place: 'a'.repeat(64), name: 'b'.repeat(64) }, Buffer.from('x'))
        .catch((error: { reason?: string }) => error.reason);
    const { accessKeyId } = settings.credentials!;
    expect(await probed({})).toBeUndefined();
    expect(await probed({ bucket: 'no-such-bucket' })).toBe('NoSuchBucket');
    expect(await probed({ credentials: { accessKeyId, secretAccessKey: 'wrong' } })).toBe('SignatureDoesNotMatch');
    expect(await probed({ region: 'eu-west-1' })).toBe('AuthorizationHeaderMalformed');
  });

  it('is there as soon as the server of deploy/compose.yaml is', async () => {
    await probeBlobStore(s3Store(settingsOf(s3.settings('signalbox/blobs'))));
  });

  it('lists more than a page of a thousand', async () => {
    const store = s3Store(settingsOf(s3.settings(await s3.bucket())));
    const nameOf = (n: number): string => n.toString(16).padStart(64, '0');
    for (let at = 0; at < 1_050; at += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, n) => store.write({ place: nameOf(1), name: nameOf(at + n) }, Buffer.from('x'))),
      );
    const names = new Set<string>();
    for await (const { name } of store.list()) names.add(name);
    expect(names.size).toBe(1_050);
  });
});

describe('runs with payloads in a bucket', () => {
  let gateway: TestGateway;
  let worker: ForkedWorker;
  let bucket: string;
  let store: BlobStore;
  beforeAll(async () => {
    bucket = await s3.bucket();
    const settings = s3.settings(`${bucket}/runs`);
    gateway = await testGateway({ ...settings, SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
    // The process that runs in production, with credentials from its environment.
    await gateway.stopWorker();
    worker = await forkWorker(gateway.server);
    store = s3Store(settingsOf(settings));
  });
  afterAll(async () => {
    await worker?.end();
    await gateway?.close();
  });

  const started = (definition: JsonObject): Promise<string> => gateway.startInline(definition);
  const statusNow = async (id: string): Promise<string> =>
    (await gateway.request('GET', `/api/executions/${id}`)).body.status;
  const statusOf = (id: string, status: string) =>
    gateway.until(`/api/executions/${id}`, ({ body }) => body.status === status, 60);

  it('go through worker and gateway, which read the complete payload', async () => {
    const id = await started(fetching(unique('s3'), false));
    const result = await gateway.request('GET', `/api/executions/${id}/result?wait=60`);
    expect(result.body).toMatchObject({ status: 'completed', output: LARGE });
    const steps = await gateway.request('GET', `/api/executions/${id}/steps`);
    expect(steps.body.items[0].output.data).toBe('x'.repeat(LARGE));
    expect(payloadsIn(bucket, 'runs').length).toBeGreaterThan(0);
    const { folder } = gateway.server.config.blobs;
    expect(existsSync(folder)).toBe(false);
    const history = JSON.stringify(await gateway.server.client.workflow.getHandle(id).fetchHistory());
    expect(history.length).toBeLessThan(60_000);
    for (const secret of [bucket, s3.endpoint, ...Object.values(s3.keys)]) expect(history).not.toContain(secret);
  });

  it('wait while the bucket is unavailable, get a typed answer, and continue later without another call', async () => {
    const id = await started(fetching(unique('s3-away'), true));
    await statusOf(id, 'waiting');
    await s3.stop();
    try {
      const steps = await gateway.request('GET', `/api/executions/${id}/steps`);
      expect(steps).toMatchObject({ status: 200, body: { unreadable: { code: 'blob_unavailable' } } });
      const next = await started(fetching(unique('s3-meanwhile'), false, LARGER));
      const waits = await gateway.until(`/api/executions/${next}`, ({ body }) => body.waitingFor.length > 0);
      expect(waits.body).toMatchObject({ status: 'running', waitingFor: [{ kind: 'store', path: 'fetch' }] });
      // The history has room for it.
      const soon = await started(fetching(unique('s3-history'), false));
      const early = await gateway.request('GET', `/api/executions/${soon}/result?wait=60`);
      expect(early.body).toMatchObject({ status: 'completed', output: LARGE });
      expect(await statusNow(next)).toBe('running');
      const calls = other.seen.length;
      await s3.start();
      const late = await gateway.request('GET', `/api/executions/${next}/result?wait=60`);
      expect(late.body).toMatchObject({ status: 'completed', output: LARGER });
      expect(other.seen).toHaveLength(calls);
    } finally {
      await s3.stop();
      await s3.start();
    }
    expect((await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } })).status).toBe(
      200,
    );
    const result = await gateway.request('GET', `/api/executions/${id}/result?wait=60`);
    expect(result.body).toMatchObject({ status: 'completed', output: LARGE });
  });

  it('do not take a payload that was changed for the one that was stored', async () => {
    const before = new Set(payloadsIn(bucket, 'runs'));
    const id = await started(fetching(unique('s3-changed'), false));
    await statusOf(id, 'completed');
    const files = payloadsIn(bucket, 'runs').filter((file) => !before.has(file));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) writeFileSync(file, readFileSync(file, 'latin1').replace('xx', 'xy'), 'latin1');
    const steps = await gateway.request('GET', `/api/executions/${id}/steps`);
    expect(steps).toMatchObject({ status: 200, body: { unreadable: { code: 'blob_damaged' } } });
    expect(JSON.stringify(steps.body)).not.toContain(bucket);
  });

  it('keep what they need, and the sweep removes what no run needs', async () => {
    const id = await started(fetching(unique('s3-open'), true));
    await statusOf(id, 'waiting');
    const open = payloadsIn(bucket, 'runs');
    const { namespace } = gateway.server;
    const target = { kind: 'workflow', namespace, id: unique('run.default.gone'), type: 'run' } as const;
    const [claim] = await blobStorage(store, true).drivers[0]!.store({ target }, [{ data: Buffer.from('nobody') }]);
    const { place, digest } = claim!.claimData as { place: string; digest: string };
    // Young: nothing goes.
    expect(await sweepBlobs(gateway.server, store, 30)).toBe(0);
    // Two days on: whatever is asked for now is older than the retention.
    expect(await sweepBlobs(gateway.server, store, -2)).toBe(1);
    expect(existsSync(s3.fileOf(bucket, `runs/${place}/${digest}`))).toBe(false);
    expect(existsSync(s3.fileOf(bucket, `runs/${place}/${OWNER_FILE}`))).toBe(false);
    expect(payloadsIn(bucket, 'runs').sort()).toEqual(open.sort());
    expect((await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } })).status).toBe(
      200,
    );
    const result = await gateway.request('GET', `/api/executions/${id}/result?wait=60`);
    expect(result.body).toMatchObject({ status: 'completed', output: LARGE });
  });

  describe('signalbox doctor', () => {
    const doctor = async (change: NodeJS.ProcessEnv = {}) => {
      const { exit, out, err } = await cli(['doctor', '--json'], { env: { ...gateway.server.env, ...change } });
      for (const secret of [s3.keys['AWS_SECRET_ACCESS_KEY']!, 'another-secret'])
        expect(out + err).not.toContain(secret);
      const found = JSON.parse(out).find(({ check }: { check: string }) => check === 'large payloads');
      return { exit, found };
    };

    it('finds that the bucket can be used', async () => {
      expect(await doctor()).toMatchObject({ exit: 0, found: { level: 'ok', text: expect.stringContaining(bucket) } });
    });

    it.each([
      ['another secret', { AWS_SECRET_ACCESS_KEY: 'another-secret' }, 'AWS_SECRET_ACCESS_KEY=…'],
      ['no credentials', { AWS_ACCESS_KEY_ID: '' }, 'AWS_ACCESS_KEY_ID=…'],
    ])('ends with exit code 10 with %s, and says what to set', async (_what, change, line) => {
      const { exit, found } = await doctor(change);
      expect([exit, found.level]).toEqual([10, 'blocks']);
      expect(found.lines).toContain(line);
    });

    it('ends with exit code 10 without the bucket, and says how to make it', async () => {
      const { exit, found } = await doctor(s3.settings('not-there-yet'));
      expect([exit, found.level]).toEqual([10, 'blocks']);
      expect(found.lines).toEqual([`aws s3 mb s3://not-there-yet --region us-east-1 --endpoint-url ${s3.endpoint}`]);
    });

    it('ends with exit code 10 while the server is unavailable', async () => {
      await s3.stop();
      try {
        const { exit, found } = await doctor();
        expect([exit, found.level]).toEqual([10, 'blocks']);
        expect(found.text).toContain('ECONNREFUSED');
        expect(found.lines).toContain(`curl -sI ${s3.endpoint}`);
      } finally {
        await s3.start();
      }
    });
  });
});

it('objects are ciphertext where all payloads are encrypted', async () => {
  const bucket = await s3.bucket();
  const settings = { ...s3.settings(bucket), SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8', SIGNALBOX_CODEC: '1' };
  const server = await testServer(settings);
  const worker = await startWorker(server);
  try {
    const handle = await startRun(server, fetching('s3-codec', false) as never);
    expect(await handle.result()).toBe(LARGE);
    const files = payloadsIn(bucket, '');
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(readFileSync(file, 'latin1')).not.toContain('xxxxxxxx');
  } finally {
    await worker.stop();
    await server.close();
  }
});

it('a backup of a stack holds its objects, and is restored into another bucket', async () => {
  const [from, to] = [await s3.bucket(), await s3.bucket()];
  const [folder, restored] = [dataFolder(), dataFolder()];
  const file = join(folder.path, 'signalbox.backup');
  const stack = await startStack(folder.path, { ...s3.settings(from), SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
  try {
    const url = stack.note.gateway!.url;
    const definition = fetching('s3-backup', false);
    const { body } = await requestTo(url, 'POST', '/api/executions', { json: { definition } });
    const result = await requestTo(url, 'GET', `/api/executions/${body.executionId}/result?wait=60`, {});
    expect(result.body).toMatchObject({ status: 'completed', output: LARGE });
    const env = { SIGNALBOX_DATA: folder.path, ...s3.settings(from) };
    const done = await cli(['backup', file, '--json'], { env });
    expect(done.err).toBe('');
    expect(JSON.parse(done.out).blobs).toBeGreaterThan(1);
    const target = { SIGNALBOX_DATA: restored.path, ...s3.settings(to) };
    expect(await cli(['restore', file], { env: target })).toMatchObject({ exit: 0, err: '' });
  } finally {
    await stack.end('SIGTERM');
    folder.remove();
    restored.remove();
  }
  const namesIn = (bucket: string) => payloadsIn(bucket, '').map((path) => path.split(`/${bucket}/`)[1]);
  expect(namesIn(to).length).toBeGreaterThan(0);
  expect(namesIn(to).sort()).toEqual(namesIn(from).sort());
});
