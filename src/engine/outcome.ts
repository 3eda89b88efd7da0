/** What a kind decided becomes commands, frames, an end, or a failure. */
import type { JsonObject } from '../definition/types.ts';
import { type FailureShape, type Outcome, StepFailure } from '../steps/kind.ts';
import type { Step } from '../steps/program-types.ts';
import { evaluate } from '../template/expression.ts';
import type { Json } from '../template/types.ts';
import { cancel, open } from './commands.ts';
import type { Core } from './core.ts';
import { runCommand } from './effects.ts';
import { cancelRun, completeRun, drainRun, failRun, ROOT, rollbackSpec } from './ending.ts';
import { errorRoot, failureOf, placed } from './failure.ts';
import { follow, leaveLoop } from './follow.ts';
import { adoptEntries, closeVisit, dropFrame, failFrame, leaveLoops, openFrame } from './frames.ts';
import { beginInner, endInner } from './inner-rows.ts';
import { ENTRY_OVERHEAD, MAX_PAYLOAD_BYTES, MAX_ROLLBACKS } from './limits.ts';
import { commandId, framePath, tickPath } from './paths.ts';
import { FrameScope } from './scope.ts';
import { readsError, snapshot } from './snapshot.ts';
import type { Envelope, Frame, LoopRecord, OpenVisit } from './state.ts';
import { weigh } from './weigh.ts';
import { assign, Window } from './window.ts';

/** Where an outcome applies: an open visit of the frame, or its innermost loop record. */
export interface Place {
  readonly frame: Frame;
  readonly step: Step;
  readonly path: string;
  readonly startedAt: number;
  readonly visit?: OpenVisit;
  readonly record?: LoopRecord;
}

export function apply(core: Core, place: Place, outcome: Outcome): void {
  switch (outcome.do) {
    case 'end':
      endVisit(core, place, outcome.port, outcome.data, outcome.meta);
      return;
    case 'fail':
      failVisit(core, place, outcome.error, outcome.rollback);
      return;
    case 'hold':
      hold(core, place, outcome);
      return;
    case 'enter':
      enter(core, place, outcome.hold);
      return;
    case 'tick':
      tick(core, place, outcome.hold, outcome.data);
      return;
    case 'break':
      breakOut(core, place, outcome.value);
      return;
    case 'skip': {
      const { next, ports } = place.step;
      endVisit(
        core,
        place,
        Object.hasOwn(next, 'skipped') ? 'skipped' : ports.normal,
        null,
        { skipped: true },
        'skipped',
      );
      return;
    }
    case 'finish':
      settle(core, place);
      record(core, place, { type: place.step.kind.type, data: outcome.output }, 'completed');
      leaveLoops(core, place.frame, 'completed');
      if (outcome.drain === true) drainRun(core, outcome.output);
      else completeRun(core, outcome.output);
      return;
    case 'cancel':
      settle(core, place);
      core.trace?.({ t: 'end', path: place.path, status: 'cancelled', at: core.state.now });
      cancelRun(core, outcome.reason);
      return;
    case 'ignore':
  }
}

/** §7: at the end come saveToState, outputVariable and the rollback's config; then the entry, and the port. */
export function endVisit(
  core: Core,
  place: Place,
  port: string | null,
  data: Json,
  meta?: JsonObject,
  as: 'completed' | 'skipped' | 'preset' = 'completed',
): void {
  const { frame, step } = place;
  const output: Envelope = meta === undefined ? { type: step.kind.type, data } : { type: step.kind.type, data, meta };
  if (as !== 'skipped') {
    try {
      checkSize(data);
      keep(core, place, output, as === 'preset');
    } catch (error) {
      failVisit(core, place, failureOf(error));
      return;
    }
  }
  if (step.kind.class === 'container' && place.visit !== undefined) join(core, place, data);
  settle(core, place);
  record(core, place, output, as === 'skipped' ? 'skipped' : 'completed', port);
  follow(core, frame, step, port);
}

