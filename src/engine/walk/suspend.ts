/** Suspends a visit: its activities, timers, children, asks and cancellations become commands and frames. */

import { valueLimitOf } from '../../definition/document/limits.ts';
import { jsonBytes } from '../../json/bytes.ts';
import { asJson } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { AskSpec, ChildSpec, FailureShape, Outcome, RunSpec, TimerSpec } from '../../steps/kind.ts';
import type { Core } from '../state/core.ts';
import { tooLarge } from '../state/failure.ts';
import { MAX_PAYLOAD_BYTES, RECORD_OVERHEAD } from '../state/limits.ts';
import { valueBytes } from '../state/measure.ts';
import { commandId, framePath } from '../state/paths.ts';
import { charge, requireSpace, requireSpaceForEffect } from '../state/space.ts';
import type { OpenVisit } from '../state/state.ts';
import { cancelCommand, openCommand } from './commands.ts';
import { dropFrame, openFrame } from './frames.ts';
import { beginInnerRow, endInnerRow } from './inner-rows.ts';
import { makeRunCommand } from './make-run-command.ts';
import type { VisitRef } from './visit-end.ts';

type Suspension = Extract<Outcome, { do: 'suspend' }>;
type OpenVisitRef = VisitRef & { readonly visit: OpenVisit };

/** Applies the members of the outcome in order. @throws StepFailure `payload_too_large`; the visit then fails. */
export function suspend(core: Core, given: VisitRef, outcome: Suspension): void {
  const visit = openVisit(core, given, outcome);
  const ref: OpenVisitRef = { ...given, visit };
  for (const name of outcome.cancel ?? []) cancelByName(core, visit, name);
  if (outcome.waiting !== undefined) {
    charge(core, jsonBytes(asJson(outcome.waiting)));
    visit.waiting = { ...outcome.waiting, since: visit.waiting?.since ?? core.state.now };
    core.trace?.({ t: 'wait', path: visit.path });
  }
  if (outcome.answered === true) {
    delete visit.waiting;
    visit.answered = true;
  }
  if (outcome.hears !== undefined) visit.alwaysTakes = outcome.hears;
  openAsks(core, visit, outcome.asks ?? {});
  for (const spec of outcome.run ?? []) openEffect(core, ref, spec, outcome.timers !== undefined);
  for (const spec of outcome.timers ?? []) openTimer(core, ref, spec);
  for (const spec of outcome.children ?? []) openChild(core, ref, spec);
  for (const spec of outcome.frames ?? []) openFrame(core, ref.frame, visit, spec);
  for (const [suffix, ask] of Object.entries(outcome.asks ?? {}))
    if (!isOpen(ask) && !visit.commands.includes(commandId(visit.path, suffix)))
      endInnerRow(core, visit, suffix, ask === null ? 'cancelled' : { error: ask });
}

/** The visit with its new step state. A visit that begins is opened. */
function openVisit(core: Core, { frame, step, path, startedAt, visit }: VisitRef, outcome: Suspension): OpenVisit {
  const { state } = core;
  if (visit !== undefined) {
    visit.state = outcome.state;
    if (outcome.grown !== undefined) chargeStepState(core, jsonBytes(outcome.grown));
    return visit;
  }
  frame.visit = {
    slug: step.slug,
    ...omitUndefined({ key: step.key }),
    path,
    startedAt,
    seq: state.seq++,
    state: outcome.state,
    commands: [],
    frames: [],
  };
  charge(core, RECORD_OVERHEAD + 4 * path.length);
  chargeStepState(core, jsonBytes(outcome.state));
  return frame.visit;
}

/** @throws StepFailure `state_too_large`; the visit then fails, and its step state is dropped. */
function chargeStepState(core: Core, bytes: number): void {
  core.state.bytes += bytes;
  requireSpace(core, 'What the step works on', bytes);
}

/** `name`: the suffix of a command, or the name of a frame. */
function cancelByName(core: Core, visit: OpenVisit, name: string): void {
  const id = openCommandId(core, visit, name);
  if (id !== undefined) {
    visit.commands.splice(visit.commands.indexOf(id), 1);
    cancelCommand(core, id);
    endInnerRow(core, visit, name, 'cancelled');
  }
  for (const iteration of [false, true]) {
    const frameId = framePath(visit.path, name, iteration);
    if (Object.hasOwn(core.state.frames, frameId) && visit.frames.includes(frameId)) dropFrame(core, visit, frameId);
  }
}

