/** Where a visit is among the frames of its run, so that readers of traces need not take paths apart. */
import { tickPath, visitCount } from './paths.ts';
import type { Place } from './protocol.ts';
import type { Frame, LoopRecord, RunState } from './state.ts';

/** The place of the step's latest visit in this frame, within `loop` if there is one. `key`: as counted. */
export function placeOf(state: RunState, frame: Frame, loop: LoopRecord | undefined, key: string): Place {
  const visit = visitCount(loop?.counts ?? frame.counts, key);
  return { ...scopeOf(state, frame, loop), ...(visit > 0 ? { visit } : {}) };
}

function scopeOf(state: RunState, frame: Frame, loop: LoopRecord | undefined): Place {
  if (loop !== undefined) return { frame: tickPath(loop.path, loop.tick), container: loop.path, tick: loop.tick };
  const container = frame.parent === undefined ? undefined : state.frames[frame.parent]?.visit?.path;
  // The steps of a dag have frames of their own, but no container.
  if (container === undefined || frame.prefix !== undefined) return {};
  const { item, name } = frame;
  return { frame: frame.id, container, ...(item === undefined ? { branch: name ?? '' } : { index: item.index }) };
}
