// The stores of large payloads: a folder, and what a bucket of S3 does while its server fails. What a bucket does with
// a server is in test/e2e/runs/blobs-s3.long.test.ts.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { folderStore } from '../../src/client/payloads/folder-store.ts';
import { s3Store, urlOf } from '../../src/client/payloads/s3-store.ts';
import { readBlobSettings } from '../../src/config/blob-settings.ts';
import { readConfig } from '../../src/config/config.ts';
import { itIsABlobStore, type StoreUnderTest } from './blob-stores.ts';

const KEYS = { AWS_ACCESS_KEY_ID: 'the-key-id', AWS_SECRET_ACCESS_KEY: 'the-secret-key' };
const BLOB = { place: 'a'.repeat(64), name: 'b'.repeat(64) };

describe('a folder', () => {
  let under: StoreUnderTest;
  let base: string;
  beforeAll(() => {
    base = mkdtempSync(join(tmpdir(), 'signalbox-stores-'));
    const root = join(base, 'blobs');
    const closed = join(base, 'closed');
    mkdirSync(closed, { mode: 0o000 });
    under = {
      store: folderStore(root),
      // Nothing is closed to root.
      ...(process.getuid?.() === 0 ? {} : { denied: folderStore(closed) }),
      unreachable: async (act) => {
        renameSync(root, `${root}-moved`);
        writeFileSync(root, 'a file in its place');
        const result = await act();
        rmSync(root);
        renameSync(`${root}-moved`, root);
        return result;
      },
    };
  });
  afterAll(() => rmSync(base, { recursive: true, force: true }));
  itIsABlobStore(() => under);
});

