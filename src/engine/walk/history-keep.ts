/** historyKeep: drops the rollbacks of all ticks but the last ones (LANGUAGE.md §5). */
import type { Core } from '../state/core.ts';
import { tickPath } from '../state/paths.ts';
import type { Frame, LoopRecord, RollbackStep } from '../state/state.ts';

/** Called when a loop begins a tick. */
export function dropRollbacksBeforeTick(core: Core, loop: LoopRecord, tick: number): void {
  const { historyKeep } = loop.state;
  if (historyKeep !== undefined) dropRollbacks(core, loop, tick - historyKeep);
}

/** Called when a step in this frame has registered a rollback. Its tick counts as one of those kept. */
export function dropRollbacksOfOlderTicks(core: Core, frame: Frame): void {
  for (const loop of loopsAround(core, frame)) dropRollbacksAtLoopEnd(core, loop);
}

/** The ticks of loops with historyKeep that hold a visit, and that its path does not name. */
export function ticksOutsidePath(core: Core, frame: Frame, path: string): string[] {
  if (!core.program.isMarked('modifiers2')) return [];
  const keeping = loopsAround(core, frame).filter(({ state }) => state.historyKeep !== undefined);
  return keeping.map((loop) => tickPath(loop.path, loop.tick)).filter((tick) => !path.startsWith(`${tick}/`));
}

/** The loops of the frame and of the frames that hold it. */
function loopsAround(core: Core, frame: Frame): LoopRecord[] {
  const outer = frame.parent === undefined ? undefined : core.state.frames[frame.parent];
  return outer === undefined ? frame.loops : [...frame.loops, ...loopsAround(core, outer)];
}

/** Called when a loop is left. Its current tick is the last of those kept. */
export function dropRollbacksAtLoopEnd(core: Core, loop: LoopRecord): void {
  const { historyKeep } = loop.state;
  if (historyKeep !== undefined) dropRollbacks(core, loop, loop.tick + 1 - historyKeep);
}

/** Drops the rollbacks of ticks before this one. Earlier calls have dropped all but the last of them. */
function dropRollbacks(core: Core, loop: LoopRecord, before: number): void {
  if (before < 1) return;
  const tick = tickPath(loop.path, before - 1);
  const { state } = core;
  const isOld = (step: RollbackStep): boolean =>
    step.kind === 'step' && (step.path.startsWith(`${tick}/`) || step.ticks?.includes(tick) === true);
  if (state.rollbackSteps.some(isOld)) state.rollbackSteps = state.rollbackSteps.filter((step) => !isOld(step));
}
