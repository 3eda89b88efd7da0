/** historyKeep: rollbacks of ticks before the last few are given up (LANGUAGE.md §5). */
import type { Core } from '../state/core.ts';
import { tickPath } from '../state/paths.ts';
import type { Frame, LoopRecord } from '../state/state.ts';

/** The loop begins a tick: those before it are all that have something to undo. */
export function dropRollbacksBeforeTick(core: Core, loop: LoopRecord, tick: number): void {
  const { keep } = loop.hold;
  if (keep !== undefined) dropRollbacks(core, loop, tick - keep);
}

/** A step in this frame has left something to undo: the tick that it stands in is one of those kept. */
export function dropRollbacksOfOlderTicks(core: Core, frame: Frame): void {
  const { frames } = core.state;
  for (
    let at: Frame | undefined = frame;
    at !== undefined;
    at = at.parent === undefined ? undefined : frames[at.parent]
  )
    for (const loop of at.loops) dropOlderRollbacks(core, loop);
}

/** The loop was left in the tick that it is in, which is the last of those kept. */
export function dropOlderRollbacks(core: Core, loop: LoopRecord): void {
  const { keep } = loop.hold;
  if (keep !== undefined && core.program.rules.loopsAsDescribed()) dropRollbacks(core, loop, loop.tick + 1 - keep);
}

/** All ticks below that number: each time only the last of them still has something. */
function dropRollbacks(core: Core, loop: LoopRecord, before: number): void {
  if (before < 1) return;
  const prefix = `${tickPath(loop.path, before - 1)}/`;
  const { state } = core;
  if (state.undo.some((undo) => undo.undo === 'step' && undo.path.startsWith(prefix)))
    state.undo = state.undo.filter((undo) => undo.undo !== 'step' || !undo.path.startsWith(prefix));
}
