/**
 * Inputs of activities that the store did not give when they began. The reference stands in the argument of the
 * activity, which reads it itself (large-results.ts).
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

/** Whether the store may give or take it later. */
const isAway = (error: unknown): boolean =>
  error instanceof ApplicationFailure && typeof error.type === 'string' && error.type !== DAMAGED;

/** Leaves references in the task as they are. @throws the error, where a later try would not help */
export function leaveInput({ start }: coresdk.activity_task.IActivityTask, error: unknown): void {
  if (start == null || !isAway(error)) throw error;
  start.input = (start.input ?? []).map((payload) => (isReferencePayload(payload) ? leftFor(payload) : payload));
  // Segments of earlier versions: the effects since their first attempt are repeated, with their keys.
  start.heartbeatDetails = (start.heartbeatDetails ?? []).filter((payload) => !isReferencePayload(payload));
}

const leftFor = (reference: Payload): Payload =>
  defaultPayloadConverter.toPayload({
    [REFERENCE]: Buffer.from(PayloadMessage.encode(reference).finish()).toString('base64'),
  });

/** The reference in the argument of an activity. Undefined where it is the input itself. */
export function referenceIn(argument: unknown): Payload | undefined {
  const text = isObject(argument) ? argument[REFERENCE] : undefined;
  return typeof text === 'string' ? PayloadMessage.decode(Buffer.from(text, 'base64')) : undefined;
}
