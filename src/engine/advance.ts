/**
 * The core: `advance(program, state, event) → commands` (design.md §2).
 *
 * A run is a tree of frames. Each frame has at most one open visit, a stack of loop records, its entries and its last
 * output. A visit is begun and resumed by its step's kind, which answers with an outcome; the outcome becomes commands
 * that go out, frames that open, or an end, which follows a port to the next visit. What is to be walked next stands in
 * `state.work`, first in first out, so that branches take turns, no recursion grows, and a long walk can give way in the
 * middle. Events come in with the time; nothing here waits for anything.
 *
 * Invariants, each cited where it is kept, each with tests:
 *  E1  The core awaits nothing and reads no clock: time, ids and results come in with events.
 *  E2  Continue-as-new after any event changes nothing of what follows: the state is plain JSON and is all there is (carry.ts).
 *  E3  Ids of commands are paths of visits, deterministic, and unique among the open ones (paths.ts, commands.ts).
 *  E4  An event for an id that is not open is ignored (commands.ts `close`, walk.ts `currentPlace`).
 *  E5  One decision per approval: the first ends the visit, and later ones find nobody (address.ts).
 *  E6  Folding a run's history gives the run's live state: same events, same order, same core (src/history).
 *  E7  No secret value is ever in state, command or history: rendering leaves placeholders (src/template/secrets.ts).
 *  E8  Every failure is typed: code, message, path, retryable (failure.ts).
 *  E9  Cancelling a frame cancels what it opened (frames.ts); a rollback is not cancellable (ending.ts).
 *  E10 Everything that can grow has a limit and a typed error (limits.ts).
 */
import type { Accepted, Refusal } from '../definition/run.ts';
import type { Resume } from '../steps/kind.ts';
import type { Program } from '../steps/program-types.ts';
import { type AddressedEvent, find, pathOf, resumeOf, visits } from './address.ts';
import { seekSlots, slotGranted, slotsAnswered } from './admission.ts';
import { carriedBytes, fitsLimit } from './carry.ts';
import { childRunId } from './child-run.ts';
import { cancel, close, flush, open } from './commands.ts';
import type { Core, Parking } from './core.ts';
import { countUsage } from './costs.ts';
import { durationOf } from './deadline.ts';
import { drained } from './draining.ts';
import { abortRun, cancelRun, DEADLINE, failRun, ROOT, rolledBack } from './ending.ts';
import { failureOf } from './failure.ts';
import { newFrame } from './frames.ts';
import { initialState } from './initial.ts';
import { endInner } from './inner-rows.ts';
import {
  MAX_ACTIVATION_UNITS,
  MAX_INBOX_BYTES,
  MAX_PAYLOAD_BYTES,
  MAX_STATE_BYTES,
  MESSAGE_OVERHEAD,
  REMEMBERED_IDS,
  STEP_UNITS,
} from './limits.ts';
import { apply, failVisit } from './outcome.ts';
import { shorten } from './paths.ts';
import type { Command, Event, Genesis, TraceEvent } from './protocol.ts';
import type { Frame, OpenCommand, RunState } from './state.ts';
import { shownOf, statusOf, waitingFor } from './view.ts';
import { currentPlace, resumed, walk } from './walk.ts';
import { weigh } from './weigh.ts';

/** The state before `started`. Its frames hold the root; nothing has been walked. */
export function genesis(program: Program, g: Genesis): RunState {
  const state = initialState(program, g);
  state.frames[ROOT] = newFrame(ROOT);
  return state;
}

/**
 * Takes one event, changes `state` in place, and answers what is to be done, in order. Never throws for a definition's
 * or an event's mistake. After `complete`, `fail` or `cancelled` the run is closed, and every event is ignored.
 */
export function advance(
  program: Program,
  state: RunState,
  event: Event,
  trace?: (event: TraceEvent) => void,
  parking?: Parking,
): Command[] {
  if (state.ending !== undefined) return [];
  const core: Core = { program, state, commands: [], trace, parking };
  // Replay and clock skew between servers must not turn time back: what was due stays due.
  state.now = Math.max(state.now, event.at);
  if (state.effort.at !== state.now || event.type === 'continue') rest(state);
  try {
    take(core, event);
    drain(core);
    checkLimit(core);
  } catch (error) {
    failRun(core, failureOf(error), false);
  }
  if (state.ending === undefined && state.admission === undefined) {
    const isHeld = flush(core);
    if (isHeld && !state.yielding) giveWay(core);
  }
  show(core);
  return core.commands;
}

