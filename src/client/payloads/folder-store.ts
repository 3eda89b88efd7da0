/** Large payloads as files of a folder that gateway and workers share. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BlobName, type BlobStore, BlobStoreError, DIGEST, OWNER_FILE, type StoredBlob } from './blob-store.ts';

const DENIED = ['EACCES', 'EPERM', 'EROFS'];

export function folderStore(root: string): BlobStore {
  const pathOf = ({ place, name }: BlobName): string => join(root, place, name);
  return {
    kind: 'folder',
    write: (blob, content) =>
      withBlobErrors(async () => {
        await mkdir(join(root, blob.place), { recursive: true, mode: 0o700 });
        await replace(pathOf(blob), content);
      }),
    read: (blob, signal) => withBlobErrors(() => readFile(pathOf(blob), signal === undefined ? {} : { signal })),
    list: () => filesOf(root),
    removeOlder: (blob, before) =>
      withBlobErrors(async () => {
        // Another process may be sweeping too.
        const found = await stat(pathOf(blob)).catch(() => undefined);
        if (found === undefined || found.mtimeMs >= before) return false;
        await rm(pathOf(blob), { force: true });
        // Only an empty folder goes.
        await rmdir(join(root, blob.place)).catch(() => undefined);
        return true;
      }),
  };
}

/**
 * Writes the file completely or not at all, also with simultaneous writers. An existing file keeps its content and gets
 * a new modification time.
 */
async function replace(path: string, content: Uint8Array): Promise<void> {
  const now = new Date();
  try {
    await utimes(path, now, now);
  } catch {
    const draft = `${path}.${randomBytes(6).toString('hex')}`;
    try {
      await writeFile(draft, content, { mode: 0o600, flush: true });
      await rename(draft, path);
    } finally {
      await rm(draft, { force: true });
    }
  }
}

async function* filesOf(root: string): AsyncGenerator<StoredBlob> {
  for (const place of await readdir(root).catch(() => [])) {
    if (!DIGEST.test(place)) continue;
    for (const name of await readdir(join(root, place)).catch(() => [])) {
      // The other files are drafts.
      if (name !== OWNER_FILE && !DIGEST.test(name)) continue;
      const found = await stat(join(root, place, name)).catch(() => undefined);
      if (found !== undefined) yield { place, name, writtenAt: found.mtimeMs };
    }
  }
}

async function withBlobErrors<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new BlobStoreError(DENIED.includes(reason) ? 'blob_denied' : 'blob_unavailable', reason, { cause: error });
  }
}
