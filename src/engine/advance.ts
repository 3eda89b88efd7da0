/**
 * The core: `advance(program, state, event) → commands` (DESIGN.md).
 *
 * A run is a tree of frames. Each frame has at most one open visit, a stack of loop records, its entries and its last
 * output. The step's kind begins and resumes a visit and returns an outcome. An outcome becomes commands, new frames,
 * or an end, which follows a port to the next visit. `state.work` queues the next steps, first in, first out, so
 * branches advance alternately, the walk does not recurse, and a long walk can yield between steps.
 *
 * Invariants, each cited where it is kept, each with tests:
 *  E1  The core awaits nothing and reads no clock: time, ids and results come in with events.
 *  E2  Continue-as-new after any event changes nothing that follows: the state is complete, plain JSON (serialize.ts).
 *  E3  Ids of commands are paths of visits, deterministic, and unique among the open ones (paths.ts, commands.ts).
 *  E4  An event for an id that is not open is ignored (commands.ts `closeCommand`, walk.ts `findVisit`).
 *  E5  One decision per approval: the first ends the visit, and later ones are refused (address.ts).
 *  E6  Folding a run's history gives the run's live state: one runner gives both their order (runner.ts).
 *  E7  No secret value is ever in state, command or history: rendering leaves placeholders
 *      (src/template/placeholders.ts).
 *  E8  Every failure is typed: code, message, path, retryable (failure.ts).
 *  E9  Cancelling a frame cancels what it opened (frames.ts); a rollback is not cancellable (ending.ts).
 *  E10 Everything that can grow has a limit and a typed error (limits.ts).
 */

import type { Accepted, Refusal } from '../contract/run/run.ts';
import { presetsErrorMessage, UNKNOWN_PRESET, unknownPresets } from '../definition/document/presets.ts';
import { jsonBytes } from '../json/bytes.ts';
import { asJson } from '../json/json.ts';
import { type Chunks, runChunks } from '../steps/chunks.ts';
import type { Program } from '../steps/program-types.ts';
import { requestSlots, slotGranted, slotsAnswered } from './inbound/admission.ts';
import { applyChildStarted, applyCompletion } from './inbound/completions.ts';
import { receiveMessage } from './inbound/messages.ts';
import { applyRequest, rememberAnswer, rememberedAnswer } from './inbound/requests.ts';
import { statusOf, viewDigestOf, waitingFor } from './inbound/view.ts';
import type { Core, Postpone } from './state/core.ts';
import { failureOf, tooLarge } from './state/failure.ts';
import { initialState } from './state/initial.ts';
import { MAX_PAYLOAD_BYTES } from './state/limits.ts';
import { measure } from './state/measure.ts';
import type { Command, Event, Genesis, TraceEvent } from './state/protocol.ts';
import type { RunState } from './state/state.ts';
import { findTarget, pathOf, type StepAddress } from './walk/address.ts';
import { openCommand, sendBacklog } from './walk/commands.ts';
import { abortRun, cancelRun, DEADLINE_ID, failRun, ROOT_FRAME_ID, runTimeoutMs } from './walk/ending.ts';
import { newFrame } from './walk/frames.ts';
import { checkLimit, requestYield, resetActivation, runWorkLoopInChunks } from './walk/work-loop.ts';

/** The state before `started`. Its frames hold the root; nothing has been walked. */
export function genesis(program: Program, g: Genesis): RunState {
  const state = initialState(program, g);
  state.frames[ROOT_FRAME_ID] = newFrame(ROOT_FRAME_ID);
  return state;
}

/**
 * Applies one event to `state` in place and returns the commands in order. Never throws for a mistake in the definition
 * or the event. After `complete`, `fail` or `cancelled` the run is closed, and every event is ignored.
 */
export function advance(
  program: Program,
  state: RunState,
  event: Event,
  trace?: (event: TraceEvent) => void,
  postpone?: Postpone,
): Command[] {
  return runChunks(advanceInChunks(program, state, event, trace, postpone));
}

/**
 * As `advance`, in chunks. Between chunks the state is incomplete: nothing else may read or advance it. `found`: the
 * target that `checkRequestTarget` has just found for this event in this state, which saves a second search.
 */
export function* advanceInChunks(
  program: Program,
  state: RunState,
  event: Event,
  trace?: (event: TraceEvent) => void,
  postpone?: Postpone,
  found?: StepAddress | Refusal,
): Chunks<Command[]> {
  if (state.ending !== undefined) return [];
  const core: Core = { program, state, commands: [], trace, postpone };
  // Clock skew between servers must not turn time back: a timer that was due stays due.
  state.now = Math.max(state.now, event.at);
  if (state.activation.at !== state.now || event.type === 'continue') resetActivation(state);
  try {
    applyEvent(core, event, found);
    yield* runWorkLoopInChunks(core);
    checkLimit(core);
  } catch (error) {
    failRun(core, failureOf(error), false);
  }
  if (state.ending === undefined && state.admission === undefined) {
    const isHeld = sendBacklog(core);
    if (isHeld && !state.yielding) requestYield(core);
  }
  publishView(core);
  return core.commands;
}