/**
 * Whether the event would be taken, and by which visit: the answer of an update, before it is applied. Changes nothing.
 * A key that was answered before gets its answer again.
 */
export function admit(program: Program, state: RunState, event: Event): Accepted | Refusal {
  const core: Core = { program, state, commands: [], trace: undefined };
  const known = answered(state, event);
  if (known !== undefined) return known;
  switch (event.type) {
    case 'decide':
    case 'submit':
    case 'cancelStep':
    case 'retryStep':
    case 'skipTimer': {
      const found = find(core, event);
      return 'code' in found ? found : { accepted: true, path: pathOf(found) };
    }
    case 'pause':
    case 'resume':
      return state.ending === undefined
        ? { accepted: true, path: ROOT }
        : { code: 'closed', message: 'The run has ended.' };
    default:
      return { code: 'invalid_signal', message: `'${event.type}' is not a request that can be refused.` };
  }
}

function take(core: Core, event: Event): void {
  const { state } = core;
  switch (event.type) {
    case 'started':
      begin(core);
      return;
    case 'completed':
    case 'failed':
    case 'fired':
    case 'childDone':
      settled(core, event);
      return;
    case 'childStarted':
      childStarted(core, event.id);
      return;
    case 'message':
      message(core, event);
      return;
    case 'decide':
    case 'submit':
    case 'cancelStep':
    case 'retryStep':
    case 'skipTimer':
      requested(core, event);
      return;
    case 'pause':
      state.paused = true;
      remember(state, event.key, ROOT);
      return;
    case 'resume':
      state.paused = false;
      remember(state, event.key, ROOT);
      return;
    case 'cancel':
      // E9: a rollback is not cancellable.
      if (state.rolling === undefined) cancelRun(core, event.reason);
      return;
    case 'abort':
      if (state.rolling === undefined) abortRun(core, event.reason);
      return;
    case 'slots':
    case 'granted':
      if (state.admission === undefined) return;
      if (event.type === 'slots') slotsAnswered(core, event.answers);
      else slotGranted(core, event.gate);
      admitted(core);
      return;
    case 'continue':
      state.yielding = false;
  }
}

function begin(core: Core): void {
  const { state, program } = core;
  const bytes = weigh(state.genesis.input);
  state.bytes += bytes;
  if (bytes > MAX_PAYLOAD_BYTES) {
    failRun(
      core,
      {
        code: 'payload_too_large',
        message: `The run's input has ${bytes} bytes; at most ${MAX_PAYLOAD_BYTES} fit.`,
        retryable: false,
        details: { bytes, limit: MAX_PAYLOAD_BYTES },
      },
      false,
    );
    return;
  }
  state.work.push({ do: 'visit', frame: ROOT, slug: program.start });
  seekSlots(core, state.genesis.startedAt);
  if (state.admission === undefined) openDeadline(core, state.genesis.startedAt);
}

/** The run has its slots: its time runs from here. */
function admitted(core: Core): void {
  const { state } = core;
  if (state.admission === undefined && state.ending === undefined) openDeadline(core, state.now);
}

function openDeadline(core: Core, from: number): void {
  const limit = durationOf(core.program, core.state);
  if (limit === undefined || Object.hasOwn(core.state.open, DEADLINE)) return;
  open(core, DEADLINE, { type: 'deadline', at: from + limit });
}

/** The answer to a command. E4: what is not open is ignored. */
function settled(core: Core, event: Settling): void {
  const { state } = core;
  if (!Object.hasOwn(state.open, event.id) || state.backlog.includes(event.id)) return;
  const command = state.open[event.id]!;
  if (!answers(event.type, command)) return;
  if (command.type === 'rollback') {
    rolledBack(core, event.id, event.type === 'failed' ? event.error : undefined);
    return;
  }
  close(core, event.id);
  countUsage(state, event);
  if (command.type === 'deadline') {
    failRun(core, {
      code: 'run_timeout',
      message: `The run did not end within its timeout of ${durationOf(core.program, state)} ms.`,
      retryable: false,
    });
    return;
  }
  const frame = state.frames[command.frame];
  const visit = frame?.visit;
  if (frame === undefined || visit?.path !== command.path) return;
  const at = visit.open.indexOf(event.id);
  if (at >= 0) visit.open.splice(at, 1);
  const { path } = command;
  const resume = resumeFrom(state, event, command);
  if (resume.on === 'completed') endInner(core, visit, resume.suffix, { result: resume.result });
  else if (resume.on === 'failed') endInner(core, visit, resume.suffix, { error: resume.error });
  if (state.draining !== undefined) drained(core, frame, path, resume);
  else state.work.push({ do: 'resume', frame: frame.id, path, event: resume });
}

