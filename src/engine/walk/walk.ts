/** One step of the walk: begins a visit, or resumes it with an event. */
import { assert } from '../../json/assert.ts';
import { type Json, setOwn } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { matchesComparison } from '../../steps/comparison.ts';
import { presetOf } from '../../steps/compile/compile-step.ts';
import type { FailureShape, Outcome, Resume } from '../../steps/kind.ts';
import { DAG_STEP } from '../../steps/kinds/dag.ts';
import { COMMON_PORTS, END_TARGET } from '../../steps/ports.ts';
import type { Condition, Preset, Step } from '../../steps/program-types.ts';
import { evaluate } from '../../template/expression.ts';
import { parseTemplate, render } from '../../template/template.ts';
import { type Core, evaluateOptions, stepNameMember, stepOf } from '../state/core.ts';
import { failureOf } from '../state/failure.ts';
import { tickPath, visitCount, visitPath } from '../state/paths.ts';
import type { Frame, Work } from '../state/state.ts';
import { placeOf } from '../state/visit-place.ts';
import { completeRun, failRun, ROOT_FRAME_ID } from './ending.ts';
import { adoptDagEntries } from './frames.ts';
import { applyOutcome, applyPortRule, endVisit, failVisit } from './outcome.ts';
import { FrameScope } from './scope.ts';
import { RunStepContext } from './step-context.ts';
import type { VisitRef } from './visit-end.ts';

export function walk(core: Core, work: Exclude<Work, { do: 'offer' }>): void {
  const frame = core.state.frames[work.frame];
  if (frame === undefined) return;
  if (work.do === 'visit') {
    if (work.slug === END_TARGET) completeRun(core, undefined);
    else begin(core, frame, work.slug);
  } else resume(core, frame, work.path, work.event);
}

function begin(core: Core, frame: Frame, slug: string): void {
  const { state } = core;
  const step = stepOf(core, slug);
  const loop = frame.loops.at(-1);
  const counts = loop?.counts ?? frame.counts;
  const n = visitCount(counts, slug) + 1;
  counts[slug] = n;
  const parent = loop === undefined ? (frame.prefix ?? frame.id) : tickPath(loop.path, loop.tick);
  const path = slug === DAG_STEP ? ROOT_FRAME_ID : visitPath(parent, step.slug, n);
  if (core.postpone?.(path, { do: 'visit', frame: frame.id, slug }) === true) {
    counts[slug] = n - 1;
    return;
  }
  if (!countVisit(core, path, slug)) return;
  const ref: VisitRef = { frame, step, path, startedAt: state.now };
  if (path !== ROOT_FRAME_ID) traceBegin(core, ref, slug);
  core.undoAssignments = [];
  try {
    if (step.when !== undefined && !isMet(core, frame, path, step.when)) {
      applyOutcome(core, ref, { do: 'skip' });
      return;
    }
    const preset = presetFor(core, step);
    if (preset !== undefined) {
      usePreset(core, ref, preset);
      return;
    }
    if (core.trace !== undefined) traceInput(core, frame, step, path);
    applyOutcome(core, ref, applyPortRule(step, step.behaviour.begin(new RunStepContext(core, frame, step, path, {}))));
  } catch (error) {
    failVisit(core, findVisit(core, frame, path) ?? ref, failureOf(error, core.program.definition));
  }
}

function resume(core: Core, frame: Frame, path: string, event: Resume): void {
  const ref = findVisit(core, frame, path);
  if (ref === undefined) return;
  if (event.on === 'tick' && !countVisit(core, path, ref.step.slug)) return;
  // A dag has no joins: the output of a step is readable as soon as the step ends (§8).
  if (event.on === 'frame' && path === ROOT_FRAME_ID && ref.visit !== undefined)
    adoptDagEntries(core, frame, ref.visit, event.name);
  resumeVisit(core, ref, event);
}

/** Lets the kind handle the event. For a message, the outcome `ignore` means that the visit does not take it. */
export function resumeKind(core: Core, ref: VisitRef, event: Resume): Outcome {
  const { step, frame, path, visit, record } = ref;
  const open = visit ?? record;
  assert(open !== undefined, 'Only what has begun is resumed: an open visit, or a loop.');
  core.undoAssignments = [];
  if (step.behaviour.resume === undefined) throw new Error(`The kind '${step.kind.type}' waits for nothing.`);
  return applyPortRule(step, step.behaviour.resume(new RunStepContext(core, frame, step, path, open.state), event));
}

/** Resumes an open visit without queueing. Returns false where the visit ignores the event. */
export function resumeNow(core: Core, frame: Frame, path: string, event: Resume): boolean {
  const ref = findVisit(core, frame, path);
  return ref !== undefined && resumeVisit(core, ref, event);
}

function resumeVisit(core: Core, ref: VisitRef, event: Resume): boolean {
  try {
    const outcome = resumeKind(core, ref, event);
    if (outcome.do === 'ignore') return false;
    applyOutcome(core, ref, outcome);
  } catch (error) {
    const current = findVisit(core, ref.frame, ref.path);
    if (current === undefined) throw error;
    failVisit(core, current, failureOf(error, core.program.definition));
  }
  return true;
}

