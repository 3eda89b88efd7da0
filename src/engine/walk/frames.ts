/** Frames (LANGUAGE.md §3.1, §3.5, §3.6): opening, ending, and cancelling with all they opened (E9). */

import type { RunError } from '../../contract/run.ts';
import { jsonBytes } from '../../json/bytes.ts';
import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import type { FailureShape, FrameSpec } from '../../steps/kind.ts';
import { type Core, stepOf } from '../state/core.ts';
import { RECORD_OVERHEAD } from '../state/limits.ts';
import { framePath } from '../state/paths.ts';
import { charge } from '../state/space.ts';
import type { Frame, LoopRecord, OpenVisit, Work } from '../state/state.ts';
import { cancelCommand } from './commands.ts';
import { dropOlderRollbacks } from './history-keep.ts';
import { cancelInner } from './inner-rows.ts';
import { returnMessages } from './return-messages.ts';

export function newFrame(id: string, parent?: Frame, spec?: FrameSpec): Frame {
  return {
    id,
    ...(parent === undefined ? {} : { parent: parent.id }),
    ...(spec === undefined ? {} : { name: spec.name }),
    ...(spec?.item === undefined ? {} : { item: spec.item }),
    ...(spec?.flat === true ? { prefix: parent?.prefix ?? parent?.id ?? id } : {}),
    entries: {},
    lastOutput: parent?.lastOutput ?? null,
    moved: false,
    loops: [],
    error: null,
    counts: {},
  };
}

/** Opens a branch or an iteration; its first step is walked in its turn. */
export function openFrame(core: Core, parent: Frame, visit: OpenVisit, spec: FrameSpec): void {
  const { state } = core;
  const id = framePath(visit.path, spec.name, spec.item !== undefined);
  const frame = newFrame(id, parent, spec);
  state.frames[id] = frame;
  charge(core, RECORD_OVERHEAD + 6 * id.length);
  visit.frames.push(id);
  const first = stepOf(core, visit.slug).next[spec.port];
  if (first === undefined || first === visit.slug) endFrame(core, frame);
  else state.work.push({ do: 'visit', frame: id, slug: first });
}

/** The frame came to its end: its container decides. Entries stay until the container ends (§3.5). */
export function endFrame(core: Core, frame: Frame): void {
  leaveLoops(core, frame, 'completed');
  frame.ended = true;
  const data: Json = frame.moved ? (frame.lastOutput?.data ?? null) : null;
  resumeContainer(core, frame, { on: 'frame', name: frame.name!, ended: true, data });
}

/** The frame failed: all that it opened is cancelled, and its container decides (2.6). */
export function failFrame(core: Core, frame: Frame, error: FailureShape): void {
  cancelFrame(core, frame);
  frame.ended = true;
  core.state.bytes += jsonBytes({ ...error });
  resumeContainer(core, frame, { on: 'frame', name: frame.name!, ended: false, error });
}

function resumeContainer(
  core: Core,
  frame: Frame,
  event: { on: 'frame'; name: string } & ({ ended: true; data: Json } | { ended: false; error: FailureShape }),
): void {
  const parent = core.state.frames[frame.parent!]!;
  core.state.work.push({ do: 'resume', frame: parent.id, path: parent.visit!.path, event });
}

/** Cancels what the frame has open: its visit with its commands and frames, its loops, and its place in the work. */
export function cancelFrame(core: Core, frame: Frame): void {
  const { state } = core;
  if (frame.visit !== undefined) {
    cancelOpened(core, frame);
    traceCancelled(core, frame.visit.path);
    delete frame.visit;
  }
  leaveLoops(core, frame, 'cancelled');
  const isInside = (work: Work) => work.do !== 'offer' && work.frame === frame.id;
  // Mostly there is none, and a graph has many frames: the list is not copied for each.
  if (state.work.some(isInside)) state.work = state.work.filter((work) => !isInside(work));
}

/** Takes back all that the open visit of a frame opened, frames first. */
export function cancelOpened(core: Core, frame: Frame): void {
  const visit = frame.visit!;
  for (const id of [...visit.frames]) dropFrame(core, visit, id);
  for (const id of visit.open) cancelCommand(core, id);
  visit.open = [];
  cancelInner(core, visit);
  const unused = stepOf(core, visit.key ?? visit.slug).behaviour.unused?.(visit.hold) ?? [];
  // They are no longer the visit's, whose room they may need.
  if (unused.length > 0) visit.hold = {};
  returnMessages(core, unused);
}

export function dropFrame(core: Core, visit: OpenVisit, id: string): void {
  const frame = core.state.frames[id];
  const at = visit.frames.indexOf(id);
  if (at >= 0) visit.frames.splice(at, 1);
  if (frame === undefined) return;
  cancelFrame(core, frame);
  delete core.state.frames[id];
}

/** A frame that ends with loops open (a break out of the branch, a failure, a cancellation) leaves them all. */
export function leaveLoops(
  core: Core,
  frame: Frame,
  status: 'completed' | 'cancelled' | 'failed',
  error?: RunError,
): void {
  for (let record = frame.loops.pop(); record !== undefined; record = frame.loops.pop()) {
    frame.left = record;
    if (status === 'completed') dropOlderRollbacks(core, record);
    traceLoopEnd(core, record, status, error);
  }
}

export function traceLoopEnd(
  core: Core,
  record: LoopRecord,
  status: 'completed' | 'cancelled' | 'failed',
  error?: RunError,
): void {
  core.trace?.({ t: 'end', path: record.path, status, ...defined({ error }), at: core.state.now });
}

function traceCancelled(core: Core, path: string): void {
  if (path !== '') core.trace?.({ t: 'end', path, status: 'cancelled', at: core.state.now });
}

/** §3.5: at a join, entries of steps that belong to one branch only move to the parent. */
export function adoptEntries(core: Core, parent: Frame, visit: OpenVisit, names: readonly string[]): void {
  const region = stepOf(core, visit.slug).region;
  if (region === undefined) return;
  for (const id of visit.frames) {
    const frame = core.state.frames[id];
    if (frame?.name === undefined || !names.includes(frame.name)) continue;
    for (const [slug, entry] of Object.entries(frame.entries))
      if (region.body.has(slug) && !region.shared.has(slug)) parent.entries[slug] = entry;
  }
}

/** A step of a dag has ended: its entries are the graph's. */
export function adoptDagEntries(core: Core, parent: Frame, visit: OpenVisit, name: string): void {
  // By its id: looking through all frames at each end would be work for every pair of steps.
  const id = framePath(visit.path, name, false);
  if (Object.hasOwn(core.state.frames, id)) Object.assign(parent.entries, core.state.frames[id]!.entries);
}