type Settling = Extract<Event, { type: 'completed' | 'failed' | 'fired' | 'childDone' }>;

function resumeFrom(state: RunState, event: Settling, command: OpenCommand & { suffix: string }): Resume {
  const { suffix } = command;
  switch (event.type) {
    case 'completed':
      return { on: 'completed', suffix, result: event.result };
    case 'failed':
      return { on: 'failed', suffix, error: event.error };
    case 'fired':
      return { on: 'fired', suffix };
    case 'childDone':
      return childEnd(state, event, command);
  }
}

/** A child's end as its kind hears of it: which run it was stands in the meta, or in the error's details. */
function childEnd(
  state: RunState,
  event: Extract<Event, { type: 'childDone' }>,
  command: OpenCommand & { suffix: string },
): Resume {
  const { suffix } = command;
  const executionId = command.type === 'child' ? childRunId(state.genesis, event.id, command.child.workflow) : '';
  if (event.error === undefined)
    return { on: 'completed', suffix, result: { data: event.output ?? null, meta: { executionId } } };
  const { details, ...error } = event.error;
  return {
    on: 'failed',
    suffix,
    error: { ...error, details: details === undefined ? { executionId } : { executionId, cause: details } },
  };
}

/** Whoever does not wait for the child goes on; for everybody else it is noted, so that nobody starts it again. */
function childStarted(core: Core, id: string): void {
  const { state } = core;
  const command = Object.hasOwn(state.open, id) && !state.backlog.includes(id) ? state.open[id] : undefined;
  if (command?.type !== 'child') return;
  command.started = true;
  if (command.child.wait !== false) return;
  const executionId = childRunId(state.genesis, id, command.child.workflow);
  settled(core, { type: 'childDone', id, output: { executionId }, at: state.now });
}

function answers(type: 'completed' | 'failed' | 'fired' | 'childDone', command: OpenCommand): boolean {
  switch (command.type) {
    case 'timer':
    case 'deadline':
      return type === 'fired';
    case 'child':
      return type === 'childDone' || type === 'failed';
    default:
      return type === 'completed' || type === 'failed';
  }
}

const LISTENING: ReadonlySet<string | undefined> = new Set(['message', 'callback']);

/** To the oldest listener that takes it, else into the inbox. Two messages with one id are one. */
function message(core: Core, event: Extract<Event, { type: 'message' }>): void {
  const { state } = core;
  if (event.id !== undefined) {
    const id = shorten(event.id);
    if (state.seen.includes(id)) return;
    state.seen.push(id);
    if (state.seen.length > REMEMBERED_IDS) state.seen.shift();
  }
  const bytes = weigh(event.payload) + event.name.length + MESSAGE_OVERHEAD;
  state.bytes += bytes;
  if (state.rolling === undefined && state.draining === undefined) {
    // What waits to be walked may be listening next: in order, it comes before this message.
    drain(core);
    if (state.ending !== undefined) return;
    for (const { frame, visit } of visits(state)) {
      const waitsForIt = LISTENING.has(visit.waiting?.kind) && visit.waiting?.name === event.name;
      if (!waitsForIt && visit.hears !== event.name) continue;
      if (tell(core, frame, visit.path, { on: 'message', payload: event.payload })) return;
    }
  }
  state.inbox.push({ name: event.name, payload: event.payload, bytes });
  state.inboxBytes += bytes;
  if (state.inboxBytes > MAX_INBOX_BYTES && state.rolling === undefined)
    failRun(core, {
      code: 'inbox_overflow',
      message: `Messages of ${state.inboxBytes} bytes wait unread; at most ${MAX_INBOX_BYTES} fit.`,
      retryable: false,
      details: { bytes: state.inboxBytes, limit: MAX_INBOX_BYTES, unread: state.inbox.length },
    });
}

