/** Writes and reads tar archives in pieces, by `tar-stream`. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack } from 'tar-stream';

/** Adds a file of `size` bytes. */
export type AddFile = (name: string, size: number, content: Iterable<Buffer> | AsyncIterable<Buffer>) => Promise<void>;

/** The archive of the files that `fill` adds, one after the other. An error of `fill` is the stream's. */
export function writeTar(fill: (add: AddFile) => Promise<void>): Readable {
  const archive = pack();
  fill((name, size, content) => pipeline(content, archive.entry({ name, size, mode: 0o600 }))).then(
    () => archive.finalize(),
    (error) => archive.destroy(error),
  );
  return Readable.from(archive);
}

/**
 * Reads an archive. `take` gets each file in order, with its content, which it has to read to its end.
 * @throws Error where the archive was cut off or changed; errors of `take`.
 */
export async function readTar(
  archive: AsyncIterable<Uint8Array>,
  take: (name: string, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const entries = extract();
  pipeline(archive, entries).catch((error) => entries.destroy(error));
  for await (const entry of entries) {
    const { name, type } = entry.header;
    if (type !== 'file') throw new Error(`The archive holds ${name}, which is no regular file.`);
    await take(name, entry);
  }
}
