/** Opens, ends and cancels frames with everything they opened (LANGUAGE.md §3.1, §3.5, §3.6; E9). */

import type { RunError } from '../../contract/run/run.ts';
import { assert } from '../../json/assert.ts';
import { jsonBytes } from '../../json/bytes.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { FailureShape, FrameSpec } from '../../steps/kind.ts';
import { type Core, stepOf } from '../state/core.ts';
import { RECORD_OVERHEAD } from '../state/limits.ts';
import { framePath } from '../state/paths.ts';
import { charge } from '../state/space.ts';
import type { Frame, LoopRecord, OpenVisit, Work } from '../state/state.ts';
import { cancelCommand } from './commands.ts';
import { dropRollbacksAtLoopEnd } from './history-keep.ts';
import { cancelInnerRows } from './inner-rows.ts';
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
    hasOutput: false,
    loops: [],
    error: null,
    counts: {},
  };
}

/** Opens a branch or an iteration, and queues its first step. */
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

/** Ends a frame and resumes its container. The entries stay until the container ends (§3.5). */
export function endFrame(core: Core, frame: Frame): void {
  leaveLoops(core, frame, 'completed');
  frame.ended = true;
  const data: Json = frame.hasOutput ? (frame.lastOutput?.data ?? null) : null;
  resumeContainer(core, frame, { ended: true, data });
}

/** Fails a frame: cancels everything it opened, and resumes its container (§2.6). */
export function failFrame(core: Core, frame: Frame, error: FailureShape): void {
  cancelFrame(core, frame);
  frame.ended = true;
  core.state.bytes += jsonBytes({ ...error });
  resumeContainer(core, frame, { ended: false, error });
}

function resumeContainer(
  core: Core,
  frame: Frame,
  ending: { ended: true; data: Json } | { ended: false; error: FailureShape },
): void {
  const { name, parent: id } = frame;
  const path = id === undefined ? undefined : core.state.frames[id]?.visit?.path;
  assert(
    name !== undefined && id !== undefined && path !== undefined,
    'All frames but the root, which ends with the run, are in the open visit of a container.',
  );
  core.state.work.push({ do: 'resume', frame: id, path, event: { on: 'frame', name, ...ending } });
}

/** Cancels the frame's visit with its commands and frames, its loops, and its queued work. */
export function cancelFrame(core: Core, frame: Frame): void {
  const { state } = core;
  if (frame.visit !== undefined) {
    cancelOpened(core, frame);
    traceCancelled(core, frame.visit.path);
    delete frame.visit;
  }
  leaveLoops(core, frame, 'cancelled');
  const isInside = (work: Work) => work.do !== 'offer' && work.frame === frame.id;
  // Most frames have no queued work. The list is not copied for each of a graph's many frames.
  if (state.work.some(isInside)) state.work = state.work.filter((work) => !isInside(work));
}

/** Cancels everything that the open visit of a frame opened, frames first. */
export function cancelOpened(core: Core, frame: Frame): void {
  const { visit } = frame;
  assert(visit !== undefined, 'Only an open visit has opened something.');
  for (const id of [...visit.frames]) dropFrame(core, visit, id);
  for (const id of visit.commands) cancelCommand(core, id);
  visit.commands = [];
  cancelInnerRows(core, visit);
  const unused = stepOf(core, visit.key ?? visit.slug).behaviour.unused?.(visit.state) ?? [];
  // The visit no longer holds these messages, and they may need the space.
  if (unused.length > 0) visit.state = {};
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

/** Leaves all open loops of a frame that ends, fails or is cancelled. */
export function leaveLoops(
  core: Core,
  frame: Frame,
  status: 'completed' | 'cancelled' | 'failed',
  error?: RunError,
): void {
  for (let record = frame.loops.pop(); record !== undefined; record = frame.loops.pop()) {
    frame.lastLoop = record;
    if (status === 'completed') dropRollbacksAtLoopEnd(core, record);
    traceLoopEnd(core, record, status, error);
  }
}

export function traceLoopEnd(
  core: Core,
  record: LoopRecord,
  status: 'completed' | 'cancelled' | 'failed',
  error?: RunError,
): void {
  core.trace?.({ t: 'end', path: record.path, status, ...omitUndefined({ error }), at: core.state.now });
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

/** Moves the entries of a dag's step that has ended to the graph. */
export function adoptDagEntries(core: Core, parent: Frame, visit: OpenVisit, name: string): void {
  // Found by its id: a search through all frames would be quadratic.
  const id = framePath(visit.path, name, false);
  if (Object.hasOwn(core.state.frames, id)) Object.assign(parent.entries, core.state.frames[id]!.entries);
}