/** A signal that nobody can take is dropped: whoever wanted an answer sends an update, and is refused (E5). */
function requested(core: Core, event: AddressedEvent): void {
  const { state } = core;
  if (answered(state, event) !== undefined) return;
  const found = find(core, event);
  if ('code' in found) return;
  const { frame, visit } = found;
  if ('data' in event) state.bytes += weigh(event.data);
  remember(state, event.key, pathOf(found));
  const { path } = visit;
  switch (event.type) {
    case 'decide':
    case 'submit':
      // At once, also while the run is paused: the visit ends now, and nobody else can decide it (E5).
      tell(core, frame, path, resumeOf(event, found.ask));
      return;
    case 'skipTimer': {
      // The visit's own timer; where it has none any more (an approval that was escalated), the one that was set last.
      const timers = visit.open.filter((open) => state.open[open]?.type === 'timer');
      const id = timers.find((open) => open === path) ?? timers.at(-1)!;
      const timer = state.open[id]!;
      visit.open.splice(visit.open.indexOf(id), 1);
      cancel(core, id);
      if (timer.type === 'timer')
        state.work.push({ do: 'resume', frame: frame.id, path, event: { on: 'fired', suffix: timer.suffix } });
      return;
    }
    case 'retryStep':
      for (const id of visit.open.filter((open) => state.open[open]?.type === 'run')) runAgain(core, id);
      return;
    case 'cancelStep': {
      const place = currentPlace(core, frame, path)!;
      failVisit(core, place, {
        code: 'step_cancelled',
        message: `The step was cancelled${event.by === undefined ? '' : ` by ${event.by}`}.`,
        retryable: false,
      });
    }
  }
}

/** Resumes an open visit here and now; false where it answers that the event is not for it. */
function tell(core: Core, frame: Frame, path: string, event: Resume): boolean {
  const place = currentPlace(core, frame, path);
  if (place === undefined) return false;
  try {
    const outcome = resumed(core, place, event);
    if (outcome.do === 'ignore') return false;
    apply(core, place, outcome);
  } catch (error) {
    const still = currentPlace(core, frame, path);
    if (still === undefined) throw error;
    failVisit(core, still, failureOf(error));
  }
  return true;
}

/** A new attempt now, under a new id (E3), with the same config and the same idempotency key. */
function runAgain(core: Core, id: string): void {
  const { state } = core;
  const running = state.open[id];
  if (running?.type !== 'run') return;
  const visit = state.frames[running.frame]?.visit;
  if (visit === undefined) return;
  visit.open.splice(visit.open.indexOf(id), 1);
  cancel(core, id);
  const tries = running.tries + 1;
  const next = `${id.replace(/![0-9]+$/, '')}!${tries}`;
  open(core, next, { ...running, tries, command: { ...running.command, id: next } }, visit);
}

function drain(core: Core): void {
  const { state } = core;
  while (
    state.work.length > 0 &&
    state.ending === undefined &&
    state.rolling === undefined &&
    state.admission === undefined &&
    !state.paused &&
    !state.yielding
  ) {
    if (state.effort.units >= MAX_ACTIVATION_UNITS) {
      giveWay(core);
      return;
    }
    const work = state.work.shift()!;
    const before = state.bytes;
    walk(core, work);
    // What a step keeps was weighed, which is work too.
    state.effort.units += STEP_UNITS + (Math.max(0, state.bytes - before) >> 3);
    checkLimit(core);
  }
}

/** A new activation: what it costs is counted from here. */
function rest({ effort, now }: RunState): void {
  effort.at = now;
  effort.units = 0;
  effort.bytes = 0;
}

function giveWay(core: Core): void {
  core.state.yielding = true;
  core.commands.push({ type: 'yield' });
}

/** After every step (language.md §12): a walk of pure steps may grow a lot within one event. */
function checkLimit(core: Core): void {
  if (core.state.ending !== undefined || core.state.rolling !== undefined || fitsLimit(core.program, core.state))
    return;
  const bytes = carriedBytes(core.program, core.state);
  failRun(core, {
    code: 'state_too_large',
    message: `The definition and the state of the run together have ${bytes} bytes; at most ${MAX_STATE_BYTES} fit. Keep less in outputs, variables and lists.`,
    retryable: false,
    details: { bytes, limit: MAX_STATE_BYTES },
  });
}

function show(core: Core): void {
  const { state } = core;
  const shown = shownOf(state);
  if (shown === state.shown) return;
  state.shown = shown;
  core.commands.push({ type: 'visible', status: statusOf(state), waitingFor: waitingFor(state) });
}

function answered(state: RunState, event: Event): Accepted | undefined {
  const key = 'key' in event && event.key !== undefined ? rememberedKey(event.key) : undefined;
  return key !== undefined && Object.hasOwn(state.answered, key) ? state.answered[key] : undefined;
}

function remember(state: RunState, key: string | undefined, path: string): void {
  if (key === undefined) return;
  state.answered[rememberedKey(key)] = { accepted: true, path };
  const keys = Object.keys(state.answered);
  if (keys.length > REMEMBERED_IDS) delete state.answered[keys[0]!];
}

/** Keys come from outside: long ones are hashed, and none is read as a number, which would change the order of keys. */
function rememberedKey(key: string): string {
  return shorten(`:${key}`);
}
