/**
 * How much a run may hold (LANGUAGE.md §12): its definition and its state together, as continue-as-new would carry them.
 *
 * `state.bytes` is kept with every change and is never below the truth: what is replaced or shared stays counted. Only
 * when it comes over the limit is the state measured (measure.ts); and only when that is over it too, since a value may be
 * held as a whole and in part, is the state written out, and not again before something large has changed.
 *
 * What does not fit fails the step that brings it, before the step changes anything.
 */

import { valueLimitOf } from '../../definition/document/limits.ts';
import { jsonBytes } from '../../json/bytes.ts';
import type { Json } from '../../json/json.ts';
import { type FailureShape, StepFailure } from '../../steps/kind.ts';
import type { Program } from '../../steps/program-types.ts';
import type { Core } from './core.ts';
import { ANSWER_BYTES, MAX_ACTIVATION_UNITS, MAX_PAYLOAD_BYTES, SMALL_BYTES, spareOf } from './limits.ts';
import { LARGE_BYTES, type Measured, measure, valueBytes } from './measure.ts';
import { definitionBytes, serialize } from './serialize.ts';
import type { RunState, Weighing } from './state.ts';

/** Units of work that measuring takes, a byte. */
const MEASURE_SHIFT = 7;
const WRITE_SHIFT = 3;
/** A state that measures the same within so many bytes is not written out again. */
const SAME_BYTES = 64_000;

/** The state takes so much more. Tasks from before the limit was stamped count less. */
export function charge({ program, state }: Core, bytes: number): void {
  if (program.rules.dataBytes() !== undefined) state.bytes += bytes;
}

export function chargeValue(core: Core, value: Json | undefined): void {
  if (core.program.rules.dataBytes() !== undefined) core.state.bytes += valueBytes(value);
}

/**
 * What a step wants to keep stands in the state; `uncounted` bytes of it are not in `state.bytes` yet.
 * @throws StepFailure `state_too_large`. Whoever put it there takes it out again.
 */
export function demandSpace(core: Core, what: string, bytes: number, uncounted = 0): void {
  const limit = core.program.rules.dataBytes();
  if (limit === undefined) return;
  // A decision or a short word has room where data has none, so that a run that is full can still end as it should.
  const most = bytes <= SMALL_BYTES ? limit + spareOf(limit) / 2 : limit;
  if (!fits(core.program, core.state, most, uncounted)) throw stateTooLarge(what, bytes, limit);
}

/** Whether a message of so many bytes may wait. It leaves the spare room to the steps, so that the run can go on. */
export function hasSpace({ program, state }: Core, bytes: number): boolean {
  const limit = program.rules.dataBytes();
  if (limit === undefined) return true;
  // Many messages may come at once to a run that is full. Where measuring for each would take too long, the figure as it
  // stands has to do; of a run that was never full it may be far above the truth.
  const { effort, weighings } = state;
  if (effort.units < MAX_ACTIVATION_UNITS || weighings?.full === undefined) return fits(program, state, limit - bytes);
  return state.bytes + bytes <= limit - definitionBytes(program);
}

/** Before an effect is made: its config stands in the state, and a short answer has to fit beside it. */
export function demandSpaceForEffect(core: Core, configBytes: number): void {
  const limit = core.program.rules.dataBytes();
  if (limit === undefined) return;
  if (!fits(core.program, core.state, limit - ANSWER_BYTES))
    throw stateTooLarge("The step's config and a short answer", configBytes + ANSWER_BYTES, limit);
}

/** A failure that stays in the state, since something catches it: details that do not fit are left out. */
export function trimToSpace({ program, state }: Core, failure: FailureShape): FailureShape {
  const limit = program.rules.dataBytes();
  const bytes = limit === undefined ? 0 : valueBytes(failure.details);
  if (limit === undefined || bytes <= SMALL_BYTES) return failure;
  // It stands in the root `error`, in the step's entry, and in what a forEach tells of its errors.
  if (fits(program, state, limit - bytes)) {
    state.bytes += bytes;
    return failure;
  }
  return { ...failure, details: { omitted: 'too large', bytes } };
}

/** Definition and state. The figure is corrected when it comes over the limit. */
export function fits(program: Program, state: RunState, limit: number, uncounted = 0): boolean {
  const most = limit - definitionBytes(program);
  if (state.bytes + uncounted <= most) return true;
  const waiting = measureQueued(state, limit);
  const measured = measure(program, state);
  state.effort.units += measured.bytes >> MEASURE_SHIFT;
  state.bytes = measured.bytes;
  const bytes = measured.bytes - waiting.bytes;
  const large = measured.large - waiting.large;
  // Near the limit the exact figure is worth its price: without it the next step would have to measure again.
  if (bytes <= most - (most >> 4)) return true;
  const { fitting, full } = state.weighings ?? {};
  const isLike = (one: Weighing | undefined): one is Weighing =>
    one?.large === large && Math.abs(bytes - one.bytes) < SAME_BYTES;
  if (isLike(full) && full.written > most) return false;
  if (isLike(fitting) && fitting.written + Math.max(0, bytes - fitting.bytes) <= most) {
    state.bytes = fitting.written + Math.max(0, bytes - fitting.bytes) + waiting.bytes;
    return true;
  }
  state.bytes = jsonBytes(serialize(program, state));
  state.effort.units += state.bytes >> WRITE_SHIFT;
  const written = state.bytes - waiting.bytes;
  state.weighings = { ...state.weighings, [written <= most ? 'fitting' : 'full']: { bytes, large, written } };
  return written <= most;
}

/**
 * What is no step's for good: results that have come and wait for the walk, while the run is paused or gives way; and
 * configs of open effects where there is no blob store, since a run ends no execution before its effects have ended. With
 * one, configs may be so large that they count.
 */
function measureQueued({ work, open }: RunState, limit: number): Measured {
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

/** Whether a result may wait: together they take as much as a state, so that none piles up without bound. */
export function mayQueueResult({ program, state }: Core, bytes: number): boolean {
  const limit = program.rules.dataBytes();
  return (
    limit === undefined ||
    bytes <= SMALL_BYTES ||
    measureQueued(state, Number.POSITIVE_INFINITY).bytes + bytes <= valueLimitOf(limit)
  );
}

export function stateTooLarge(what: string, bytes: number, limit: number): StepFailure {
  return new StepFailure(
    'state_too_large',
    `${what} (${bytes} bytes) does not fit beside what the run holds: its definition and its state may have ${limit} bytes together. Keep less in outputs, variables and lists, or do the work in runs of its own.`,
    // The same step may have less to keep when it is tried again, or a worker that lets it keep more.
    { retryable: true, details: { bytes, limit } },
  );
}
