import { ExternalStorage, type Payload, type StorageDriver, StorageDriverClaim } from '@temporalio/common';
import proto from '@temporalio/proto';
import fc from 'fast-check';
import { beforeAll, expect, it, vi } from 'vitest';
import { patchExternalStorage } from '../../src/temporal-internals/patch-external-storage.ts';
import { internals } from '../support/sdk.ts';

const THRESHOLD = 2_000;
const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

beforeAll(() => patchExternalStorage(() => false));

interface Message {
  readonly result: { payloads: Payload[] };
}

/** As the SDK visits a result before it sends it, and after it has received it. */
const visitStoring = (message: Message, to: ExternalStorage): Promise<void> =>
  internals.visit(message, internals.walkRespondActivityTaskCompletedRequest, internals.extstoreStoreOptions(to));
const visitReading = (message: Message, from?: ExternalStorage): Promise<void> =>
  internals.visit(message, internals.walkRespondActivityTaskCompletedRequest, internals.extstoreInboundOptions(from));

/** Keeps payloads in memory. */
function storage(): { readonly storage: ExternalStorage; readonly stored: Map<string, Payload> } {
  const stored = new Map<string, Payload>();
  const driver: StorageDriver = {
    name: 'memory',
    type: 'test',
    store: async (_context, payloads) =>
      payloads.map((payload) => {
        const id = String(stored.size);
        stored.set(id, payload);
        return new StorageDriverClaim({ id });
      }),
    retrieve: async (_context, claims) => claims.map(({ claimData }) => stored.get(claimData['id'] ?? '')!),
  };
  return {
    storage: new ExternalStorage({ drivers: [driver], driverSelector: () => driver, payloadSizeThreshold: THRESHOLD }),
    stored,
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
      const { storage: own, stored } = storage();
      const payloads = given.map((one) => payloadOf(...one));
      const large = payloads.filter((payload) => PayloadMessage.encode(payload).finish().length >= THRESHOLD);
      const message = { result: { payloads: [...payloads] } };
      await visitStoring(message, own);
      expect([...stored.values()]).toEqual(large);
      await visitReading(message, own);
      expect(message.result.payloads).toEqual(payloads);
    }),
  );
});

it('waits for no payload of a message whose payloads all stay where they are', async () => {
  const all = vi.spyOn(Promise, 'allSettled');
  const { storage: own, stored } = storage();
  const payloads = [payloadOf(10, { encoding: 'json/plain' }), payloadOf(900)];
  const message = { result: { payloads } };
  await visitStoring(message, own);
  await visitReading(message, own);
  expect(message.result.payloads).toBe(payloads);
  expect([all.mock.calls, stored.size]).toEqual([[], 0]);
  message.result.payloads = [...payloads, payloadOf(THRESHOLD)];
  await visitStoring(message, own);
  expect(all).toHaveBeenCalled();
  expect(stored.size).toBe(1);
  all.mockRestore();
});

it('refuses a reference where there is no storage, as the SDK does', async () => {
  const { storage: own } = storage();
  const message = { result: { payloads: [payloadOf(THRESHOLD)] } };
  await visitStoring(message, own);
  await expect(visitReading(message)).rejects.toThrow('external storage');
});
