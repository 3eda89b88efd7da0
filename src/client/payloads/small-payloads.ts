/**
 * Lets small payloads pass the SDK's external storage at once. For every payload, also one that is not stored, the SDK
 * makes an AbortController, combines two signals and encodes the payload to measure it: 0.1 of the 2 ms that a step
 * which does nothing costs the worker's main thread. What is stored and read goes through the SDK as before.
 */
import type { ExternalStorage, Payload } from '@temporalio/common';
// The package is CommonJS without named exports.
import runner from '@temporalio/common/lib/internal-non-workflow/external-storage-runner.js';
import helpers from '@temporalio/common/lib/internal-non-workflow/extstore-helpers.js';

/** Of the members that enclose the bytes of a payload in protobuf: more than each takes. */
const MEMBER_BYTES = 16;

/** The private member of the SDK's class that is used here. */
interface Runner {
  readonly externalStorage: Pick<ExternalStorage, 'payloadSizeThreshold'>;
}

let isPassing = false;

/** Changes the SDK's class, once for the process. */
export function passSmallPayloads(): void {
  if (isPassing) return;
  isPassing = true;
  const { prototype } = runner.ExternalStorageRunner;
  const { store, retrieve } = prototype;
  prototype.store = async function (payloads, options) {
    const { payloadSizeThreshold } = (this as unknown as Runner).externalStorage;
    const isSmall = payloads.every((payload) => mostBytes(payload) < payloadSizeThreshold);
    return isSmall ? payloads : store.call(this, payloads, options);
  };
  prototype.retrieve = async function (payloads, options) {
    return payloads.some(helpers.isReferencePayload) ? retrieve.call(this, payloads, options) : payloads;
  };
}

/** At least as many as the encoded payload has. */
function mostBytes({ data, metadata, externalPayloads }: Payload & { externalPayloads?: unknown }): number {
  if (Array.isArray(externalPayloads) && externalPayloads.length > 0) return Number.POSITIVE_INFINITY;
  let bytes = (data?.length ?? 0) + MEMBER_BYTES;
  // A character of a name takes at most three bytes.
  for (const name in metadata) bytes += 3 * name.length + (metadata[name]?.length ?? 0) + 2 * MEMBER_BYTES;
  return bytes;
}
