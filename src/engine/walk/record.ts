/** A visit leaves its frame: what it opened is closed, and its entry and its row are written. */

import type { RunError } from '../../contract/run.ts';
import { defined } from '../../json/defined.ts';
import type { JsonObject } from '../../json/json.ts';
import type { Step } from '../../steps/program-types.ts';
import type { Core } from '../state/core.ts';
import { ENTRY_OVERHEAD, RECORD_OVERHEAD } from '../state/limits.ts';
import { valueBytes } from '../state/measure.ts';
import { charge } from '../state/space.ts';
import type { Envelope, Frame, LoopRecord, OpenVisit } from '../state/state.ts';
import { ROOT } from './ending.ts';
import { leaveLoop } from './follow.ts';
import { cancelOpened } from './frames.ts';

/** Where an outcome applies: an open visit of the frame, or its innermost loop record. */
export interface VisitRef {
  readonly frame: Frame;
  readonly step: Step;
  readonly path: string;
  readonly startedAt: number;
  readonly visit?: OpenVisit;
  readonly record?: LoopRecord;
}

/** Closes what the visit opened and takes it, or its loop record, off the frame. */
export function removeVisit(core: Core, { frame, record, visit }: VisitRef): void {
  if (record !== undefined) leaveLoop(core, frame);
  if (visit !== undefined && frame.visit === visit) {
    cancelOpened(core, frame);
    delete frame.visit;
  }
}

/** Writes the step's entry and ends its row. `port`: the one that it went by, if it did; `error`: what it failed with. */
export function recordEnd(
  core: Core,
  place: VisitRef,
  output: Envelope,
  status: 'completed' | 'failed' | 'skipped',
  port?: string | null,
  error?: RunError,
): void {
  // The graph of a dag is no step: it has no entry and no row.
  if (place.path === ROOT) return;
  const { frame, step, path } = place;
  const { state } = core;
  frame.entries[step.slug] = { stepType: step.type, name: step.name, output };
  if (status !== 'skipped') {
    frame.lastOutput = output;
    frame.moved = true;
    const loop = frame.loops.at(-1);
    if (loop !== undefined) loop.moved = true;
  }
  state.bytes += valueBytes(output.data) + valueBytes(output.meta) + ENTRY_OVERHEAD;
  charge(core, 2 * (step.slug.length + step.name.length) + RECORD_OVERHEAD / 5);
  core.trace?.({
    t: 'end',
    path,
    status,
    ...(port === undefined || port === null ? {} : { port }),
    output: { ...output } as JsonObject,
    ...defined({ error }),
    at: state.now,
  });
}
