/**
 * The limit of a run's data (LANGUAGE.md §12): its definition and its state together, as continue-as-new carries them.
 *
 * `state.bytes` is updated with every change and is never too low: replaced and shared values stay counted. When it
 * exceeds the limit, also without data that only waits, the state is measured (measure.ts). When the measure exceeds
 * it too, which can be too high for values referenced as a whole and in part, the state is serialized, and not again
 * before something large has changed.
 *
 * A value that does not fit fails its step before the step changes anything.
 */

import { valueLimitOf } from '../../definition/document/limits.ts';
import { recordBytes } from '../../json/bytes.ts';
import type { Json } from '../../json/json.ts';
import { type FailureShape, StepFailure } from '../../steps/kind.ts';
import type { Program } from '../../steps/program-types.ts';
import type { Core } from './core.ts';
import { MAX_ACTIVATION_UNITS, MAX_PAYLOAD_BYTES, SHORT_RESULT_BYTES, SMALL_BYTES, spareOf } from './limits.ts';
import { LARGE_BYTES, type Measured, measure, UNCHARGED_BYTES, valueBytes } from './measure.ts';
import { definitionBytes, serialize } from './serialize.ts';
import type { RunState, SerializedSize } from './state.ts';

/** Units of work per byte, as right shifts: measuring, and serializing. */
const MEASURE_SHIFT = 7;
const WRITE_SHIFT = 3;
/** A state whose measure changed by less than this is not serialized again. */
const MIN_CHANGE_BYTES = 64_000;
/** As a right shift: the fraction by which an estimate has to grow after its correction to be corrected again. */
const GROWTH_SHIFT = 3;

/** Adds to the size of the state. */
export function charge({ state }: Core, bytes: number): void {
  state.bytes += bytes;
}

export function chargeValue(core: Core, value: Json | undefined): void {
  core.state.bytes += valueBytes(value);
}

/**
 * Checks the space for a value that is already in the state. `uncounted` bytes are not in `state.bytes` yet.
 * @throws StepFailure `state_too_large`. The caller then removes the value.
 */
export function requireSpace(core: Core, what: string, bytes: number, uncounted = 0): void {
  const limit = core.program.dataBytes();
  // Small values may use the spare space, so a full run can still end normally.
  const maxBytes = bytes <= SMALL_BYTES ? limit + spareOf(limit) / 2 : limit;
  if (!fitsLimit(core.program, core.state, maxBytes, uncounted)) throw stateTooLarge(what, bytes, limit);
}

/** Whether an unread message of this size fits. It may not use the spare space, which steps need. */
export function hasSpace({ program, state }: Core, bytes: number): boolean {
  const limit = program.dataBytes();
  // A full run may receive many messages in one activation, and measuring for each takes too long. The current estimate
  // is then used, unless the run was never full, where the estimate may be far too high.
  const { activation, serializedSizes } = state;
  if (activation.units < MAX_ACTIVATION_UNITS || serializedSizes?.full === undefined)
    return fitsLimit(program, state, limit - bytes);
  return state.bytes + bytes <= limit - definitionBytes(program);
}

/** Checks, before an activity starts, that a short result fits. The activity's config is already in the state. */
export function requireSpaceForEffect(core: Core, configBytes: number): void {
  const limit = core.program.dataBytes();
  if (!fitsLimit(core.program, core.state, limit - SHORT_RESULT_BYTES))
    throw stateTooLarge("The step's config and a short answer", configBytes + SHORT_RESULT_BYTES, limit);
}

/** A failure that is caught stays in the state. Details that do not fit are omitted. */
export function trimToSpace({ program, state }: Core, failure: FailureShape): FailureShape {
  const limit = program.dataBytes();
  const bytes = valueBytes(failure.details);
  if (bytes <= SMALL_BYTES) return failure;
  // The failure is in the root `error`, in the step's entry, and in the errors of a forEach.
  if (fitsLimit(program, state, limit - bytes)) {
    state.bytes += bytes;
    return failure;
  }
  return { ...failure, details: { omitted: 'too large', bytes } };
}

