/**
 * Finds the visit that a decision, a submission or an operator's request addresses: by its path, by a slug with one
 * open visit, or without a name where only one visit fits (ARCHITECTURE.md §3; LANGUAGE.md §3.12). Reads only.
 * The answer of `admit` is what `advance` then goes by, so the answer of an update is what then happens (E5).
 */

import type { Refusal } from '../../contract/run/run.ts';
import type { DecisionEvent, SubmissionEvent } from '../../steps/kind.ts';
import { type Core, stepOf } from '../state/core.ts';
import { commandId, visitCount } from '../state/paths.ts';
import type { Event } from '../state/protocol.ts';
import type { Frame, OpenVisit, RunState } from '../state/state.ts';
import { RunStepContext } from './step-context.ts';

export type AddressedEvent = Extract<Event, { type: 'decide' | 'submit' | 'cancelStep' | 'retryStep' | 'skipTimer' }>;

const MAX_LISTED_PATHS = 10;

export interface StepAddress {
  readonly frame: Frame;
  readonly visit: OpenVisit;
  /** Which of the visit's asks (waits.ts); absent for the visit itself. */
  readonly ask?: string;
}

/** The path that names the target. */
export function pathOf({ visit, ask }: StepAddress): string {
  return commandId(visit.path, ask);
}

/** The open visit that the event is for, or the typed refusal. */
export function findTarget(core: Core, event: AddressedEvent): StepAddress | Refusal {
  const { state } = core;
  if (state.ending !== undefined || state.rollback !== undefined || state.draining !== undefined)
    return { code: 'closed', message: 'The run has ended, or is ending: nothing in it can be changed any more.' };
  const open = targets(state, event);
  const { step } = event;
  const matching =
    step === undefined
      ? open
      : open.filter((target) => [pathOf(target), target.visit.path, target.visit.slug].includes(step));
  const [exact, ...otherExact] = matching.filter((target) => pathOf(target) === step);
  const candidates =
    exact === undefined || otherExact.length > 0 ? matching : matching.filter((target) => isWithin(exact, target));
  const fitting = candidates.filter((target) => fits(core, target, event));
  if (fitting.length > 1) return ambiguous(fitting.map(pathOf));
  const [target] = fitting;
  if (target === undefined && event.type === 'decide' && matching.some((target) => isOver(state, target, event.at)))
    return decidedAlready(step ?? pathOf(matching[0]!));
  if (target === undefined) return notWaiting(core, event, matching.length > 0);
  return refusedByKind(core, target, event) ?? target;
}

/** The message names paths too, since the Temporal CLI shows only the message. */
function ambiguous(paths: readonly string[]): Refusal {
  const listed = paths
    .slice(0, MAX_LISTED_PATHS)
    .map((path) => `'${path}'`)
    .join(', ');
  const more = paths.length > MAX_LISTED_PATHS ? `, and ${paths.length - MAX_LISTED_PATHS} more` : '';
  return {
    code: 'ambiguous_step',
    message: `${paths.length} visits fit; name one by its path as 'step': ${listed}${more}.`,
    paths,
  };
}

export function openVisits(state: RunState): StepAddress[] {
  const found: StepAddress[] = [];
  for (const frame of Object.values(state.frames))
    if (frame.visit !== undefined) found.push({ frame, visit: frame.visit });
  return found.sort((a, b) => a.visit.seq - b.visit.seq);
}

/** The visits that the event may address. Decisions and submissions may address asks too. */
function targets(state: RunState, event: AddressedEvent): StepAddress[] {
  const open = openVisits(state);
  if (event.type !== 'decide' && event.type !== 'submit') return open;
  return open.flatMap((target) => [target, ...Object.keys(target.visit.asks ?? {}).map((ask) => ({ ...target, ask }))]);
}

/** Whether the target is the exact match, or one of its asks. */
function isWithin(exact: StepAddress, target: StepAddress): boolean {
  return exact.visit === target.visit && (exact.ask === undefined || exact.ask === target.ask);
}

function waitingOf({ visit, ask }: StepAddress): OpenVisit['waiting'] {
  return ask === undefined ? visit.waiting : visit.asks?.[ask];
}

