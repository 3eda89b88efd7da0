import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Payload, StorageDriverClaim, type StorageDriverTargetInfo } from '@temporalio/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OWNER_FILE } from '../../src/client/payloads/blob-store.ts';
import { blobStorage } from '../../src/client/payloads/external-storage.ts';
import { folderStore } from '../../src/client/payloads/folder-store.ts';
import { MIN_BLOB_BYTES } from '../../src/definition/document/limits.ts';

const RUN: StorageDriverTargetInfo = { kind: 'workflow', namespace: 'n', id: 'run.default.w.1', type: 'run' };
const payload: Payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"large"') };
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'signalbox-blobs-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const driverOf = (isOn = true) => blobStorage(folderStore(root), isOn).drivers[0]!;
const filesIn = (folder: string) => readdirSync(folder, { recursive: true }).map(String).sort();

describe('a payload of a run', () => {
  it('is stored once, for its owner only, and read as it was', async () => {
    const driver = driverOf();
    const [claim] = await driver.store({ target: RUN }, [payload]);
    expect(await driver.store({ target: RUN }, [payload])).toEqual([claim]);
    const { place, digest } = claim!.claimData as { place: string; digest: string };
    expect(filesIn(root)).toEqual([place, `${place}/${digest}`, `${place}/${OWNER_FILE}`].sort());
    expect(statSync(join(root, place, digest)).mode & 0o077).toBe(0);
    expect(JSON.parse(readFileSync(join(root, place, OWNER_FILE), 'utf8'))).toEqual({
      namespace: 'n',
      workflowId: 'run.default.w.1',
    });
    const [read] = await driver.retrieve({}, [claim!]);
    expect(Buffer.from(read!.data!).toString()).toBe('"large"');
  });

  it('becomes young again when it is stored again', async () => {
    const driver = driverOf();
    const [claim] = await driver.store({ target: RUN }, [payload]);
    const file = join(root, claim!.claimData['place']!, claim!.claimData['digest']!);
    utimesSync(file, 1, 1);
    await driver.store({ target: RUN }, [payload]);
    expect(statSync(file).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
  });

  it('that has changed is not taken for it', async () => {
    const driver = driverOf();
    const [claim] = await driver.store({ target: RUN }, [payload]);
    writeFileSync(join(root, claim!.claimData['place']!, claim!.claimData['digest']!), 'else');
    await expect(driver.retrieve({}, [claim!])).rejects.toMatchObject({
      type: 'blob_damaged',
      nonRetryable: true,
    });
  });

  it('that is missing is a transient failure that names no path', async () => {
    const claim = new StorageDriverClaim({ place: 'a'.repeat(64), digest: 'b'.repeat(64) });
    const failed = await driverOf()
      .retrieve({}, [claim])
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ type: 'blob_unavailable', nonRetryable: false });
    expect(String(failed)).toContain('ENOENT');
    expect(String(failed)).not.toContain(root);
  });
});

describe('a reference', () => {
  it.each([
    ['../../etc', 'b'.repeat(64)],
    ['a'.repeat(64), '../owner.json'],
    ['a'.repeat(64), OWNER_FILE],
    ['', ''],
  ])('to %s/%s leads nowhere', async (place, digest) => {
    await expect(driverOf().retrieve({}, [new StorageDriverClaim({ place, digest })])).rejects.toThrow('none of ours');
  });
});

describe('what stays in history', () => {
  const selected = (target: StorageDriverTargetInfo | undefined, isOn = true) =>
    blobStorage(folderStore(root), isOn).driverSelector(target === undefined ? {} : { target }, payload) !== null;

  it('is all that is small, or of actors, or received by another workflow', () => {
    expect(blobStorage(folderStore(root), true).payloadSizeThreshold).toBe(MIN_BLOB_BYTES);
    expect(selected(RUN)).toBe(true);
    expect(selected({ ...RUN, type: 'organization' })).toBe(false);
    // As the SDK names who receives a signal, and the parent that a child's result goes to.
    expect(selected({ kind: 'workflow', namespace: 'n', id: 'run.default.w.2' })).toBe(false);
    expect(selected({ kind: 'workflow', namespace: 'n', id: 'run.default.w.2', runId: 'r' })).toBe(false);
    expect(selected({ kind: 'activity', namespace: 'n', id: 'a', type: 'run' })).toBe(false);
    expect(selected(undefined)).toBe(false);
  });

  it('is everything where it is switched off; what is stored is read all the same', async () => {
    expect(selected(RUN, false)).toBe(false);
    const claims = await driverOf().store({ target: RUN }, [payload]);
    expect(await driverOf(false).retrieve({}, claims)).toHaveLength(1);
  });
});
