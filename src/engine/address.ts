/**
 * Whom a decision, a submission or an operator's word is for: a path, a slug with one open visit, or nobody named when
 * just one fits (design.md §3; language.md §3.12). Reads only; `advance` and `admit` ask it alike, so an update's answer
 * is what then happens (E5).
 */
import type { Refusal } from '../definition/run.ts';
import { type Core, stepOf } from './core.ts';
import { visited } from './paths.ts';
import type { Event } from './protocol.ts';
import type { Frame, OpenVisit, RunState } from './state.ts';
import { Window } from './window.ts';

export type AddressedEvent = Extract<Event, { type: 'decide' | 'submit' | 'cancelStep' | 'retryStep' | 'skipTimer' }>;

export interface Target {
  readonly frame: Frame;
  readonly visit: OpenVisit;
}

/** The open visit that the event is for, or the typed refusal. */
export function find(core: Core, event: AddressedEvent): Target | Refusal {
  const { state } = core;
  if (state.ending !== undefined || state.rolling !== undefined || state.draining !== undefined)
    return { code: 'closed', message: 'The run has ended, or is ending: nothing in it can be changed any more.' };
  const open = visits(state);
  const named =
    event.step === undefined
      ? open
      : open.filter(({ visit }) => visit.path === event.step || visit.slug === event.step);
  const exact = named.filter(({ visit }) => visit.path === event.step);
  const fitting = (exact.length === 1 ? exact : named).filter(({ visit }) => fits(core, visit, event));
  if (fitting.length > 1)
    return {
      code: 'ambiguous_step',
      message: `${fitting.length} visits fit; name one by its path.`,
      paths: fitting.map(({ visit }) => visit.path),
    };
  const [target] = fitting;
  if (target === undefined && event.type === 'decide' && named.some(({ visit }) => isOver(state, visit)))
    return decidedAlready(event.step ?? named[0]!.visit.path);
  if (target === undefined) return nobody(core, event, named.length > 0);
  return refusedByKind(core, target, event) ?? target;
}

export function visits(state: RunState): Target[] {
  const found: Target[] = [];
  for (const frame of Object.values(state.frames))
    if (frame.visit !== undefined) found.push({ frame, visit: frame.visit });
  return found.sort((a, b) => a.visit.seq - b.visit.seq);
}

function fits(core: Core, visit: OpenVisit, event: AddressedEvent): boolean {
  const { state } = core;
  switch (event.type) {
    case 'decide':
      return visit.waiting?.kind === 'approval' && !isOver(state, visit);
    case 'submit':
      return visit.waiting?.kind === 'input' && !isOver(state, visit);
    case 'retryStep':
      return visit.open.some((id) => state.open[id]?.type === 'run');
    case 'skipTimer':
      return visit.open.some((id) => state.open[id]?.type === 'timer');
    case 'cancelStep':
      return visit.frames.length === 0 || event.step !== undefined;
  }
}

/** Its time has passed, but the run is paused or gives way, so that the visit has not ended yet. */
function isOver(state: RunState, visit: OpenVisit): boolean {
  const until = visit.waiting?.until;
  if (until === undefined || until > state.now) return false;
  return state.work.some((work) => work.do === 'resume' && work.path === visit.path && work.event.on === 'fired');
}

function nobody(core: Core, event: AddressedEvent, isOpen: boolean): Refusal {
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
  // A path names one visit of a step: that it is not open means that it has been decided, or has not come yet.
  const slug = slugOf(step);
  const known = core.program.steps.get(slug);
  if (known === undefined) return { code: 'no_such_step', message: `The definition has no step '${slug}'.` };
  const hasBegun = Object.values(core.state.frames).some(
    (frame) => Object.hasOwn(frame.entries, slug) || visited(frame.counts, slug) > 0,
  );
  if (event.type === 'decide' && hasBegun && known.kind.type === 'approval') return decidedAlready(step);
  return { code: 'not_waiting', message: `'${step}' does not wait for ${waits} now.` };
}

function decidedAlready(step: string): Refusal {
  return { code: 'already_decided', message: `'${step}' has been decided already, or its time has passed.` };
}

/** `loop~2/par/left/review#2` → `review`. */
function slugOf(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return /^[A-Za-z_][A-Za-z0-9_-]*/.exec(last)?.[0] ?? path;
}

function refusedByKind(core: Core, target: Target, event: AddressedEvent): Refusal | undefined {
  if (event.type !== 'decide' && event.type !== 'submit') return undefined;
  const { frame, visit } = target;
  const step = stepOf(core, visit.key ?? visit.slug);
  return step.behaviour.refuse?.(new Window(core, frame, step, visit.path, visit.hold), resumeOf(event));
}

/** What the kind is told of a decision or a submission. */
export function resumeOf(event: Extract<AddressedEvent, { type: 'decide' | 'submit' }>) {
  const by = {
    ...(event.by === undefined ? {} : { by: event.by }),
    ...(event.as === undefined ? {} : { as: event.as }),
  };
  if (event.type === 'submit') return { on: 'submit' as const, data: event.data, ...by, via: event.via };
  return {
    on: 'decision' as const,
    decision: event.decision,
    ...by,
    ...(event.comments === undefined ? {} : { comments: event.comments }),
    ...(event.data === undefined ? {} : { data: event.data }),
    via: event.via,
    ...(event.override === undefined ? {} : { override: event.override }),
    ...(event.reason === undefined ? {} : { reason: event.reason }),
  };
}
