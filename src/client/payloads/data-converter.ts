import type { DataConverter } from '@temporalio/common';
import type { Config } from '../../config/config.ts';
import { type CodecSettings, payloadCodecOf } from './codec.ts';
import { blobStorage } from './external-storage.ts';
import { blobStoreOf } from './open-blob-store.ts';

/**
 * Writes payloads to Temporal and reads them back. Every client and worker must use it: the gateway, the workers and
 * the fold read each other's payloads.
 */
export function dataConverterOf(config: Pick<Config, 'blobs'> & CodecSettings): DataConverter {
  return {
    externalStorage: blobStorage(blobStoreOf(config.blobs), config.blobs.isOn),
    payloadCodecs: [payloadCodecOf(config)],
  };
}
