import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure, defaultPayloadConverter, type Payload, RawValue } from '@temporalio/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isMarkedInHistory } from '../../src/client/payloads/codec.ts';
import { blobStorage, isTransientFailure } from '../../src/client/payloads/external-storage.ts';
import { folderStore } from '../../src/client/payloads/folder-store.ts';
import { LargeResults } from '../../src/client/payloads/large-results.ts';
import { deferInput } from '../../src/temporal-internals/deferred-input.ts';
import { isReferencePayload } from '../../src/temporal-internals/sdk.ts';

const owner = { namespace: 'n', workflowId: 'run.default.w.1', runId: 'r', type: 'run' };
const large = { data: 'x'.repeat(700_000) };
const { signal } = new AbortController();

let folder: string;
let results: LargeResults;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'signalbox-results-')), 'blobs');
  results = new LargeResults({ externalStorage: blobStorage(folderStore(folder), true) });
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

const goAway = (): void => writeFileSync(folder, 'no folder');
const comeBack = (): void => rmSync(folder);
const payloadOf = (value: unknown): Payload => {
  expect(value).toBeInstanceOf(RawValue);
  return (value as RawValue).payload;
};

describe('large results', () => {
  it('are stored, and a reference stands for them', async () => {
    const result = await results.of(large, owner);
    expect(isReferencePayload(payloadOf(await result!.store(signal)))).toBe(true);
    expect(await results.of({ data: 1 }, owner)).toBeUndefined();
  });

  it('report that the store is unavailable', async () => {
    const result = await results.of(large, owner);
    expect(results.isAway).toBe(false);
    goAway();
    await expect(result!.store(signal)).rejects.toMatchObject({ type: 'blob_unavailable' });
    expect(results.isAway).toBe(true);
    comeBack();
    await result!.store(signal);
    expect(results.isAway).toBe(false);
  });

  it('stay in the history of each execution up to a limit', async () => {
    const inHistory = async (output: unknown, runId: string) =>
      (await results.of(output, { ...owner, runId }))!.inHistory();
    for (let n = 0; n < 7; n++) {
      const payload = payloadOf(await inHistory(large, 'first'));
      expect(isMarkedInHistory(payload)).toBe(true);
      expect(defaultPayloadConverter.fromPayload(payload)).toEqual(large);
    }
    expect(await inHistory(large, 'first')).toBeUndefined();
    expect(await inHistory(large, 'second')).toBeInstanceOf(RawValue);
    expect(await inHistory({ data: 'x'.repeat(2_000_000) }, 'third')).toBeUndefined();
  });
});

describe('an input that the store cannot deliver', () => {
  it('is read by the activity once the store is available', async () => {
    const reference = payloadOf(await (await results.of(large, owner))!.store(signal));
    const task = { start: { input: [reference], heartbeatDetails: [reference] } };
    expect(deferInput(task)).toBe(true);
    expect(task.start.heartbeatDetails).toEqual([]);
    const argument = defaultPayloadConverter.fromPayload(task.start.input[0]!);
    const read = results.late(argument)!;
    renameSync(folder, `${folder}-aside`);
    await expect(read(signal)).rejects.toMatchObject({ type: 'blob_unavailable' });
    renameSync(`${folder}-aside`, folder);
    expect(await read(signal)).toEqual(large);
    expect(results.late(large)).toBeUndefined();
  });

  it('fails the attempt where it is damaged', () => {
    const isTransient = (type: string) => isTransientFailure(ApplicationFailure.create({ type }));
    expect([isTransient('blob_unavailable'), isTransient('blob_damaged')]).toEqual([true, false]);
  });
});
