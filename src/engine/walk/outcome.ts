/**
 * Applies the outcome of a kind: the visit stays open (suspend.ts), a loop ticks (loops.ts), or the visit ends or
 * fails.
 */
import { defined } from '../../json/defined.ts';
import { isPlainObject, type Json, type JsonObject } from '../../json/json.ts';
import type { FailureShape, Outcome } from '../../steps/kind.ts';
import type { Step } from '../../steps/program-types.ts';
import type { Core } from '../state/core.ts';
import { errorRoot, failureOf, placed } from '../state/failure.ts';
import { trimToSpace } from '../state/space.ts';
import type { Envelope } from '../state/state.ts';
import { cancelRun, completeRun, drainRun, failRun, ROOT } from './ending.ts';
import { followPort } from './follow.ts';
import { adoptEntries, failFrame, leaveLoops } from './frames.ts';
import { beginTick, breakLoop, enterLoop } from './loops.ts';
import { applyModifiers } from './modifiers.ts';
import { recordEnd, removeVisit, type VisitRef } from './record.ts';
import { returnMessages } from './return-messages.ts';
import { undoAssigned } from './step-context.ts';
import { suspend } from './suspend.ts';

type Applied<O extends Outcome['do']> = Extract<Outcome, { do: O }>;

/** The outcome, or what it comes to by the rule of the kind for its port (`Ports.unwired`). */
export function atPort(step: Step, outcome: Applied<'end'>): Applied<'end' | 'fail' | 'cancel'>;
export function atPort(step: Step, outcome: Outcome): Outcome;
export function atPort({ slug, next, ports }: Step, outcome: Outcome): Outcome {
  if (outcome.do !== 'end') return outcome;
  const { data, details, meta, port } = outcome;
  const rule = Object.hasOwn(ports.unwired ?? {}, port) ? ports.unwired?.[port] : undefined;
  if (rule === undefined) return outcome;
  if ('cancels' in rule)
    return { do: 'cancel', reason: rule.cancels, ...(isPlainObject(data) ? { data } : {}), ...defined({ meta }) };
  if (Object.hasOwn(next, port)) return outcome;
  if ('leaves' in rule) return { ...outcome, port: rule.leaves };
  const message = rule.message?.(slug) ?? `The port '${port}' of the step '${slug}' is not wired, so the step fails.`;
  return { do: 'fail', error: { code: rule.fails, message, retryable: false, ...defined({ details }) } };
}

/** @throws StepFailure where the outcome cannot be applied; the visit then fails with it. */
export function applyOutcome(core: Core, place: VisitRef, outcome: Outcome): void {
  switch (outcome.do) {
    case 'end':
      if (!endVisit(core, place, outcome)) returnMessages(core, outcome.took ?? []);
      return;
    case 'fail':
      failVisit(core, place, outcome.error, outcome.rollback);
      return;
    case 'suspend':
      suspend(core, place, outcome);
      return;
    case 'enter':
      enterLoop(core, place, outcome.state);
      return;
    case 'tick':
      beginTick(core, place, outcome.data);
      return;
    case 'break':
      breakLoop(core, place, outcome.value);
      return;
    case 'skip': {
      const { next, ports } = place.step;
      const port = Object.hasOwn(next, 'skipped') ? 'skipped' : ports.normal;
      endVisit(core, place, { port, data: null, meta: { skipped: true } }, 'skipped');
      return;
    }
    case 'finish':
      removeVisit(core, place);
      recordEnd(core, place, { type: place.step.kind.type, data: outcome.output }, 'completed');
      leaveLoops(core, place.frame, 'completed');
      if (outcome.drain === true) drainRun(core, outcome.output);
      else completeRun(core, outcome.output);
      return;
    case 'cancel':
      cancelRunByStep(core, place, outcome);
      return;
    case 'ignore':
  }
}

/** A step cancels its run. Its row, and the run's error, have its data. */
function cancelRunByStep(
  core: Core,
  place: VisitRef,
  { reason, data, meta }: Extract<Outcome, { do: 'cancel' }>,
): void {
  const { path, step } = place;
  removeVisit(core, place);
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
  place: VisitRef,
  { port, data, meta, adopts }: VisitEnd,
  as: 'completed' | 'skipped' | 'preset' = 'completed',
): boolean {
  const { frame, step, visit } = place;
  const output = envelope(step, data, meta);
  if (as !== 'skipped') {
    try {
      applyModifiers(core, place, output, as === 'preset');
    } catch (error) {
      failVisit(core, place, failureOf(error, core.program.definition));
      return false;
    }
  }
  if (visit !== undefined && adopts !== undefined) adoptEntries(core, frame, visit, adopts);
  removeVisit(core, place);
  recordEnd(core, place, output, as === 'skipped' ? 'skipped' : 'completed', port);
  followPort(core, frame, step, port);
  return true;
}

/**
 * Fails a visit (§2.4): takes the `error` port if it is wired; else goes on with `onError: continue`; else fails the
 * frame. `rollback` passes every container.
 */
export function failVisit(core: Core, place: VisitRef, failure: FailureShape, rollback?: boolean): void {
  const { frame, step, path } = place;
  undoAssigned(core);
  const port = rollback === true ? undefined : catchingPort(step);
  const stays = port !== undefined || frame.id !== ROOT;
  const error = placed(stays ? trimToSpace(core, failure) : failure, path, step.slug);
  if (port === undefined && (rollback === true || frame.id === ROOT)) core.returnsMessages = 'not';
  removeVisit(core, place);
  if (port === undefined) {
    if (path !== ROOT) core.trace?.({ t: 'end', path, status: 'failed', error, at: core.state.now });
    // A loop catches no failure: it fails with its body.
    leaveLoops(core, frame, 'failed', error);
    if (rollback === true) failRun(core, error, true);
    else if (frame.id === ROOT) failRun(core, error);
    else failFrame(core, frame, error);
    return;
  }
  frame.error = errorRoot(error);
  recordEnd(core, place, envelope(step, null, { error: { ...error } as JsonObject }), 'failed', port, error);
  followPort(core, frame, step, port);
}

/** The port by which a failed step goes on; undefined where nothing catches the failure. */
function catchingPort({ next, continueOnError, ports }: Step): string | undefined {
  if (Object.hasOwn(next, 'error')) return 'error';
  return continueOnError ? (ports.normal ?? undefined) : undefined;
}

/**
 * An activity has ended while the run drains: its result is recorded, and no port is followed (LANGUAGE.md §5,
 * `drain`).
 */
export function endWhileDraining(core: Core, place: VisitRef, outcome: Outcome): void {
  if (outcome.do === 'fail') failWhileDraining(core, place, outcome.error);
  if (outcome.do !== 'end') return;
  const { data, meta, port } = outcome;
  const output = envelope(place.step, data, meta);
  try {
    applyModifiers(core, place, output, false);
    removeVisit(core, place);
    recordEnd(core, place, output, 'completed', port);
  } catch (error) {
    failWhileDraining(core, place, failureOf(error, core.program.definition));
  }
}

function failWhileDraining(core: Core, place: VisitRef, failure: FailureShape): void {
  const { step, path } = place;
  undoAssigned(core);
  removeVisit(core, place);
  core.trace?.({ t: 'end', path, status: 'failed', error: placed(failure, path, step.slug), at: core.state.now });
}

function envelope({ kind }: Step, data: Json, meta: JsonObject | undefined): Envelope {
  return meta === undefined ? { type: kind.type, data } : { type: kind.type, data, meta };
}
