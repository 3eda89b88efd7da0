import type { DataConverter } from '@temporalio/common';
import type { Config } from '../../config/config.ts';
import { patchExternalStorage } from '../../temporal-internals/patch-external-storage.ts';
import { type CodecSettings, payloadCodecOf } from './codec.ts';
import { blobStorage, isTransientFailure } from './external-storage.ts';
import { blobStoreOf } from './open-blob-store.ts';

/**
 * Writes payloads to Temporal and reads them back. Every client and worker must use it: the gateway, the workers and
 * the fold read each other's payloads. It patches the SDK's external storage, unless the settings forbid it.
 */
export function dataConverterOf(config: Pick<Config, 'blobs' | 'sdkPatches'> & CodecSettings): DataConverter {
  if (config.sdkPatches) patchExternalStorage(isTransientFailure);
  return {
    externalStorage: blobStorage(blobStoreOf(config.blobs), config.blobs.isOn),
    payloadCodecs: [payloadCodecOf(config)],
  };
}