function fits(core: Core, target: StepAddress, event: AddressedEvent): boolean {
  const { state } = core;
  const { visit } = target;
  switch (event.type) {
    case 'decide':
      return waitingOf(target)?.kind === 'approval' && !isOver(state, target, event.at);
    case 'submit':
      return waitingOf(target)?.kind === 'input' && !isOver(state, target, event.at);
    case 'retryStep':
      return visit.commands.some((id) => state.openCommands[id]?.type === 'run');
    case 'skipTimer':
      return visit.commands.some((id) => state.openCommands[id]?.type === 'timer');
    case 'cancelStep':
      return visit.frames.length === 0 || event.step !== undefined;
  }
}

/**
 * The wait was answered or has timed out, but the visit has not ended yet: its messages are being sent, or the run is
 * paused or yields.
 */
function isOver(state: RunState, target: StepAddress, at: number): boolean {
  const { visit, ask = '' } = target;
  if (visit.answered === true) return true;
  const until = waitingOf(target)?.until;
  if (until === undefined || until > Math.max(state.now, at)) return false;
  return state.work.some(
    (work) =>
      work.do === 'resume' &&
      work.path === visit.path &&
      work.event.on === 'fired' &&
      work.event.suffix.startsWith(ask),
  );
}

function notWaiting(core: Core, event: AddressedEvent, isOpen: boolean): Refusal {
  const { step } = event;
  const waits = {
    decide: 'an approval',
    submit: 'user input',
    retryStep: 'an activity',
    skipTimer: 'a timer',
    cancelStep: 'anything',
  }[event.type];
  if (step === undefined) return { code: 'not_waiting', message: `Nothing in this run waits for ${waits}.` };
  if (isOpen) return { code: 'not_waiting', message: `'${step}' is open, but does not wait for ${waits}.` };
  // A path names one visit. If it is not open, it has been decided or has not begun yet.
  const slug = slugOf(step);
  const known = core.program.steps.get(slug);
  if (known === undefined) return { code: 'no_such_step', message: `The definition has no step '${slug}'.` };
  const hasBegun = Object.values(core.state.frames).some(
    (frame) => Object.hasOwn(frame.entries, slug) || visitCount(frame.counts, slug) > 0,
  );
  const isQuestion = known.kind.takesDecisions === true || CALL.test(step);
  if (event.type === 'decide' && hasBegun && isQuestion) return decidedAlready(step);
  return { code: 'not_waiting', message: `'${step}' does not wait for ${waits} now.` };
}

function decidedAlready(step: string): Refusal {
  return { code: 'already_decided', message: `'${step}' has been decided already, or its time has passed.` };
}

/** The suffix of an agent's call, which may be an ask within a visit. */
const CALL = /\/turn\[\d+\]\/tool\[\d+\]$/;

/** `loop~2/par/left/review#2` → `review`, also for a call within it. */
function slugOf(path: string): string {
  const visit = path.replace(CALL, '');
  const last = visit.slice(visit.lastIndexOf('/') + 1);
  return /^[A-Za-z_][A-Za-z0-9_-]*/.exec(last)?.[0] ?? path;
}

function refusedByKind(core: Core, target: StepAddress, event: AddressedEvent): Refusal | undefined {
  if (event.type !== 'decide' && event.type !== 'submit') return undefined;
  const { frame, visit, ask } = target;
  const step = stepOf(core, visit.key ?? visit.slug);
  return step.behaviour.refuse?.(new RunStepContext(core, frame, step, visit.path, visit.state), resumeOf(event, ask));
}

/** A decision or a submission in the form that the kind receives: without its address. */
export function resumeOf(
  { type, at: _at, step: _step, key: _key, ...rest }: Extract<AddressedEvent, { type: 'decide' | 'submit' }>,
  ask?: string,
): DecisionEvent | SubmissionEvent {
  const suffix = ask === undefined ? {} : { suffix: ask };
  return 'decision' in rest ? { on: 'decision', ...suffix, ...rest } : { on: 'submit', ...suffix, ...rest };
}
