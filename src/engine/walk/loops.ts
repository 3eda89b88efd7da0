/** Enters, ticks and breaks loops (LANGUAGE.md §3.1). follow.ts leaves them. */

import { assert } from '../../json/assert.ts';
import { jsonBytes } from '../../json/bytes.ts';
import type { Json } from '../../json/json.ts';
import { StepFailure } from '../../steps/kind.ts';
import type { LoopState } from '../../steps/loop-state.ts';
import type { Core } from '../state/core.ts';
import { RECORD_OVERHEAD } from '../state/limits.ts';
import { charge, chargeValue, requireSpace } from '../state/space.ts';
import type { Envelope } from '../state/state.ts';
import { followPort } from './follow.ts';
import { dropRollbacksBeforeTick } from './history-keep.ts';
import { recordEnd, removeVisit, type VisitRef } from './visit-end.ts';

/** Pushes a loop record onto the frame, so that `while` can read `loop`. @throws StepFailure `state_too_large`. */
export function enterLoop(core: Core, ref: VisitRef, state: LoopState): void {
  const { frame, step, path } = ref;
  const bytes = jsonBytes(state);
  core.state.bytes += bytes;
  charge(core, RECORD_OVERHEAD + 4 * path.length);
  frame.loops.push({
    slug: step.slug,
    path,
    startedAt: ref.startedAt,
    tick: -1,
    state,
    counts: {},
    hasOutput: false,
  });
  try {
    requireSpace(core, 'What the loop works on', bytes);
  } catch (error) {
    frame.loops.pop();
    throw error;
  }
  core.state.work.push({ do: 'resume', frame: frame.id, path, event: { on: 'enter' } });
}

/** Begins the next tick: replaces the step's entry and walks the body. @throws StepFailure `state_too_large`. */
export function beginTick(core: Core, ref: VisitRef, data: Json): void {
  const { frame, step } = ref;
  const loop = ref.record;
  assert(loop !== undefined, 'A tick is one of an open loop.');
  loop.tick++;
  loop.counts = {};
  loop.hasOutput = false;
  const bytes = jsonBytes(loop.state.carry);
  core.state.bytes += bytes;
  chargeValue(core, data);
  try {
    requireSpace(core, 'What the loop carries', bytes);
  } catch (error) {
    loop.state.carry = null;
    throw error;
  }
  dropRollbacksBeforeTick(core, loop, loop.tick);
  const output: Envelope = { type: step.kind.type, data };
  frame.entries[step.slug] = { stepType: step.type, name: step.name, output };
  frame.lastOutput = output;
  followPort(core, frame, step, step.branches[0] ?? null);
}

/** Ends the step, then the innermost loop of the frame. @throws StepFailure `break_outside_loop`. */
export function breakLoop(core: Core, ref: VisitRef, value: Json): void {
  const { frame } = ref;
  const loop = frame.loops.at(-1);
  if (loop === undefined) throw new StepFailure('break_outside_loop', 'There is no loop here to break out of.');
  removeVisit(core, ref);
  recordEnd(core, ref, { type: ref.step.kind.type, data: value }, 'completed');
  core.state.work.push({ do: 'resume', frame: frame.id, path: loop.path, event: { on: 'break', value } });
}
