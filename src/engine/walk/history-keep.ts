/** historyKeep: drops the rollbacks of all ticks but the last ones (LANGUAGE.md §5). */
import type { Core } from '../state/core.ts';
import { tickPath } from '../state/paths.ts';
import type { Frame, LoopRecord } from '../state/state.ts';

/** Called when a loop begins a tick. */
export function dropRollbacksBeforeTick(core: Core, loop: LoopRecord, tick: number): void {
  const { historyKeep } = loop.state;
  if (historyKeep !== undefined) dropRollbacks(core, loop, tick - historyKeep);
}

/** Called when a step in this frame has registered a rollback. Its tick counts as one of those kept. */
export function dropRollbacksOfOlderTicks(core: Core, frame: Frame): void {
  const { frames } = core.state;
  for (
    let at: Frame | undefined = frame;
    at !== undefined;
    at = at.parent === undefined ? undefined : frames[at.parent]
  )
    for (const loop of at.loops) dropOlderRollbacks(core, loop);
}

/** Called when a loop is left. Its current tick is the last of those kept. */
export function dropOlderRollbacks(core: Core, loop: LoopRecord): void {
  const { historyKeep } = loop.state;
  if (historyKeep !== undefined) dropRollbacks(core, loop, loop.tick + 1 - historyKeep);
}

/** Drops the rollbacks of ticks before this one. Earlier calls have dropped all but the last of them. */
function dropRollbacks(core: Core, loop: LoopRecord, before: number): void {
  if (before < 1) return;
  const prefix = `${tickPath(loop.path, before - 1)}/`;
  const { state } = core;
  if (state.rollbackSteps.some((step) => step.kind === 'step' && step.path.startsWith(prefix)))
    state.rollbackSteps = state.rollbackSteps.filter((step) => step.kind !== 'step' || !step.path.startsWith(prefix));
}
