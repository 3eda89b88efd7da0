/**
 * Follows an edge (LANGUAGE.md §2.2, §3.3): to the next step, the end of the tick, out of a loop, or the end of the
 * frame.
 */
import { END_TARGET } from '../../steps/ports.ts';
import type { Step } from '../../steps/program-types.ts';
import { type Core, stepOf } from '../state/core.ts';
import type { Frame, LoopRecord } from '../state/state.ts';
import { completeRun, ROOT_FRAME_ID } from './ending.ts';
import { endFrame, leaveLoops, traceLoopEnd } from './frames.ts';
import { dropRollbacksAtLoopEnd } from './history-keep.ts';

export function followPort(core: Core, frame: Frame, from: Step, port: string | null): void {
  const target = port !== null && Object.hasOwn(from.next, port) ? from.next[port] : undefined;
  if (target === END_TARGET) {
    leaveLoops(core, frame, 'completed');
    completeRun(core, undefined);
  } else if (target === undefined) endOfPath(core, frame);
  else goTo(core, frame, target);
}

/** A port without a target ends the tick, the iteration, the branch or, at the top, the run. */
function endOfPath(core: Core, frame: Frame): void {
  const record = frame.loops.at(-1);
  if (record !== undefined) endTick(core, frame, record);
  else if (frame.id === ROOT_FRAME_ID) completeRun(core, undefined);
  else endFrame(core, frame);
}

function goTo(core: Core, frame: Frame, target: string): void {
  // finish, return and fail belong to no region: reaching one leaves no loop.
  if (stepOf(core, target).kind.class !== 'end') {
    for (let record = frame.loops.at(-1); record !== undefined; record = frame.loops.at(-1)) {
      if (target === record.slug) {
        endTick(core, frame, record);
        return;
      }
      if (stepOf(core, record.slug).region?.body.has(target) === true) break;
      leaveLoop(core, frame);
      traceLoopEnd(core, record, 'completed');
    }
    if (
      frame.parent !== undefined &&
      frame.loops.length === 0 &&
      core.state.frames[frame.parent]!.visit?.slug === target
    ) {
      endFrame(core, frame);
      return;
    }
  }
  core.state.work.push({ do: 'visit', frame: frame.id, slug: target });
}

function endTick(core: Core, frame: Frame, record: LoopRecord): void {
  const last = record.hasOutput ? (frame.lastOutput?.data ?? null) : null;
  core.state.work.push({ do: 'resume', frame: frame.id, path: record.path, event: { on: 'tick', last } });
}

/** Pops the innermost loop record. It stays readable as `frame.left`. */
export function leaveLoop(core: Core, frame: Frame): void {
  const record = frame.loops.pop();
  if (record === undefined) return;
  frame.lastLoop = record;
  dropRollbacksAtLoopEnd(core, record);
}
