/**
 * Inputs that the store could not deliver when their activity began. The argument of the activity holds the reference,
 * and the activity reads the input itself (src/client/payloads/large-results.ts).
 */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
// The package is CommonJS without named exports: its values come by the default, its types by name.
import proto, { type coresdk } from '@temporalio/proto';
import { isObject } from '../json/json.ts';
import { isReferencePayload } from './sdk.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;
/** The member of the argument. An input of an activity has none of this name (contract/run/activity.ts). */
const REFERENCE = '$stored';

/** Passes references of the task on to the activity. False where the task starts none. */
export function deferInput({ start }: coresdk.activity_task.IActivityTask): boolean {
  if (start == null) return false;
  start.input = (start.input ?? []).map((payload) =>
    isReferencePayload(payload) ? referenceArgument(payload) : payload,
  );
  // Segments of earlier versions: the effects since their first attempt are repeated, with their keys.
  start.heartbeatDetails = (start.heartbeatDetails ?? []).filter((payload) => !isReferencePayload(payload));
  return true;
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
