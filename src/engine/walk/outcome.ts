/**
 * Applies the outcome of a kind: the visit stays open (suspend.ts), a loop ticks (loops.ts), or the visit ends or
 * fails.
 */

import { isPlainObject, type Json, type JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { FailureShape, Outcome } from '../../steps/kind.ts';
import type { Step } from '../../steps/program-types.ts';
import type { Core } from '../state/core.ts';
import { errorRoot, failureOf, withLocation } from '../state/failure.ts';
import { trimToSpace } from '../state/space.ts';
import type { Envelope } from '../state/state.ts';
import { cancelRun, completeRun, drainRun, failRun, ROOT_FRAME_ID } from './ending.ts';
import { followPort } from './follow.ts';
import { adoptEntries, failFrame, leaveLoops } from './frames.ts';
import { beginTick, breakLoop, enterLoop } from './loops.ts';
import { applyModifiers } from './modifiers.ts';
import { returnMessages } from './return-messages.ts';
import { undoVisitAssignments } from './step-context.ts';
import { suspend } from './suspend.ts';
import { recordEnd, removeVisit, type VisitRef } from './visit-end.ts';

type Applied<O extends Outcome['do']> = Extract<Outcome, { do: O }>;

/** The outcome, or another one by the kind's rule for its port (`Ports.unwired`). */
export function applyPortRule(step: Step, outcome: Applied<'end'>): Applied<'end' | 'fail' | 'cancel'>;
export function applyPortRule(step: Step, outcome: Outcome): Outcome;
export function applyPortRule({ slug, next, ports }: Step, outcome: Outcome): Outcome {
  if (outcome.do !== 'end') return outcome;
  const { data, details, meta, port } = outcome;
  const rule = Object.hasOwn(ports.unwired ?? {}, port) ? ports.unwired?.[port] : undefined;
  if (rule === undefined) return outcome;
  if ('cancels' in rule)
    return { do: 'cancel', reason: rule.cancels, ...(isPlainObject(data) ? { data } : {}), ...omitUndefined({ meta }) };
  if (Object.hasOwn(next, port)) return outcome;
  if ('leaves' in rule) return { ...outcome, port: rule.leaves };
  const message = rule.message?.(slug) ?? `The port '${port}' of the step '${slug}' is not wired, so the step fails.`;
  return { do: 'fail', error: { code: rule.fails, message, retryable: false, ...omitUndefined({ details }) } };
}

/** @throws StepFailure where the outcome cannot be applied; the visit then fails with it. */
export function applyOutcome(core: Core, ref: VisitRef, outcome: Outcome): void {
  switch (outcome.do) {
    case 'end':
      if (!endVisit(core, ref, outcome)) returnMessages(core, outcome.took ?? []);
      return;
    case 'fail':
      failVisit(core, ref, outcome.error, outcome.rollback);
      return;
    case 'suspend':
      suspend(core, ref, outcome);
      return;
    case 'enter':
      enterLoop(core, ref, outcome.state);
      return;
    case 'tick':
      beginTick(core, ref, outcome.data);
      return;
    case 'break':
      breakLoop(core, ref, outcome.value);
      return;
    case 'skip': {
      const { next, ports } = ref.step;
      const port = Object.hasOwn(next, 'skipped') ? 'skipped' : ports.normal;
      endVisit(core, ref, { port, data: null, meta: { skipped: true } }, 'skipped');
      return;
    }
    case 'finish':
      removeVisit(core, ref);
      recordEnd(core, ref, { type: ref.step.kind.type, data: outcome.output }, 'completed');
      leaveLoops(core, ref.frame, 'completed');
      if (outcome.drain === true) drainRun(core, outcome.output);
      else completeRun(core, outcome.output);
      return;
    case 'cancel':
      cancelRunByStep(core, ref, outcome);
      return;
    case 'ignore':
  }
}

/** A step cancels its run. Its row, and the run's error, have its data. */
function cancelRunByStep(core: Core, ref: VisitRef, { reason, data, meta }: Extract<Outcome, { do: 'cancel' }>): void {
  const { path, step } = ref;
  removeVisit(core, ref);
  core.trace?.({
    t: 'end',
    path,
    status: 'cancelled',
    ...(data === undefined ? {} : { output: { ...envelope(step, data, meta) } as JsonObject }),
    at: core.state.now,
  });
  cancelRun(core, reason, data === undefined ? undefined : { path, stepSlug: step.slug, ...data });
}

type VisitEnd = Pick<Extract<Outcome, { do: 'end' }>, 'data' | 'meta' | 'adopts'> & { readonly port: string | null };

/**
 * Ends a visit (§7): applies the modifiers, writes the entry, and follows the port. Returns false where the step failed
 * in that.
 */
export function endVisit(
  core: Core,
  ref: VisitRef,
  { port, data, meta, adopts }: VisitEnd,
  as: 'completed' | 'skipped' | 'preset' = 'completed',
): boolean {
  const { frame, step, visit } = ref;
  const output = envelope(step, data, meta);
  if (as !== 'skipped') {
    try {
      applyModifiers(core, ref, output, as === 'preset');
    } catch (error) {
      failVisit(core, ref, failureOf(error, core.program.definition));
      return false;
    }
  }
  if (visit !== undefined && adopts !== undefined) adoptEntries(core, frame, visit, adopts);
  removeVisit(core, ref);
  recordEnd(core, ref, output, as === 'skipped' ? 'skipped' : 'completed', port);
  followPort(core, frame, step, port);
  return true;
}

/**
 * Fails a visit (§2.4): takes the `error` port if it is wired; else continues with `onError: continue`; else fails the
 * frame. `rollback` passes every container.
 */
export function failVisit(core: Core, ref: VisitRef, failure: FailureShape, rollback?: boolean): void {
  const { frame, step, path } = ref;
  undoVisitAssignments(core);
  const port = rollback === true ? undefined : catchingPort(step);
  const stays = port !== undefined || frame.id !== ROOT_FRAME_ID;
  const error = withLocation(stays ? trimToSpace(core, failure) : failure, path, step.slug);
  if (port === undefined && (rollback === true || frame.id === ROOT_FRAME_ID)) core.returnsMessages = 'not';
  removeVisit(core, ref);
  if (port === undefined) {
    if (path !== ROOT_FRAME_ID) core.trace?.({ t: 'end', path, status: 'failed', error, at: core.state.now });
    // A loop catches no failure: it fails with its body.
    leaveLoops(core, frame, 'failed', error);
    if (rollback === true) failRun(core, error, true);
    else if (frame.id === ROOT_FRAME_ID) failRun(core, error);
    else failFrame(core, frame, error);
    return;
  }
  frame.error = errorRoot(error);
  recordEnd(core, ref, envelope(step, null, { error: { ...error } as JsonObject }), 'failed', port, error);
  followPort(core, frame, step, port);
}

/** The port by which a failed step continues; undefined where nothing catches the failure. */
function catchingPort({ next, continueOnError, ports }: Step): string | undefined {
  if (Object.hasOwn(next, 'error')) return 'error';
  return continueOnError ? (ports.normal ?? undefined) : undefined;
}

/**
 * An activity has ended while the run drains: its result is recorded, and no port is followed (LANGUAGE.md §5,
 * `drain`).
 */
export function endWhileDraining(core: Core, ref: VisitRef, outcome: Outcome): void {
  if (outcome.do === 'fail') failWhileDraining(core, ref, outcome.error);
  if (outcome.do !== 'end') return;
  const { data, meta, port } = outcome;
  const output = envelope(ref.step, data, meta);
  try {
    applyModifiers(core, ref, output, false);
    removeVisit(core, ref);
    recordEnd(core, ref, output, 'completed', port);
  } catch (error) {
    failWhileDraining(core, ref, failureOf(error, core.program.definition));
  }
}

function failWhileDraining(core: Core, ref: VisitRef, failure: FailureShape): void {
  const { step, path } = ref;
  undoVisitAssignments(core);
  removeVisit(core, ref);
  core.trace?.({ t: 'end', path, status: 'failed', error: withLocation(failure, path, step.slug), at: core.state.now });
}

function envelope({ kind }: Step, data: Json, meta: JsonObject | undefined): Envelope {
  return meta === undefined ? { type: kind.type, data } : { type: kind.type, data, meta };
}