/** The id of the visit's open command with that suffix. `retryStep` gives a command a new id. */
function openCommandId({ state }: Core, visit: OpenVisit, suffix: string): string | undefined {
  const id = commandId(visit.path, suffix);
  if (visit.commands.includes(id)) return id;
  return visit.commands.find((one) => {
    const command = state.openCommands[one];
    return command?.type === 'run' && command.suffix === suffix;
  });
}

/** Opens and closes asks. An ask that ends without its call leaves a failed or cancelled row (`suspend`). */
function openAsks(core: Core, visit: OpenVisit, asks: NonNullable<Suspension['asks']>): void {
  for (const [suffix, ask] of Object.entries(asks)) {
    visit.asks ??= {};
    const since = visit.asks[suffix]?.since ?? core.state.now;
    delete visit.asks[suffix];
    if (!isOpen(ask)) continue;
    const { inner, input, ...waiting } = ask;
    charge(core, RECORD_OVERHEAD + jsonBytes(asJson(waiting)));
    visit.asks[suffix] = { ...waiting, since };
    beginInnerRow(core, visit, suffix, inner, input);
    core.trace?.({ t: 'wait', path: commandId(visit.path, suffix) });
  }
}

function isOpen(ask: AskSpec | FailureShape | null): ask is AskSpec {
  return ask !== null && 'inner' in ask;
}

/** `hasTimers`: the outcome opens timers too, which a local activity would delay. */
function openEffect(core: Core, { frame, step, path, visit }: OpenVisitRef, spec: RunSpec, hasTimers: boolean): void {
  const { suffix = '', inner, config } = spec;
  const { definition } = core.program;
  const id = commandId(path, suffix);
  const bytes = valueBytes(config.value);
  const limit = valueLimitOf(core.program.dataBytes());
  if (bytes > limit) throw tooLarge('payload_too_large', "The step's config", bytes, limit);
  // An activity with its own row is never local: local activities that end in one task are recorded together, so a
  // crash would repeat those that have ended.
  const local =
    (step.local === true && inner === undefined) ||
    (step.local === 'auto' && isLight(core, spec) !== false && !hasTimers && hasOneActiveFrame(core));
  const isCertainlyLight = step.local === true || (step.local === 'auto' && isLight(core, spec) === true);
  const fuse = isCertainlyLight && step.fuses && inner === undefined && !hasTimers && definition.config?.fuse !== false;
  const { retry, timeoutMs } = step;
  const command = makeRunCommand(core, id, step.slug, path, spec, { retry, timeoutMs, local, fuse });
  if (spec.suffix === undefined) core.trace?.({ t: 'input', path, input: config.value });
  if (inner !== undefined) beginInnerRow(core, visit, suffix, inner, config.value);
  openCommand(core, id, { type: 'run', frame: frame.id, path, suffix, command, attempt: 1 }, visit);
  requireSpaceForEffect(core, bytes);
}

function openTimer(core: Core, { frame, path, visit }: OpenVisitRef, { suffix = '', at }: TimerSpec): void {
  openCommand(core, commandId(path, suffix), { type: 'timer', frame: frame.id, path, suffix, at }, visit);
}

function openChild(
  core: Core,
  { frame, path, visit }: OpenVisitRef,
  { suffix = '', inner, ...child }: ChildSpec,
): void {
  if (inner !== undefined) beginInnerRow(core, visit, suffix, inner, child.input);
  const bytes = valueBytes(child.input);
  if (bytes > MAX_PAYLOAD_BYTES) throw tooLarge('payload_too_large', "The child's input", bytes);
  openCommand(core, commandId(path, suffix), { type: 'child', frame: frame.id, path, suffix, child }, visit);
  requireSpaceForEffect(core, bytes);
}

/** Undefined where only the worker knows: an action of the host in a run that was started by hand. */
function isLight({ state }: Core, { light = false, action }: RunSpec): boolean | undefined {
  if (!light || action === undefined) return light;
  return state.genesis.light?.includes(action);
}

/** A local activity delays other frames, so it is only for a run without another active frame (ARCHITECTURE.md §3). */
function hasOneActiveFrame(core: Core): boolean {
  let leaves = 0;
  for (const frame of Object.values(core.state.frames)) {
    if (frame.ended !== true && (frame.visit === undefined || frame.visit.frames.length === 0)) leaves++;
    if (leaves > 1) return false;
  }
  return true;
}
