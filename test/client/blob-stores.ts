/** What every store of large payloads must do, as one suite that each store runs. */
import { createHash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { type BlobName, type BlobStore, OWNER_FILE, type StoredBlob } from '../../src/client/payloads/blob-store.ts';
import { probeBlobStore } from '../../src/client/payloads/open-blob-store.ts';

export interface StoreUnderTest {
  readonly store: BlobStore;
  /** The same store, with credentials that it denies. */
  readonly denied?: BlobStore;
  /** Runs `act` while the store cannot be reached. */
  unreachable<T>(act: () => Promise<T>): Promise<T>;
}

const MB = 1_000_000;
const hex = (): string => randomBytes(32).toString('hex');
const hashOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
const some = (): BlobName => ({ place: hex(), name: hex() });
const failureOf = (act: Promise<unknown>): Promise<unknown> =>
  act.then(
    () => 'no failure',
    (error: unknown) => error,
  );

async function listed(store: BlobStore): Promise<StoredBlob[]> {
  const found: StoredBlob[] = [];
  for await (const blob of store.list()) found.push(blob);
  return found;
}

/** Declares the tests. `under` is called within each. */
export function itIsABlobStore(under: () => StoreUnderTest): void {
  it('gives back what it was given, also nothing', async () => {
    const { store } = under();
    for (const content of [Buffer.from('a payload \u{1f4e6}'), Buffer.alloc(0)]) {
      const blob = some();
      await store.write(blob, content);
      expect(Buffer.from(await store.read(blob)).equals(content)).toBe(true);
    }
  });

  it('keeps 20 MB', async () => {
    const { store } = under();
    const [blob, content] = [some(), randomBytes(20 * MB)];
    await store.write(blob, content);
    expect(hashOf(await store.read(blob))).toBe(hashOf(content));
  });

  it('keeps one complete object where 20 writers store the same concurrently', async () => {
    const { store } = under();
    const [blob, content] = [some(), randomBytes(MB)];
    await Promise.all(Array.from({ length: 20 }, () => store.write(blob, content)));
    expect(hashOf(await store.read(blob))).toBe(hashOf(content));
    expect((await listed(store)).filter(({ place }) => place === blob.place)).toHaveLength(1);
  });

  it('says of what is missing that it is unavailable', async () => {
    const { store } = under();
    expect(await failureOf(store.read(some()))).toMatchObject({
      code: 'blob_unavailable',
      reason: store.kind === 's3' ? 'NoSuchKey' : 'ENOENT',
    });
  });

  it('lists payloads and owner files, place by place, with the time of the last write', async () => {
    const { store } = under();
    const places = [hex(), hex(), hex()];
    for (const name of [OWNER_FILE, hex(), hex()])
      for (const place of places) await store.write({ place, name }, Buffer.from(name));
    const found = (await listed(store)).filter(({ place }) => places.includes(place));
    expect(found).toHaveLength(9);
    const groups = found.map(({ place }) => place).filter((place, at, all) => place !== all[at - 1]);
    expect(groups.sort()).toEqual(places.sort());
    for (const { writtenAt } of found) expect(Math.abs(writtenAt - Date.now())).toBeLessThan(60_000);
  });

  it('removes what is old enough, and nothing that was stored again since', async () => {
    const { store } = under();
    const blob = some();
    await store.write(blob, Buffer.from('x'));
    expect(await store.removeOlder(blob, Date.now() - 60_000)).toBe(false);
    expect(await store.read(blob)).toHaveLength(1);
    expect(await store.removeOlder(blob, Date.now() + 60_000)).toBe(true);
    expect(await failureOf(store.read(blob))).toMatchObject({ code: 'blob_unavailable' });
    expect(await store.removeOlder(blob, Date.now() + 60_000)).toBe(false);
    expect((await listed(store)).some(({ place }) => place === blob.place)).toBe(false);
  });

  it('is unavailable while it cannot be reached, and has everything afterwards', async () => {
    const { store, unreachable } = under();
    const blob = some();
    await store.write(blob, Buffer.from('here'));
    await unreachable(async () => {
      expect(await failureOf(store.read(blob))).toMatchObject({ code: 'blob_unavailable' });
      expect(await failureOf(store.write(some(), Buffer.from('x')))).toMatchObject({ code: 'blob_unavailable' });
    });
    expect(Buffer.from(await store.read(blob)).toString()).toBe('here');
  });

  it('denies those who may not use it', async (context) => {
    const { store, denied } = under();
    if (denied === undefined) return context.skip();
    const blob = some();
    await store.write(blob, Buffer.from('x'));
    expect(await failureOf(denied.read(blob))).toMatchObject({ code: 'blob_denied' });
    expect(await failureOf(denied.write(some(), Buffer.from('x')))).toMatchObject({ code: 'blob_denied' });
    expect(await failureOf(probeBlobStore(denied))).toMatchObject({ code: 'blob_denied' });
  });

  it('can be probed, which leaves nothing', async () => {
    const { store } = under();
    const before = await listed(store);
    await probeBlobStore(store);
    expect(await listed(store)).toEqual(before);
  });
}