/** §2.4: the `error` port if it is wired; else `onError: continue`; else the frame fails. `rollback` passes every container. */
export function failVisit(core: Core, place: Place, failure: FailureShape, rollback?: boolean): void {
  const { frame, step, path } = place;
  const error = placed(failure, path, step.slug);
  const { state } = core;
  settle(core, place);
  const caught =
    rollback !== true &&
    (Object.hasOwn(step.next, 'error')
      ? 'error'
      : step.continueOnError && step.ports.normal !== null
        ? step.ports.normal
        : undefined);
  if (caught === false || caught === undefined) {
    if (path !== ROOT) core.trace?.({ t: 'end', path, status: 'failed', error, at: state.now });
    // A loop catches nothing: it fails with its body.
    leaveLoops(core, frame, 'failed', error);
    if (rollback === true) failRun(core, error, true);
    else if (frame.id === ROOT) failRun(core, error);
    else failFrame(core, frame, error);
    return;
  }
  frame.error = errorRoot(error);
  const output: Envelope = { type: step.kind.type, data: null, meta: { error: { ...error } as JsonObject } };
  record(core, place, output, 'failed', caught, placed(failure, path, step.slug));
  follow(core, frame, step, caught);
}

/** An effect has ended while the run drains: it is kept and shown, and leads nowhere (language.md §5, `drain`). */
export function endQuietly(core: Core, place: Place, outcome: Outcome): void {
  const { step, path } = place;
  if (outcome.do !== 'end' && outcome.do !== 'fail') return;
  let failure = outcome.do === 'fail' ? outcome.error : undefined;
  if (outcome.do === 'end') {
    const { data, meta, port } = outcome;
    const output: Envelope = { type: step.kind.type, data, ...(meta === undefined ? {} : { meta }) };
    try {
      checkSize(data);
      keep(core, place, output, false);
      settle(core, place);
      record(core, place, output, 'completed', port);
      return;
    } catch (error) {
      failure = failureOf(error);
    }
  }
  settle(core, place);
  core.trace?.({ t: 'end', path, status: 'failed', error: placed(failure!, path, step.slug), at: core.state.now });
}

function hold(core: Core, place: Place, outcome: Outcome & { do: 'hold' }): void {
  const { frame, step, path } = place;
  const { state } = core;
  let visit = place.visit;
  if (visit === undefined) {
    visit = {
      slug: step.slug,
      ...(step.key === undefined ? {} : { key: step.key }),
      path,
      startedAt: place.startedAt,
      seq: state.seq++,
      hold: outcome.hold,
      open: [],
      frames: [],
    };
    frame.visit = visit;
    state.bytes += weigh(outcome.hold);
  } else {
    visit.hold = outcome.hold;
    state.bytes += weigh(outcome.grown ?? {});
  }
  for (const name of outcome.cancel ?? []) {
    const id = openCommand(core, visit, name);
    if (id !== undefined) {
      visit.open.splice(visit.open.indexOf(id), 1);
      cancel(core, id);
      endInner(core, visit, name, 'cancelled');
    }
    for (const iteration of [false, true]) {
      const frameId = framePath(path, name, iteration);
      if (visit.frames.includes(frameId)) dropFrame(core, visit, frameId);
    }
  }
  if (outcome.waiting !== undefined) {
    visit.waiting = { ...outcome.waiting, since: visit.waiting?.since ?? state.now };
    core.trace?.({ t: 'wait', path });
  }
  if (outcome.hears !== undefined) visit.hears = outcome.hears;
  ask(core, visit, outcome.asks ?? {});
  for (const spec of outcome.run ?? []) {
    const id = commandId(path, spec.suffix);
    const bytes = weigh(spec.config.value);
    if (bytes > MAX_PAYLOAD_BYTES) {
      failVisit(core, { ...place, visit }, tooLarge('payload_too_large', 'config', bytes));
      return;
    }
    // What has a row of its own is recorded by itself: together, what has ended would be done again after a crash.
    const local =
      (step.local === true && spec.inner === undefined) ||
      (step.local === 'auto' && spec.light === true && outcome.timers === undefined && alone(core));
    const command = runCommand(core, id, step.slug, path, spec, {
      retry: step.retry,
      timeoutMs: step.timeoutMs,
      local,
    });
    if (spec.suffix === undefined) core.trace?.({ t: 'input', path, input: spec.config.value });
    if (spec.inner !== undefined) beginInner(core, visit, spec.suffix ?? '', spec.inner, spec.config.value);
    open(core, id, { type: 'run', frame: frame.id, path, suffix: spec.suffix ?? '', command, tries: 1 }, visit);
  }
  for (const spec of outcome.timers ?? [])
    open(
      core,
      commandId(path, spec.suffix),
      { type: 'timer', frame: frame.id, path, suffix: spec.suffix ?? '', at: spec.at },
      visit,
    );
  for (const { suffix, inner, ...child } of outcome.children ?? []) {
    if (inner !== undefined) beginInner(core, visit, suffix ?? '', inner, child.input);
    open(core, commandId(path, suffix), { type: 'child', frame: frame.id, path, suffix: suffix ?? '', child }, visit);
  }
  for (const spec of outcome.frames ?? []) openFrame(core, frame, visit, spec);
  for (const [suffix, asked] of Object.entries(outcome.asks ?? {}))
    if (asked === null && !visit.open.includes(commandId(path, suffix))) endInner(core, visit, suffix, 'cancelled');
}