/** A server that answers as given, and counts the requests. */
async function serverThat(answer: (response: ServerResponse, n: number) => void) {
  let asked = 0;
  const server: Server = createServer((request, response) => {
    asked += 1;
    request.resume();
    answer(response, asked);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  const { port } = server.address() as AddressInfo;
  const { s3 } = readBlobSettings(
    { SIGNALBOX_BLOBS: `s3://bucket?endpoint=http://127.0.0.1:${port}`, ...KEYS },
    'data',
  );
  return { settings: s3!, asked: () => asked };
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const error = (code: string): string => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>m</Message></Error>`;

describe('a bucket whose server fails', () => {
  it.each([
    [500, 'InternalError'],
    [503, 'SlowDown'],
    [429, 'TooManyRequests'],
    [400, 'RequestTimeout'],
  ])('is asked again after %i %s', async (status, code) => {
    const { settings, asked } = await serverThat((response, n) =>
      n < 3 ? response.writeHead(status).end(error(code)) : response.writeHead(200).end('content'),
    );
    expect(Buffer.from(await s3Store(settings).read(BLOB)).toString()).toBe('content');
    expect(asked()).toBe(3);
  });

  it('is unavailable after three such answers, with the reason that it gave', async () => {
    const { settings, asked } = await serverThat((response) => response.writeHead(503).end(error('SlowDown')));
    await expect(s3Store(settings).read(BLOB)).rejects.toMatchObject({ code: 'blob_unavailable', reason: 'SlowDown' });
    expect(asked()).toBe(3);
  });

  it('is unavailable where nothing listens', async () => {
    const { settings } = await serverThat(() => undefined);
    servers.splice(0)[0]?.close();
    await expect(s3Store(settings).write(BLOB, Buffer.from('x'))).rejects.toMatchObject({
      code: 'blob_unavailable',
      reason: 'ECONNREFUSED',
    });
  });

  it.each([
    ['never answers', () => undefined],
    ['begins an answer and stops', (response: ServerResponse) => void response.writeHead(200).write('half')],
  ])('is unavailable where it %s', async (_what, answer) => {
    const { settings, asked } = await serverThat(answer);
    await expect(s3Store(settings, { attemptMs: 100 }).read(BLOB)).rejects.toMatchObject({
      code: 'blob_unavailable',
      reason: 'no answer in time',
    });
    expect(asked()).toBe(3);
  });

  it('is left alone when the caller gives up', async () => {
    const { settings, asked } = await serverThat(() => undefined);
    const caller = new AbortController();
    const reading = s3Store(settings).read(BLOB, caller.signal);
    await expect.poll(asked).toBe(1);
    caller.abort();
    await expect(reading).rejects.toMatchObject({ code: 'blob_unavailable' });
    expect(asked()).toBe(1);
  });

  it.each([
    [403, 'SignatureDoesNotMatch'],
    [403, 'AccessDenied'],
    [301, 'PermanentRedirect'],
    [400, 'AuthorizationHeaderMalformed'],
  ])('is not asked again after %i %s, which is denied', async (status, code) => {
    const { settings, asked } = await serverThat((response) => response.writeHead(status).end(error(code)));
    await expect(s3Store(settings).read(BLOB)).rejects.toMatchObject({ code: 'blob_denied', reason: code });
    expect(asked()).toBe(1);
  });

  it('cannot fill the memory with what is no payload', async () => {
    const endless = function* () {
      for (;;) yield Buffer.alloc(1_000_000);
    };
    const { settings, asked } = await serverThat((response) => Readable.from(endless()).pipe(response));
    await expect(s3Store(settings).read(BLOB)).rejects.toMatchObject({ code: 'blob_damaged' });
    expect(asked()).toBe(1);
  });

  it('cannot put its own words into messages', async () => {
    const { settings } = await serverThat((response) => response.writeHead(403).end(error('the secret: <b>x</b>')));
    await expect(s3Store(settings).read(BLOB)).rejects.toMatchObject({ code: 'blob_denied', reason: 'status 403' });
  });

  it('follows its pages, and leaves out what is not ours', async () => {
    const keys = [`${BLOB.place}/${BLOB.name}`, `${BLOB.place}/owner.json`, 'x/y', `${BLOB.place}/a/b`, 'doctor/1'];
    const pages: (string | null)[] = [];
    const { settings } = await serverThat((response, n) => {
      const key = keys[n - 1]!;
      const content = `<Contents><Key>${key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>`;
      const more = n < keys.length;
      const next = more ? `<NextContinuationToken>${n}&amp;+</NextContinuationToken>` : '';
      pages.push(new URL(response.req.url!, 'http://x').searchParams.get('continuation-token'));
      response.end(`<ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${content}</ListBucketResult>`);
    });
    const found = [];
    for await (const blob of s3Store(settings).list()) found.push(blob);
    const writtenAt = Date.parse('2026-01-02T03:04:05Z');
    expect(found).toEqual([
      { ...BLOB, writtenAt },
      { place: BLOB.place, name: 'owner.json', writtenAt },
    ]);
    expect(pages).toEqual([null, '1&+', '2&+', '3&+', '4&+']);
  });

  it('gets nothing that is not signed with the whole content', async () => {
    const { settings } = await serverThat((response) => {
      const { authorization = '', 'x-amz-content-sha256': hash, 'x-amz-security-token': token } = response.req.headers;
      response.end(JSON.stringify({ authorization, hash, token }));
    });
    const credentials = { ...settings.credentials!, sessionToken: 'the-session' };
    const seen = JSON.parse(Buffer.from(await s3Store({ ...settings, credentials }).read(BLOB)).toString());
    expect(seen.authorization).toContain('Credential=the-key-id/');
    expect(seen.authorization).toContain('x-amz-content-sha256;x-amz-date;x-amz-security-token');
    expect(seen.authorization).not.toContain('the-secret-key');
    expect(seen).toMatchObject({ token: 'the-session', hash: expect.stringMatching(/^e3b0c442/) });
  });

  it('is denied without credentials, and nothing is sent', async () => {
    const { settings, asked } = await serverThat((response) => response.end());
    const { credentials: _, ...without } = settings;
    await expect(s3Store(without).read(BLOB)).rejects.toMatchObject({
      code: 'blob_denied',
      reason: 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set',
    });
    expect(asked()).toBe(0);
  });
});

describe('SIGNALBOX_BLOBS', () => {
  const s3Of = (value: string, env: Record<string, string> = {}) =>
    readConfig({ SIGNALBOX_BLOBS: value, SIGNALBOX_DATA: '/data', ...env }).blobs;

  it('names a bucket, a prefix, a server and a region', () => {
    expect(s3Of('s3://big.bucket/a/b/?endpoint=https://s3.example.com:9000/&region=auto', KEYS)).toEqual({
      folder: '/data/blobs',
      isOn: true,
      s3: {
        bucket: 'big.bucket',
        prefix: 'a/b/',
        region: 'auto',
        endpoint: 'https://s3.example.com:9000',
        credentials: { accessKeyId: 'the-key-id', secretAccessKey: 'the-secret-key' },
      },
    });
    expect(s3Of('s3://bucket', { AWS_REGION: 'eu-west-1' }).s3).toEqual({
      bucket: 'bucket',
      prefix: '',
      region: 'eu-west-1',
    });
    expect(s3Of('s3://bucket', { AWS_DEFAULT_REGION: 'eu-west-2', ...KEYS, AWS_SESSION_TOKEN: 't' }).s3).toMatchObject({
      region: 'eu-west-2',
      credentials: { sessionToken: 't' },
    });
    expect(s3Of('/srv/blobs')).toEqual({ folder: '/srv/blobs', isOn: true });
    expect(s3Of('off')).toEqual({ folder: '/data/blobs', isOn: false });
  });

  it.each([
    ['s3://the-key:the-secret@bucket?region=r', /AWS_ACCESS_KEY_ID/],
    ['s3://bucket?endpoint=https://the-key:the-secret@host', /endpoint such as/],
    ['s3://bucket?endpoint=host:9000', /endpoint such as/],
    ['s3://bucket?region=r&secret=the-secret', /s3:\/\/bucket\/prefix/],
    ['s3://bucket', /AWS_REGION/],
    ['s3://BU?region=r', /bucket is invalid/],
    ['s3://bucket/the-secret//b?region=r', /single slashes/],
    ['s3://bucket/../the-secret%20b?region=r', /single slashes/],
    ['https://bucket.s3.amazonaws.com/the-secret', /s3:\/\/bucket\/prefix/],
  ])('%s is refused without being repeated', (value, message) => {
    const refused = () => s3Of(value);
    expect(refused).toThrow(message);
    expect(refused).toThrow(/^SIGNALBOX_BLOBS: /);
    expect(refused).not.toThrow(/the-secret/);
  });

  it('leads to the host of the bucket at AWS, else to a path', () => {
    const settings = { bucket: 'b-1', prefix: '', region: 'eu-west-1' };
    expect(urlOf(settings)).toBe('https://b-1.s3.eu-west-1.amazonaws.com');
    expect(urlOf({ ...settings, bucket: 'b.1' })).toBe('https://s3.eu-west-1.amazonaws.com/b.1');
    expect(urlOf({ ...settings, region: 'cn-north-1' })).toBe('https://b-1.s3.cn-north-1.amazonaws.com.cn');
    expect(urlOf({ ...settings, endpoint: 'http://h:1' })).toBe('http://h:1/b-1');
  });
});
