/**
 * The S3 server that deploy/s3 pins, as deploy/compose.yaml starts it, but on a free port of this machine. Its objects
 * are files of a folder.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import { freePorts } from '../../deploy/postgres/server.mjs';
import { buildS3 } from '../../deploy/s3/build.mjs';
import { interpolated, readCompose } from '../deploy/manifests.ts';

const READY_MS = 30_000;

export interface S3Server {
  readonly endpoint: string;
  /** AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. */
  readonly keys: { readonly [name: string]: string };
  /** A new bucket: its name. `signalbox` is there from the start. */
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
  const [port] = await freePorts(1);
  const endpoint = `http://127.0.0.1:${port}`;
  const keys = {
    AWS_ACCESS_KEY_ID: `key${randomBytes(8).toString('hex')}`,
    AWS_SECRET_ACCESS_KEY: randomBytes(20).toString('hex'),
  };
  let child: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const { entrypoint = [], environment } = readCompose().services['s3']!;
    const given = { S3_ACCESS_KEY: keys.AWS_ACCESS_KEY_ID, S3_SECRET_KEY: keys.AWS_SECRET_ACCESS_KEY };
    const set = Object.entries(environment).map(([name, value]) => [name, interpolated(value, given)]);
    const [command = '', ...args] = entrypoint.map((word) => word.replaceAll('/objects', folder));
    child = spawn(command, args, {
      stdio: 'ignore',
      env: {
        ...Object.fromEntries(set),
        VGW_PORT: `127.0.0.1:${port}`,
        PATH: `${dirname(program)}${delimiter}${process.env['PATH']}`,
      },
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
    fileOf: (bucket, key) => join(folder, 'data', bucket, key),
    stop,
    start,
    close: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