/** The id of the visit's open command of that suffix: another one where `retryStep` has begun it anew. */
function openCommand({ program, state }: Core, visit: OpenVisit, suffix: string): string | undefined {
  const id = commandId(visit.path, suffix);
  if (visit.open.includes(id)) return id;
  const again = visit.open.find((open) => {
    const command = state.open[open];
    return command?.type === 'run' && command.suffix === suffix;
  });
  return again !== undefined && program.rules.retriedIsCancelled() ? again : undefined;
}

/** What the visit asks about within. An ask that ends without its call beginning is a row that was cancelled (`hold`). */
function ask(core: Core, visit: OpenVisit, asks: NonNullable<Extract<Outcome, { do: 'hold' }>['asks']>): void {
  for (const [suffix, asked] of Object.entries(asks)) {
    visit.asks ??= {};
    const since = visit.asks[suffix]?.since ?? core.state.now;
    delete visit.asks[suffix];
    if (asked === null) continue;
    const { inner, input, ...waiting } = asked;
    visit.asks[suffix] = { ...waiting, since };
    beginInner(core, visit, suffix, inner, input);
    core.trace?.({ t: 'wait', path: commandId(visit.path, suffix) });
  }
}

/** A local activity holds the other frames back: it is only for a run that has no other frame at work (design.md §3). */
function alone(core: Core): boolean {
  let leaves = 0;
  for (const frame of Object.values(core.state.frames)) {
    if (frame.ended !== true && (frame.visit === undefined || frame.visit.frames.length === 0)) leaves++;
    if (leaves > 1) return false;
  }
  return true;
}

/** A loop's record goes on its frame; only then can `while` read `loop`. */
function enter(core: Core, place: Place, held: JsonObject): void {
  const { frame, step, path } = place;
  core.state.bytes += weigh(held);
  frame.loops.push({
    slug: step.slug,
    path,
    startedAt: place.startedAt,
    tick: -1,
    hold: held,
    counts: {},
    moved: false,
  });
  core.state.work.push({ do: 'resume', frame: frame.id, path, event: { on: 'enter' } });
}

/** A loop begins its next tick: the step's entry is replaced, and the body walked. */
function tick(core: Core, place: Place, held: JsonObject, data: Json): void {
  const { frame, step } = place;
  const loop = place.record!;
  loop.tick++;
  loop.hold = held;
  loop.counts = {};
  loop.moved = false;
  core.state.bytes += weigh(held['carry']);
  const keep = held['keep'];
  if (typeof keep === 'number') forget(core, loop, loop.tick - keep);
  const output: Envelope = { type: step.kind.type, data };
  frame.entries[step.slug] = { stepType: step.type, name: step.name, output };
  frame.lastOutput = output;
  follow(core, frame, step, step.branches[0] ?? null);
}

/** historyKeep: rollbacks of ticks before the last few are given up. */
function forget(core: Core, loop: LoopRecord, before: number): void {
  if (before < 1) return;
  const prefix = `${tickPath(loop.path, before - 1)}/`;
  const { state } = core;
  if (state.undo.some((undo) => undo.undo === 'step' && undo.path.startsWith(prefix)))
    state.undo = state.undo.filter((undo) => undo.undo !== 'step' || !undo.path.startsWith(prefix));
}

