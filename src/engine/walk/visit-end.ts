/** Removes a visit from its frame, and records its entry and its row. */

import type { RunError } from '../../contract/run/run.ts';
import type { JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { Step } from '../../steps/program-types.ts';
import type { Core } from '../state/core.ts';
import { ENTRY_OVERHEAD, RECORD_OVERHEAD } from '../state/limits.ts';
import { valueBytes } from '../state/measure.ts';
import { charge } from '../state/space.ts';
import type { Envelope, Frame, LoopRecord, OpenVisit } from '../state/state.ts';
import { ROOT_FRAME_ID } from './ending.ts';
import { leaveLoop } from './follow.ts';
import { cancelOpened } from './frames.ts';

/** The target of an outcome: the open visit of a frame, its innermost loop record, or a visit that begins. */
export interface VisitRef {
  readonly frame: Frame;
  readonly step: Step;
  readonly path: string;
  readonly startedAt: number;
  readonly visit?: OpenVisit;
  readonly record?: LoopRecord;
}

/** Cancels everything that the visit opened, and removes it or its loop record from the frame. */
export function removeVisit(core: Core, { frame, record, visit }: VisitRef): void {
  if (record !== undefined) leaveLoop(core, frame);
  if (visit !== undefined && frame.visit === visit) {
    cancelOpened(core, frame);
    delete frame.visit;
  }
}

/** Writes the step's entry and ends its row. `port`: the port that it took, if any. `error`: its failure. */
export function recordEnd(
  core: Core,
  ref: VisitRef,
  output: Envelope,
  status: 'completed' | 'failed' | 'skipped',
  port?: string | null,
  error?: RunError,
): void {
  // The graph of a dag is not a step: it has no entry and no row.
  if (ref.path === ROOT_FRAME_ID) return;
  const { frame, step, path } = ref;
  const { state } = core;
  frame.entries[step.slug] = { stepType: step.type, name: step.name, output };
  if (status !== 'skipped') {
    frame.lastOutput = output;
    frame.hasOutput = true;
    const loop = frame.loops.at(-1);
    if (loop !== undefined) loop.hasOutput = true;
  }
  state.bytes += valueBytes(output.data) + valueBytes(output.meta) + ENTRY_OVERHEAD;
  charge(core, 2 * (step.slug.length + step.name.length) + RECORD_OVERHEAD / 5);
  core.trace?.({
    t: 'end',
    path,
    status,
    ...(port === undefined || port === null ? {} : { port }),
    output: { ...output } as JsonObject,
    ...omitUndefined({ error }),
    at: state.now,
  });
}