/**
 * Whether the event would be accepted, and by which visit: the answer of an update, before it is applied. Changes
 * nothing. A key that was answered before gets the same answer.
 */
export function admit(program: Program, state: RunState, event: Event): Accepted | Refusal {
  return checkRequestTarget(program, state, event).answer;
}

/** As `admit`, with what an addressed event addresses. */
export function checkRequestTarget(
  program: Program,
  state: RunState,
  event: Event,
): { readonly answer: Accepted | Refusal; readonly found?: StepAddress | Refusal } {
  const known = rememberedAnswer(state, event);
  if (known !== undefined) return { answer: known };
  switch (event.type) {
    case 'decide':
    case 'submit':
    case 'cancelStep':
    case 'retryStep':
    case 'skipTimer': {
      const found = findTarget({ program, state, commands: [], trace: undefined }, event);
      return { answer: 'code' in found ? found : { accepted: true, path: pathOf(found) }, found };
    }
    case 'pause':
    case 'resume':
      if (state.ending === undefined) return { answer: { accepted: true, path: ROOT_FRAME_ID } };
      return { answer: { code: 'closed', message: 'The run has ended.' } };
    default:
      return { answer: { code: 'invalid_signal', message: `'${event.type}' is not a request that can be refused.` } };
  }
}

function applyEvent(core: Core, event: Event, found: StepAddress | Refusal | undefined): void {
  const { state } = core;
  switch (event.type) {
    case 'started':
      startRun(core);
      return;
    case 'completed':
    case 'failed':
    case 'fired':
    case 'childDone':
      applyCompletion(core, event);
      return;
    case 'childStarted':
      applyChildStarted(core, event.id);
      return;
    case 'message':
      receiveMessage(core, event);
      return;
    case 'decide':
    case 'submit':
    case 'cancelStep':
    case 'retryStep':
    case 'skipTimer':
      applyRequest(core, event, found);
      return;
    case 'pause':
      if (rememberedAnswer(state, event) !== undefined) return;
      if (!state.paused) state.pausedSince = state.now;
      state.paused = true;
      rememberAnswer(state, event.key, ROOT_FRAME_ID);
      return;
    case 'resume':
      if (rememberedAnswer(state, event) !== undefined) return;
      state.paused = false;
      delete state.pausedSince;
      rememberAnswer(state, event.key, ROOT_FRAME_ID);
      return;
    case 'cancel':
      // E9: a rollback is not cancellable.
      if (state.rollback === undefined) cancelRun(core, event.reason);
      return;
    case 'abort':
      if (state.rollback === undefined) abortRun(core, event.reason);
      return;
    case 'slots':
    case 'granted':
      if (state.admission === undefined) return;
      if (event.type === 'slots') slotsAnswered(core, event.answers);
      else slotGranted(core, event.gate);
      startTimeoutIfAdmitted(core);
      return;
    case 'continue':
      state.yielding = false;
  }
}

function startRun(core: Core): void {
  const { state, program } = core;
  const bytes = jsonBytes(state.genesis.input);
  state.bytes += bytes;
  state.bytes = measure(program, state).bytes;
  if (bytes > MAX_PAYLOAD_BYTES) {
    failRun(core, failureOf(tooLarge('payload_too_large', "The run's input", bytes)), false);
    return;
  }
  const problems = unknownPresets(program.definition, state.genesis.presets);
  if (problems.length > 0) {
    const details = { problems: asJson(problems) };
    failRun(core, { code: UNKNOWN_PRESET, message: presetsErrorMessage(problems), retryable: false, details }, false);
    return;
  }
  state.work.push({ do: 'visit', frame: ROOT_FRAME_ID, slug: program.start });
  requestSlots(core, state.genesis.startedAt);
  if (state.admission === undefined) openDeadline(core, state.genesis.startedAt);
}

/** The run has its slots: its timeout starts now. */
function startTimeoutIfAdmitted(core: Core): void {
  const { state } = core;
  if (state.admission === undefined && state.ending === undefined) openDeadline(core, state.now);
}

function openDeadline(core: Core, from: number): void {
  const { state } = core;
  const limit = runTimeoutMs(core);
  if (limit === undefined) return;
  const deadline = { type: 'deadline', at: from + limit } as const;
  // A retry or fork has the deadline already, without its wait for slots (rewind.ts). It has not been sent.
  if (Object.hasOwn(state.openCommands, DEADLINE_ID)) state.openCommands[DEADLINE_ID] = deadline;
  else openCommand(core, DEADLINE_ID, deadline);
}

/** Sends `visible` where the visible part of the run has changed. */
function publishView(core: Core): void {
  const { state } = core;
  const digest = viewDigestOf(state);
  if (digest === state.viewDigest) return;
  state.viewDigest = digest;
  core.commands.push({ type: 'visible', status: statusOf(state), waitingFor: waitingFor(state) });
}