function breakOut(core: Core, place: Place, value: Json): void {
  const { frame } = place;
  const loop = frame.loops.at(-1);
  if (loop === undefined) {
    failVisit(core, place, {
      code: 'break_outside_loop',
      message: 'There is no loop here to break out of.',
      retryable: false,
    });
    return;
  }
  settle(core, place);
  record(core, place, { type: place.step.kind.type, data: value }, 'completed');
  core.state.work.push({ do: 'resume', frame: frame.id, path: loop.path, event: { on: 'break', value } });
}

/** Closes what the visit opened and takes it, or its loop record, off the frame. */
function settle(core: Core, place: Place): void {
  const { frame } = place;
  if (place.record !== undefined) leaveLoop(core, frame);
  if (place.visit !== undefined && frame.visit === place.visit) {
    closeVisit(core, frame);
    delete frame.visit;
  }
}

function record(
  core: Core,
  place: Place,
  output: Envelope,
  status: 'completed' | 'failed' | 'skipped',
  port?: string | null,
  error?: ReturnType<typeof placed>,
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
  state.bytes += weigh(output.data) + weigh(output.meta) + ENTRY_OVERHEAD;
  core.trace?.({
    t: 'end',
    path,
    status,
    ...(port === undefined || port === null ? {} : { port }),
    output: { ...output } as JsonObject,
    ...(error === undefined ? {} : { error }),
    at: state.now,
  });
}

/** saveToState, outputVariable, and the rollback with its config as it is now: none of a preset step, which was not run (§7). */
function keep(core: Core, place: Place, output: Envelope, isPreset: boolean): void {
  const { frame, step, path } = place;
  const { state } = core;
  // What is evaluated now sees the step itself as ended.
  frame.entries[step.slug] = { stepType: step.type, name: step.name, output };
  frame.lastOutput = output;
  if (step.saves.length > 0) {
    const scope = new FrameScope(core.program, state, frame, path, { output });
    for (const save of step.saves) {
      const value =
        save.expression === undefined ? output.data : (evaluate(save.expression, scope, { now: state.now }) ?? null);
      assign(core, 'state', save.key, value);
    }
  }
  if (step.outputVariable !== undefined) {
    Object.defineProperty(state.outputs, step.outputVariable, {
      value: output.data,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  if (step.rollback !== undefined && !isPreset) {
    const slug = step.key ?? step.slug;
    const locals = { output };
    if (readsError(step.rollback.references)) {
      const scope = new FrameScope(core.program, state, frame, path, locals);
      const read = snapshot(step.rollback.references, scope, state.now);
      state.bytes += weigh(read);
      state.undo.push({ undo: 'step', path, slug, read });
    } else {
      const spec = rollbackSpec(step.rollback.behaviour.begin(new Window(core, frame, step, path, {}, locals)));
      if (spec !== undefined) state.bytes += weigh(spec.config.value);
      state.undo.push({ undo: 'step', path, slug, ...(spec === undefined ? {} : { spec }) });
    }
  } else if (step.kind.type === 'checkpoint') state.undo.push({ undo: 'checkpoint', name: String(output.data ?? '') });
  if (state.undo.length > MAX_ROLLBACKS)
    throw new StepFailure(
      'rollback_limit',
      `More than ${MAX_ROLLBACKS} steps with a rollback have completed; set a checkpoint, or historyKeep on the loop.`,
    );
}

/** §3.5: the entries of branches move to the parent: of all for parallel, of the winner's for race, of none for forEach. */
function join(core: Core, place: Place, data: Json): void {
  const { frame, step } = place;
  const visit = place.visit!;
  if (step.kind.type === 'parallel') adoptEntries(core, frame, visit, step.branches);
  else if (step.kind.type === 'race' && data !== null && typeof data === 'object' && !Array.isArray(data))
    adoptEntries(core, frame, visit, [String(data['winner'])]);
}

function checkSize(data: Json): void {
  const bytes = weigh(data);
  if (bytes > MAX_PAYLOAD_BYTES) {
    const { code, message, details } = tooLarge('result_too_large', 'output', bytes);
    throw new StepFailure(code, message, { details: details ?? null });
  }
}

function tooLarge(code: string, what: string, bytes: number): FailureShape {
  return {
    code,
    message: `The step's ${what} has ${bytes} bytes; at most ${MAX_PAYLOAD_BYTES} fit.`,
    retryable: false,
    details: { bytes, limit: MAX_PAYLOAD_BYTES },
  };
}
