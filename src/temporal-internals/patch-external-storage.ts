/**
 * Patches the SDK's external storage. An activity whose input cannot be read begins all the same, and waits for it
 * (src/client/payloads/large-results.ts). The SDK would fail the attempt, although the input can be read once the store
 * is available.
 *
 * Messages whose payloads all stay unchanged skip the SDK's external storage, in 5 µs instead of 25. For each message
 * the SDK makes a signal and waits for a promise of every payload, and for each payload, also one that is not stored,
 * it makes two signals more and encodes it to measure it. A step takes four such visits. A message with a payload that
 * is stored, or read from storage, goes through the SDK as before.
 */

import type { ExternalStorage, Payload } from '@temporalio/common';
import { deferInput } from './deferred-input.ts';
import { everyPayload, type PayloadTest, type Walk } from './payload-walk.ts';
import { isReferencePayload, payloadVisitor, storageVisitor, type VisitOptions } from './sdk.ts';

/** An upper bound for what encloses the bytes of a payload, or an entry of its metadata, in protobuf. */
const MEMBER_BYTES = 16;

/** How long the SDK reads the input of an activity. It sends no heartbeats meanwhile. */
const INPUT_TIMEOUT_MS = 4_000;

type ActivityTask = Parameters<typeof payloadVisitor.walkActivityTask>[0];

/** By the options of a visit: whether it leaves a payload unchanged. */
const unchangedTests = new WeakMap<object, PayloadTest>();

let isPatched = false;

/** Changes the SDK's functions, once for the process. `isTransient`: the input may be read later. */
export function patchExternalStorage(isTransient: (error: unknown) => boolean): void {
  if (isPatched) return;
  isPatched = true;
  const { extstoreStoreOptions, extstoreInboundOptions } = storageVisitor;
  const { visit } = payloadVisitor;
  Object.assign(storageVisitor, {
    extstoreStoreOptions: ((storage, options) =>
      withUnchangedTest(
        extstoreStoreOptions(storage, options),
        isBelowThreshold(storage),
      )) satisfies typeof extstoreStoreOptions,
    extstoreInboundOptions: ((storage, options) =>
      withUnchangedTest(
        extstoreInboundOptions(storage, options),
        isNoReference,
      )) satisfies typeof extstoreInboundOptions,
  });
  Object.assign(payloadVisitor, {
    visit: async <Root, Context>(root: Root, walk: Walk<Root, Context>, options: VisitOptions<Context>) => {
      const isUnchanged = unchangedTests.get(options);
      if (isUnchanged !== undefined && everyPayload(root, walk, options, isUnchanged)) return;
      if (walk === (payloadVisitor.walkActivityTask as unknown)) {
        const withTimeout = { ...options, abortSignal: AbortSignal.timeout(INPUT_TIMEOUT_MS) };
        await visit(root, walk, withTimeout).catch((error: unknown) => {
          if (!isTransient(error) || !deferInput(root as ActivityTask)) throw error;
        });
      } else await visit(root, walk, options);
    },
  });
}

function withUnchangedTest<Options extends object>(options: Options, isUnchanged: PayloadTest): Options {
  unchangedTests.set(options, isUnchanged);
  return options;
}

const isNoReference: PayloadTest = (payload) => !isReferencePayload(payload);

const isBelowThreshold =
  ({ payloadSizeThreshold }: ExternalStorage): PayloadTest =>
  (payload) =>
    maxEncodedBytes(payload) < payloadSizeThreshold;

/** At least as many as the encoded payload has. */
function maxEncodedBytes({ data, metadata, externalPayloads }: Payload & { externalPayloads?: unknown }): number {
  if (Array.isArray(externalPayloads) && externalPayloads.length > 0) return Number.POSITIVE_INFINITY;
  let bytes = (data?.length ?? 0) + MEMBER_BYTES;
  // A character of a name takes at most three bytes.
  for (const name in metadata) bytes += 3 * name.length + (metadata[name]?.length ?? 0) + 2 * MEMBER_BYTES;
  return bytes;
}
