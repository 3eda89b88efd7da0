/** What a kind decided: the visit stays open (step-state.ts), a loop goes round (loops.ts), or the visit ends or fails. */
import type { Json, JsonObject } from '../../json/json.ts';
import type { FailureShape, Outcome } from '../../steps/kind.ts';
import type { Step } from '../../steps/program-types.ts';
import type { Core } from '../state/core.ts';
import { errorRoot, failureOf, placed } from '../state/failure.ts';
import { withSpace } from '../state/space.ts';
import type { Envelope } from '../state/state.ts';
import { cancelRun, completeRun, drainRun, failRun, ROOT } from './ending.ts';
import { follow } from './follow.ts';
import { adoptEntries, failFrame, leaveLoops } from './frames.ts';
import { giveBack } from './give-back.ts';
import { breakOut, enter, tick } from './loops.ts';
import { applyModifiers } from './modifiers.ts';
import { record, settle, type VisitRef } from './record.ts';
import { suspend } from './step-state.ts';

/** @throws StepFailure where the outcome cannot be carried out: the visit then fails with it. */
export function apply(core: Core, place: VisitRef, outcome: Outcome): void {
  switch (outcome.do) {
    case 'end':
      if (!endVisit(core, place, outcome)) giveBack(core, outcome.took ?? []);
      return;
    case 'fail':
      failVisit(core, place, outcome.error, outcome.rollback);
      return;
    case 'suspend':
      suspend(core, place, outcome);
      return;
    case 'enter':
      enter(core, place, outcome.state);
      return;
    case 'tick':
      tick(core, place, outcome.data);
      return;
    case 'break':
      breakOut(core, place, outcome.value);
      return;
    case 'skip': {
      const { next, ports } = place.step;
      const port = Object.hasOwn(next, 'skipped') ? 'skipped' : ports.normal;
      endVisit(core, place, { port, data: null, meta: { skipped: true } }, 'skipped');
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
      cancelBy(core, place, outcome);
      return;
    case 'ignore':
  }
}

/** The step cancels its run: what it was told stands in its row, and in the run's error. */
function cancelBy(core: Core, place: VisitRef, { reason, data, meta }: Extract<Outcome, { do: 'cancel' }>): void {
  const { path, step } = place;
  settle(core, place);
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

/** §7: at the end come saveToState, outputVariable and the rollback's config; then the entry, and the port. False where the step failed in that. */
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
  settle(core, place);
  record(core, place, output, as === 'skipped' ? 'skipped' : 'completed', port);
  follow(core, frame, step, port);
  return true;
}

/** §2.4: the `error` port if it is wired; else `onError: continue`; else the frame fails. `rollback` passes every container. */
export function failVisit(core: Core, place: VisitRef, failure: FailureShape, rollback?: boolean): void {
  const { frame, step, path } = place;
  const port = rollback === true ? undefined : catchingPort(step);
  const stays = port !== undefined || frame.id !== ROOT;
  const error = placed(stays ? withSpace(core, failure) : failure, path, step.slug);
  if (port === undefined && (rollback === true || frame.id === ROOT)) core.givesBack = 'not';
  settle(core, place);
  if (port === undefined) {
    if (path !== ROOT) core.trace?.({ t: 'end', path, status: 'failed', error, at: core.state.now });
    // A loop catches nothing: it fails with its body.
    leaveLoops(core, frame, 'failed', error);
    if (rollback === true) failRun(core, error, true);
    else if (frame.id === ROOT) failRun(core, error);
    else failFrame(core, frame, error);
    return;
  }
  frame.error = errorRoot(error);
  record(core, place, envelope(step, null, { error: { ...error } as JsonObject }), 'failed', port, error);
  follow(core, frame, step, port);
}

/** By which port a step goes on that has failed; undefined where nothing catches the failure. */
function catchingPort({ next, continueOnError, ports }: Step): string | undefined {
  if (Object.hasOwn(next, 'error')) return 'error';
  return continueOnError ? (ports.normal ?? undefined) : undefined;
}

/** An effect has ended while the run drains: it is kept and shown, and leads nowhere (LANGUAGE.md §5, `drain`). */
export function endQuietly(core: Core, place: VisitRef, outcome: Outcome): void {
  if (outcome.do === 'fail') failQuietly(core, place, outcome.error);
  if (outcome.do !== 'end') return;
  const { data, meta, port } = outcome;
  const output = envelope(place.step, data, meta);
  try {
    applyModifiers(core, place, output, false);
    settle(core, place);
    record(core, place, output, 'completed', port);
  } catch (error) {
    failQuietly(core, place, failureOf(error, core.program.definition));
  }
}

function failQuietly(core: Core, place: VisitRef, failure: FailureShape): void {
  const { step, path } = place;
  settle(core, place);
  core.trace?.({ t: 'end', path, status: 'failed', error: placed(failure, path, step.slug), at: core.state.now });
}

function envelope({ kind }: Step, data: Json, meta: JsonObject | undefined): Envelope {
  return meta === undefined ? { type: kind.type, data } : { type: kind.type, data, meta };
}
