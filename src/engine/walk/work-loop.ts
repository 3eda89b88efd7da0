/** Walks the queued work, and yields where one activation would take too long. */
import { CHUNK_STEPS, type Chunks, runChunks } from '../../steps/chunks.ts';
import type { Core } from '../state/core.ts';
import { MAX_ACTIVATION_UNITS, STEP_UNITS, spareOf } from '../state/limits.ts';
import { carriedBytes } from '../state/serialize.ts';
import { fitsLimit } from '../state/space.ts';
import type { RunState } from '../state/state.ts';
import { offerReturned } from './delivery.ts';
import { failRun } from './ending.ts';
import { walk } from './walk.ts';

/** A chunk of the walk ends after this many units, even after few steps: measuring a full state is most of the work. */
const CHUNK_UNITS = MAX_ACTIVATION_UNITS / 50;

export function runWorkLoop(core: Core): void {
  runChunks(runWorkLoopInChunks(core));
}

export function* runWorkLoopInChunks(core: Core): Chunks {
  const { state } = core;
  let walked = 0;
  let chunkStartUnits = state.activation.units;
  while (
    state.work.length > 0 &&
    state.ending === undefined &&
    state.rollback === undefined &&
    state.admission === undefined &&
    !state.paused &&
    !state.yielding
  ) {
    if (state.activation.units >= MAX_ACTIVATION_UNITS) {
      requestYield(core);
      return;
    }
    const work = state.work.shift()!;
    const before = state.bytes;
    if (work.do === 'offer') offerReturned(core);
    else walk(core, work);
    // Measuring the values that a step stores is work too.
    state.activation.units += STEP_UNITS + (Math.max(0, state.bytes - before) >> 3);
    checkLimit(core);
    if (++walked < CHUNK_STEPS && state.activation.units - chunkStartUnits < CHUNK_UNITS) continue;
    yield;
    walked = 0;
    chunkStartUnits = state.activation.units;
  }
}

/** Begins to count the work of a new activation. */
export function resetActivation({ activation, now }: RunState): void {
  activation.at = now;
  activation.units = 0;
  activation.bytes = 0;
}

export function requestYield(core: Core): void {
  core.state.yielding = true;
  core.commands.push({ type: 'yield' });
}

/** Checks the size of the state after every step (LANGUAGE.md §12): pure steps may grow it much within one event. */
export function checkLimit(core: Core): void {
  const { program, state } = core;
  if (state.ending !== undefined || state.rollback !== undefined) return;
  const limit = program.dataBytes();
  // Large values of steps were refused before (space.ts). This check is for events and many small values.
  if (fitsLimit(program, state, limit + spareOf(limit))) return;
  const bytes = carriedBytes(program, state);
  failRun(core, {
    code: 'state_too_large',
    message:
      `The definition and the state of the run together have ${bytes} bytes; at most ${limit} fit. ` +
      'Keep less in outputs, variables and lists.',
    retryable: false,
    details: { bytes, limit },
  });
}
