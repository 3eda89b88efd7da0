import type { DataConverter } from '@temporalio/common';
import type { Config } from '../../config/config.ts';
import { blobStorage } from './blobs.ts';
import { type CodecSettings, payloadCodecOf } from './codec.ts';

/**
 * How payloads are written to Temporal and read back. Whoever opens a client or a worker takes it from here: gateway,
 * worker and the fold must agree, or one cannot read what another wrote.
 */
export function dataConverterOf(config: Pick<Config, 'blobs'> & CodecSettings): DataConverter {
  return {
    externalStorage: blobStorage(config.blobs.folder, config.blobs.isOn),
    payloadCodecs: [payloadCodecOf(config)],
  };
}
