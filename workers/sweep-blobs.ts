import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { dataConverterOf } from '../src/client/payloads/data-converter.ts';
import { blobStoreOf } from '../src/client/payloads/open-blob-store.ts';
import { sweepBlobs } from '../src/client/runs/blob-sweep.ts';
import type { Config } from '../src/config/config.ts';

const INITIAL_DELAY_MS = 60_000;
const SWEEP_INTERVAL_MS = 6 * 60 * 60 * 1_000;

/** Regularly removes large payloads that are no longer needed. Its timers do not keep the process alive. */
export function sweepBlobsRegularly(connection: NativeConnection, config: Config, log: Logger): void {
  const { namespace } = config.temporal;
  const client = new Client({ connection, namespace, dataConverter: dataConverterOf(config) });
  const store = blobStoreOf(config.blobs);
  const sweep = async (): Promise<void> => {
    try {
      const removed = await sweepBlobs({ client, namespace }, store, config.retentionDays);
      if (removed > 0) log.info({ removed }, 'Removed large payloads of deleted runs.');
    } catch (error) {
      log.warn({ err: error }, 'Unneeded large payloads could not be removed.');
    }
    setTimeout(sweep, SWEEP_INTERVAL_MS).unref();
  };
  setTimeout(sweep, INITIAL_DELAY_MS).unref();
}
