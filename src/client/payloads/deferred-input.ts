/**
 * Inputs that the store could not deliver when their activity began. The argument of the activity holds the reference,
 * and the activity reads the input itself (large-results.ts).
 */
import { ApplicationFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import { isReferencePayload } from '@temporalio/common/lib/internal-non-workflow/index.js';
// The package is CommonJS without named exports: its values come by the default, its types by name.
import proto, { type coresdk } from '@temporalio/proto';
import { isObject } from '../../json/json.ts';
import type { BlobCode } from './blob-store.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;
/** The member of the argument. An input of an activity has none of this name (contract/activity.ts). */
const REFERENCE = '$stored';
const DAMAGED: BlobCode = 'blob_damaged';

/** Whether a later attempt may succeed. */
const isTransientFailure = (error: unknown): boolean =>
  error instanceof ApplicationFailure && typeof error.type === 'string' && error.type !== DAMAGED;

/** Passes references of the task on to the activity. @throws the error, where a later attempt would not help */
export function deferInput({ start }: coresdk.activity_task.IActivityTask, error: unknown): void {
  if (start == null || !isTransientFailure(error)) throw error;
  start.input = (start.input ?? []).map((payload) =>
    isReferencePayload(payload) ? referenceArgument(payload) : payload,
  );
  // Segments of earlier versions: the effects since their first attempt are repeated, with their keys.
  start.heartbeatDetails = (start.heartbeatDetails ?? []).filter((payload) => !isReferencePayload(payload));
}

const referenceArgument = (reference: Payload): Payload =>
  defaultPayloadConverter.toPayload({
    [REFERENCE]: Buffer.from(PayloadMessage.encode(reference).finish()).toString('base64'),
  });

/** The reference in the argument of an activity. Undefined where it is the input itself. */
export function referenceIn(argument: unknown): Payload | undefined {
  const text = isObject(argument) ? argument[REFERENCE] : undefined;
  return typeof text === 'string' ? PayloadMessage.decode(Buffer.from(text, 'base64')) : undefined;
}