/** Whether definition and state fit within the limit. An estimate above the limit is corrected. */
export function fitsLimit(program: Program, state: RunState, limit: number, uncounted = 0): boolean {
  const maxBytes = limit - definitionBytes(program);
  if (state.bytes + uncounted <= maxBytes) return true;
  const waiting = measureQueued(state, limit);
  // Otherwise a run with much data that waits is measured at each step.
  if (program.isMarked('fits2') && state.bytes + uncounted - waiting.bytes <= maxBytes) return true;
  const measured = measure(program, state);
  state.activation.units += measured.bytes >> MEASURE_SHIFT;
  state.bytes = measured.bytes;
  const bytes = measured.bytes - waiting.bytes;
  const large = measured.large - waiting.large;
  // Near the limit the exact size is worth its cost: without it the next step would measure again.
  if (bytes <= maxBytes - (maxBytes >> 4)) return true;
  const { fitting, full } = state.serializedSizes ?? {};
  const isUnchanged = (one: SerializedSize | undefined): one is SerializedSize =>
    one?.large === large && Math.abs(bytes - one.bytes) < MIN_CHANGE_BYTES;
  if (isUnchanged(full) && full.written > maxBytes) return false;
  if (isUnchanged(fitting) && fitting.written + Math.max(0, bytes - fitting.bytes) <= maxBytes) {
    state.bytes = fitting.written + Math.max(0, bytes - fitting.bytes) + waiting.bytes;
    return true;
  }
  state.bytes = recordBytes(serialize(program, state)) + UNCHARGED_BYTES;
  state.activation.units += state.bytes >> WRITE_SHIFT;
  const written = state.bytes - waiting.bytes;
  state.serializedSizes = {
    ...state.serializedSizes,
    [written <= maxBytes ? 'fitting' : 'full']: { bytes, large, written },
  };
  return written <= maxBytes;
}

/**
 * Measures the state, unless its estimate has hardly grown since the last time. So the work grows with the bytes that
 * were charged, not with their square.
 */
export function correctEstimate(program: Program, state: RunState): void {
  const { correctedBytes: before } = state;
  if (before !== undefined && state.bytes >= before && state.bytes < before + (before >> GROWTH_SHIFT)) return;
  const { bytes } = measure(program, state);
  state.activation.units += bytes >> MEASURE_SHIFT;
  state.bytes = bytes;
  state.correctedBytes = bytes;
}

/**
 * Data that stays only for a while: results that wait for the walk while the run is paused or yields; and, without a
 * blob store, configs of open activities, since a run does not continue as new before they end. With a blob store,
 * configs may be large, so they count.
 */
function measureQueued({ work, openCommands: open }: RunState, limit: number): Measured {
  let bytes = 0;
  let large = 0;
  const count = (value: Json): void => {
    const size = valueBytes(value);
    bytes += size;
    if (size >= LARGE_BYTES) large++;
  };
  for (const one of work) if (one.do === 'resume' && one.event.on === 'completed') count(one.event.result.data);
  if (limit <= MAX_PAYLOAD_BYTES)
    for (const one of Object.values(open)) if (one.type === 'run') count(one.command.config);
  return { bytes, large };
}

/** Whether a result may wait for the walk. Together, waiting results may have the size of a state. */
export function mayQueueResult({ program, state }: Core, bytes: number): boolean {
  const limit = program.dataBytes();
  return bytes <= SMALL_BYTES || measureQueued(state, Number.POSITIVE_INFINITY).bytes + bytes <= valueLimitOf(limit);
}

export function stateTooLarge(what: string, bytes: number, limit: number): StepFailure {
  return new StepFailure(
    'state_too_large',
    `${what} (${bytes} bytes) does not fit beside the run's other data: definition and state may have ${limit} bytes ` +
      'together. Keep less in outputs, variables and lists, or do the work in runs of its own.',
    // A retry may produce less data, or run on a worker with a higher limit.
    { retryable: true, details: { bytes, limit } },
  );
}
