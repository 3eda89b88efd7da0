import { randomBytes } from 'node:crypto';
import type { BlobPlace } from '../../config/blob-place.ts';
import { BlobFault, type BlobStore } from './blob-store.ts';
import { folderStore } from './folder-store.ts';
import { s3Store } from './s3-store.ts';

/** The store of these settings. It connects when it is first needed. */
export const blobStoreOf = ({ folder, s3 }: BlobPlace): BlobStore =>
  s3 === undefined ? folderStore(folder) : s3Store(s3);

/**
 * Writes, reads, lists and removes a small object, as gateways, workers and the sweep do. It does not count as a
 * payload. @throws BlobFault
 */
export async function probe(store: BlobStore): Promise<void> {
  const blob = { place: 'doctor', name: randomBytes(32).toString('hex') };
  const content = Buffer.from(blob.name);
  await store.write(blob, content);
  const read = await store.read(blob);
  if (!content.equals(read)) throw new BlobFault('blob_damaged', 'what was written is not what is read');
  for await (const _ of store.list()) break;
  await store.removeOlder(blob, Number.POSITIVE_INFINITY);
}
