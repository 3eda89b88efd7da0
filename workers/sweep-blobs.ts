import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { dataConverterOf } from '../src/client/payloads/data-converter.ts';
import { sweepBlobs } from '../src/client/runs/blob-sweep.ts';
import type { Config } from '../src/config/config.ts';

const FIRST_MS = 60_000;
const EVERY_MS = 6 * 60 * 60 * 1_000;

/** Removes large payloads that are no longer needed, now and then, over the worker's own connection. Keeps no process alive. */
export function sweepBlobsRegularly(connection: NativeConnection, config: Config, log: Logger): void {
  const { namespace } = config.temporal;
  const client = new Client({ connection, namespace, dataConverter: dataConverterOf(config) });
  const sweep = async (): Promise<void> => {
    try {
      const removed = await sweepBlobs({ client, namespace }, config.blobs.folder, config.retentionDays);
      if (removed > 0) log.info({ removed }, 'Large payloads of runs that are gone were removed.');
    } catch (error) {
      log.warn({ err: error }, 'Large payloads could not be swept now.');
    }
    setTimeout(sweep, EVERY_MS).unref();
  };
  setTimeout(sweep, FIRST_MS).unref();
}
