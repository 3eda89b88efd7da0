import { ExternalStorage, type Payload, type StorageDriver, StorageDriverClaim } from '@temporalio/common';
import runner from '@temporalio/common/lib/internal-non-workflow/external-storage-runner.js';
import proto from '@temporalio/proto';
import fc from 'fast-check';
import { beforeAll, expect, it, vi } from 'vitest';
import { passSmallPayloads } from '../../src/client/payloads/small-payloads.ts';

const THRESHOLD = 2_000;
const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

beforeAll(passSmallPayloads);

/** Keeps payloads in memory. */
function storage(): { readonly storage: ExternalStorage; readonly kept: Map<string, Payload> } {
  const kept = new Map<string, Payload>();
  const driver: StorageDriver = {
    name: 'memory',
    type: 'test',
    store: async (_context, payloads) =>
      payloads.map((payload) => {
        const id = String(kept.size);
        kept.set(id, payload);
        return new StorageDriverClaim({ id });
      }),
    retrieve: async (_context, claims) => claims.map(({ claimData }) => kept.get(claimData['id'] ?? '')!),
  };
  return {
    storage: new ExternalStorage({ drivers: [driver], driverSelector: () => driver, payloadSizeThreshold: THRESHOLD }),
    kept,
  };
}

const payloadOf = (length: number, metadata: { readonly [name: string]: string } = {}): Payload => ({
  metadata: Object.fromEntries(Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text)])),
  data: Buffer.alloc(length, 1),
});

it('stores what has the size for it, exactly as the SDK measures it, and reads it back', async () => {
  const lengths = fc.integer({ min: THRESHOLD - 400, max: THRESHOLD + 20 });
  const metadata = fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.string({ maxLength: 80 }), {
    maxKeys: 3,
    noNullPrototype: true,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(lengths, metadata), { minLength: 1, maxLength: 4 }), async (given) => {
      const { storage: own, kept } = storage();
      const payloads = given.map((one) => payloadOf(...one));
      const run = new runner.ExternalStorageRunner(own);
      const stored = await run.store(payloads);
      const large = payloads.filter((payload) => PayloadMessage.encode(payload).finish().length >= THRESHOLD);
      expect([...kept.values()]).toEqual(large);
      expect(await run.retrieve(stored)).toEqual(payloads);
    }),
  );
});

it('makes no signals for payloads that stay where they are', async () => {
  const any = vi.spyOn(AbortSignal, 'any');
  const run = new runner.ExternalStorageRunner(storage().storage);
  const payloads = [payloadOf(10, { encoding: 'json/plain' }), payloadOf(900)];
  const options = { abortSignal: new AbortController().signal };
  expect(await run.retrieve(await run.store(payloads, options), options)).toBe(payloads);
  expect(any).not.toHaveBeenCalled();
  await run.store([payloadOf(THRESHOLD)], options);
  expect(any).toHaveBeenCalledOnce();
  any.mockRestore();
});
