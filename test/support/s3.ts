/** The S3 server that deploy/s3 pins, on a free port of this machine, with its objects as files of a folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import { freePorts } from '../../deploy/postgres/server.mjs';
import { buildS3 } from '../../deploy/s3/build.mjs';

const READY_MS = 30_000;

export interface S3Server {
  readonly endpoint: string;
  /** AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. */
  readonly keys: { readonly [name: string]: string };
  /** A new bucket: its name. */
  bucket(): Promise<string>;
  /** SIGNALBOX_BLOBS and the keys, for a bucket and what follows it. */
  settings(bucketAndPrefix: string): { [name: string]: string };
  /** The file that holds the object. */
  fileOf(bucket: string, key: string): string;
  /** Ends the process. Objects stay. */
  stop(): Promise<void>;
  /** On the same port. */
  start(): Promise<void>;
  /** Ends the process, and removes everything. */
  close(): Promise<void>;
}

/** Builds the server where it is missing, and starts it. */
export async function startS3(): Promise<S3Server> {
  const program = await buildS3();
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-s3-'));
  const [data, meta] = [join(folder, 'data'), join(folder, 'meta')];
  for (const path of [data, meta]) mkdirSync(path);
  const [port] = await freePorts(1);
  const endpoint = `http://127.0.0.1:${port}`;
  const keys = {
    AWS_ACCESS_KEY_ID: `key${randomBytes(8).toString('hex')}`,
    AWS_SECRET_ACCESS_KEY: randomBytes(20).toString('hex'),
  };
  let child: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const args = ['--quiet', '--health', '/health', '--port', `127.0.0.1:${port}`, '--region', 'us-east-1'];
    child = spawn(program, [...args, 'posix', '--sidecar', meta, data], {
      stdio: 'ignore',
      env: { ROOT_ACCESS_KEY_ID: keys.AWS_ACCESS_KEY_ID, ROOT_SECRET_ACCESS_KEY: keys.AWS_SECRET_ACCESS_KEY },
    });
    const deadline = Date.now() + READY_MS;
    while (!(await fetch(`${endpoint}/health`).catch(() => undefined))?.ok) {
      if (Date.now() > deadline || child.exitCode !== null) throw new Error('The S3 server did not start.');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const stop = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await gone;
  };
  await start();
  return {
    endpoint,
    keys,
    bucket: async () => {
      const name = `bucket-${randomBytes(6).toString('hex')}`;
      const signed = await new AwsV4Signer({
        method: 'PUT',
        url: `${endpoint}/${name}`,
        service: 's3',
        region: 'us-east-1',
        accessKeyId: keys.AWS_ACCESS_KEY_ID,
        secretAccessKey: keys.AWS_SECRET_ACCESS_KEY,
      }).sign();
      const { status } = await fetch(signed.url, { method: 'PUT', headers: signed.headers });
      if (status !== 200) throw new Error(`The bucket was not made: ${status}.`);
      return name;
    },
    settings: (bucketAndPrefix) => ({
      ...keys,
      SIGNALBOX_BLOBS: `s3://${bucketAndPrefix}?endpoint=${encodeURIComponent(endpoint)}`,
    }),
    fileOf: (bucket, key) => join(data, bucket, key),
    stop,
    start,
    close: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
