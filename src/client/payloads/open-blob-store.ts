import { randomBytes } from 'node:crypto';
import type { BlobSettings } from '../../config/blob-settings.ts';
import { type BlobStore, BlobStoreError } from './blob-store.ts';
import { folderStore } from './folder-store.ts';
import { s3Store } from './s3-store.ts';

/** The store of these settings. It connects when it is first needed. */
export const blobStoreOf = ({ folder, s3 }: BlobSettings): BlobStore =>
  s3 === undefined ? folderStore(folder) : s3Store(s3);

/**
 * Writes, reads, lists and removes a small object, as gateways, workers and the sweep do. It does not count as a
 * payload. @throws BlobStoreError
 */
export async function probeBlobStore(store: BlobStore): Promise<void> {
  const blob = { place: 'doctor', name: randomBytes(32).toString('hex') };
  const content = Buffer.from(blob.name);
  await store.write(blob, content);
  const read = await store.read(blob);
  if (!content.equals(read)) throw new BlobStoreError('blob_damaged', 'what was written is not what is read');
  for await (const _ of store.list()) break;
  await store.removeOlder(blob, Number.POSITIVE_INFINITY);
}