/** The open visit or the innermost loop of the frame, if it has this path; undefined if it is no longer open (E4). */
export function findVisit(core: Core, frame: Frame, path: string): VisitRef | undefined {
  const { visit } = frame;
  if (visit?.path === path)
    return { frame, step: stepOf(core, visit.key ?? visit.slug), path, startedAt: visit.startedAt, visit };
  const record = frame.loops.at(-1);
  if (record?.path === path)
    return { frame, step: stepOf(core, record.slug), path, startedAt: record.startedAt, record };
  return undefined;
}

/** Counts visits and ticks together. The limit is the run's, and nothing catches the failure. */
function countVisit(core: Core, path: string, slug: string): boolean {
  const { state, program } = core;
  if (++state.visits <= program.maxSteps) return true;
  failRun(core, {
    code: `max_steps_exceeded:${program.maxSteps}`,
    message:
      `The run has visited more than ${program.maxSteps} steps. ` +
      'Raise config.maxSteps if the run is not in an endless loop.',
    path,
    stepSlug: slug,
    retryable: false,
  });
  return false;
}

function isMet(core: Core, frame: Frame, path: string, when: Condition): boolean {
  const value = evaluate(when.ref, new FrameScope(core.program, core.state, frame, path), evaluateOptions(core));
  return matchesComparison(value, when.compare);
}

/**
 * Ends a step by its preset, at a port that the step can take (§7). A finish completes the run, a break leaves its
 * loop.
 */
function usePreset(core: Core, ref: VisitRef, preset: Preset): void {
  const { step } = ref;
  const { kind, next, ports } = step;
  const { port, data } = preset;
  const isOpen = port !== undefined && !Object.hasOwn(next, port);
  if (preset.error !== undefined) failVisit(core, ref, preset.error);
  else if (port !== undefined && !canEndWith(step, port))
    failVisit(core, ref, {
      code: 'invalid_preset',
      message: `The preset of '${step.slug}' names the port '${port}'; a '${kind.type}' cannot end with it.`,
      retryable: false,
    });
  else if (isOpen && port === 'skipped') applyOutcome(core, ref, { do: 'skip' });
  else if (isOpen && port === 'error') failVisit(core, ref, failureAt(step, port, preset, 'preset_error'));
  else if (port === undefined && kind.ends === 'run') applyOutcome(core, ref, { do: 'finish', output: data });
  else if (port === undefined && kind.ends === 'loop') applyOutcome(core, ref, { do: 'break', value: data });
  else {
    const by = port ?? ports.normal;
    const meta = { ...preset.meta, preset: true };
    const outcome = by === null ? undefined : applyPortRule(step, { do: 'end', port: by, data, meta });
    if (outcome?.do === 'cancel') applyOutcome(core, ref, outcome);
    else if (outcome?.do === 'fail') failVisit(core, ref, failureAt(step, by, preset, outcome.error.code));
    else endVisit(core, ref, { port: outcome?.port ?? null, data, meta }, 'preset');
  }
}

/**
 * The error in `meta.error`, as of a step that left by its port `error`; else the failure for a port that is not
 * wired.
 */
function failureAt(step: Step, port: string | null, { meta }: Preset, code: string): FailureShape {
  const presetError = presetOf({ error: meta?.['error'] ?? null }).error;
  const message = `The preset of '${step.slug}' ends with the port '${port}', which is not wired, so the step fails.`;
  return presetError ?? { code, message, retryable: false };
}

function canEndWith({ ports }: Step, port: string): boolean {
  if (COMMON_PORTS.has(port)) return true;
  return ports.names.includes(port) && (ports.body === undefined || ports.body === 'any' || !ports.body.includes(port));
}

function presetFor(core: Core, step: Step): Preset | undefined {
  const { presets } = core.state.genesis;
  if (Object.hasOwn(presets, step.slug)) return presetOf(presets[step.slug]!);
  return step.preset;
}

function traceBegin({ trace, state }: Core, { frame, step, path }: VisitRef, key: string): void {
  const place = trace === undefined ? undefined : placeOf(state, frame, frame.loops.at(-1), key);
  trace?.({
    ...{ t: 'begin', path, slug: step.slug, ...stepNameMember(step), stepType: step.type },
    ...omitUndefined({ place }),
    at: state.now,
  });
}

/** Traces the evaluated config, member by member. A member that cannot be evaluated is shown as written. */
function traceInput(core: Core, frame: Frame, step: Step, path: string): void {
  const members = Object.entries(step.config);
  if (members.length === 0) return;
  const scope = new FrameScope(core.program, core.state, frame, path);
  const input: { [key: string]: Json } = {};
  for (const [key, written] of members) {
    let value = written;
    try {
      if (step.kind.lateMembers?.includes(key) !== true)
        value = render(parseTemplate(written, { secrets: true }), scope, evaluateOptions(core)).value;
    } catch {
      // The kind itself reports the error, if it reads the member at all.
    }
    setOwn(input, key, value);
  }
  core.trace?.({ t: 'input', path, input });
}
