/**
 * What this program changes in the SDK's external storage. An activity whose input cannot be read begins all the same,
 * and waits for it (large-results.ts). The SDK would fail the attempt, although the input is there once the store is.
 *
 * Lets messages whose payloads all stay where they are pass the SDK's external storage at once: in 5 µs in place of 25.
 * For each message the SDK makes a signal and waits for a promise of every payload, and for each payload, also one that
 * is not stored, it makes two signals more and encodes it to measure it. A step takes four such visits. A message with
 * a payload that is stored, or read from storage, goes through the SDK as before.
 */

// The packages are CommonJS without named exports: their values come by the default, their types by name.
import type { ExternalStorage, Payload } from '@temporalio/common';
import storageVisitor from '@temporalio/common/lib/internal-non-workflow/external-storage-visitor.js';
import helpers from '@temporalio/common/lib/internal-non-workflow/extstore-helpers.js';
import payloadVisitor, { type VisitOptions } from '@temporalio/common/lib/internal-non-workflow/payload-visitor.js';
import { leaveInput } from './late-input.ts';
import { holdsForAll, type PayloadTest, type Walk } from './visited-payloads.ts';

/** Of the members that enclose the bytes of a payload in protobuf: more than each takes. */
const MEMBER_BYTES = 16;

/** How long the SDK reads the input of an activity. It sends no heartbeats meanwhile. */
const INPUT_MS = 4_000;

type ActivityTask = Parameters<typeof payloadVisitor.walkActivityTask>[0];

/** Whether a visit with these options leaves a payload as it is. */
const staysBy = new WeakMap<object, PayloadTest>();

let isPassing = false;

/** Changes the SDK's functions, once for the process. */
export function passSmallPayloads(): void {
  if (isPassing) return;
  isPassing = true;
  const { extstoreStoreOptions, extstoreInboundOptions } = storageVisitor;
  const { visit } = payloadVisitor;
  Object.assign(storageVisitor, {
    extstoreStoreOptions: ((storage, options) =>
      noting(extstoreStoreOptions(storage, options), isBelow(storage))) satisfies typeof extstoreStoreOptions,
    extstoreInboundOptions: ((storage, options) =>
      noting(extstoreInboundOptions(storage, options), isNoReference)) satisfies typeof extstoreInboundOptions,
  });
  Object.assign(payloadVisitor, {
    visit: async <Root, Context>(root: Root, walk: Walk<Root, Context>, options: VisitOptions<Context>) => {
      const stays = staysBy.get(options);
      if (stays !== undefined && holdsForAll(root, walk, options, stays)) return;
      if (walk === (payloadVisitor.walkActivityTask as unknown)) {
        const soon = { ...options, abortSignal: AbortSignal.timeout(INPUT_MS) };
        await visit(root, walk, soon).catch((error: unknown) => leaveInput(root as ActivityTask, error));
      } else await visit(root, walk, options);
    },
  });
}

function noting<Options extends object>(options: Options, stays: PayloadTest): Options {
  staysBy.set(options, stays);
  return options;
}

const isNoReference: PayloadTest = (payload) => !helpers.isReferencePayload(payload);

const isBelow =
  ({ payloadSizeThreshold }: ExternalStorage): PayloadTest =>
  (payload) =>
    mostBytes(payload) < payloadSizeThreshold;

/** At least as many as the encoded payload has. */
function mostBytes({ data, metadata, externalPayloads }: Payload & { externalPayloads?: unknown }): number {
  if (Array.isArray(externalPayloads) && externalPayloads.length > 0) return Number.POSITIVE_INFINITY;
  let bytes = (data?.length ?? 0) + MEMBER_BYTES;
  // A character of a name takes at most three bytes.
  for (const name in metadata) bytes += 3 * name.length + (metadata[name]?.length ?? 0) + 2 * MEMBER_BYTES;
  return bytes;
}
