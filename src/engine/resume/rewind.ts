/**
 * Continues a run that has ended (ARCHITECTURE.md §3): a retry repeats the visits that failed, a fork begins at a
 * chosen visit. The history is replayed to its end, but these visits are postponed: they do not begin, and all others
 * run as they did. The new run walks the postponed visits first.
 *
 * A visit that begins again has the same path, and so the same ids and idempotency keys.
 */
import type { AppliedLimit } from '../../contract/limits/limiter.ts';
import type { Program } from '../../steps/program-types.ts';
import { hasLease, requestSlots } from '../inbound/admission.ts';
import { countCommands } from '../state/command-backlog.ts';
import type { Core } from '../state/core.ts';
import { measure } from '../state/measure.ts';
import type { Frame, OpenVisit, RunState, Work } from '../state/state.ts';
import { DEADLINE_ID, runTimeoutMs } from '../walk/ending.ts';
import { cancelOpened } from '../walk/frames.ts';

/** The work item that begins a visit. */
export type RewindTarget = Extract<Work, { do: 'visit' }>;

/** The open visit of that path, with its frame. */
export function openVisit(state: RunState, path: string): { frame: Frame; visit: OpenVisit } | undefined {
  for (const frame of Object.values(state.frames)) if (frame.visit?.path === path) return { frame, visit: frame.visit };
  return undefined;
}

/**
 * Undoes the beginning of an open visit and cancels everything it opened. Returns the work item that begins it again.
 */
export function rewindOpenVisit(program: Program, state: RunState, path: string): RewindTarget | undefined {
  const found = openVisit(state, path);
  if (found === undefined) return undefined;
  const { frame, visit } = found;
  const core: Core = { program, state, commands: [], trace: undefined, returnsMessages: 'quietly' };
  cancelOpened(core, frame);
  delete frame.visit;
  state.work = state.work.filter((work) => work.do !== 'resume' || work.frame !== frame.id || work.path !== path);
  const slug = visit.key ?? visit.slug;
  const counts = frame.loops.at(-1)?.counts ?? frame.counts;
  counts[slug] = (counts[slug] ?? 1) - 1;
  return { do: 'visit', frame: frame.id, slug };
}

interface Resumption {
  /** The visits that begin, in order. */
  readonly work: readonly Work[];
  /** Epoch milliseconds. */
  readonly at: number;
  /** The run's limiters. It requests slots from those without a lease for it. */
  readonly limiters: readonly AppliedLimit[];
}

/**
 * Makes a state that continues from the state of an ended run: failed children start again, and the timeout is that of
 * a new run.
 */
export function resumedState(program: Program, ended: RunState, { work, at, limiters }: Resumption): RunState {
  const { gates: _before, ...genesis } = ended.genesis;
  const state: RunState = { ...ended, genesis: limiters.length === 0 ? genesis : { ...genesis, gates: limiters } };
  state.now = Math.max(state.now, at);
  state.work = [...state.work, ...work];
  state.paused = false;
  delete state.pausedSince;
  // The run starts as running, and publishes its view even if it equals the last view of the ended run.
  state.viewDigest = '';
  for (const command of Object.values(state.openCommands)) if (command.type === 'child') delete command.started;
  const limit = runTimeoutMs({ program, state });
  if (limit !== undefined) {
    if (!Object.hasOwn(state.openCommands, DEADLINE_ID)) state.sentCount++;
    state.openCommands[DEADLINE_ID] = { type: 'deadline', at: at + limit };
  }
  requestSlotsAgain(program, state, at);
  // The shell answers a yield with `continue`, which walks the queued work.
  state.yielding = true;
  // The state was edited, and the postponed visits were not counted.
  state.bytes = measure(program, state).bytes;
  delete state.serializedSizes;
  return state;
}

/** For the first execution of a retry or fork: asks for the slots again if its leases may have expired. */
export function withRenewedSlots(program: Program, state: RunState, startedAt: number): RunState {
  const { gates: limiters = [] } = state.genesis;
  if (limiters.some((limiter) => limiter.taken && !hasLease(limiter, startedAt)))
    requestSlotsAgain(program, state, startedAt);
  return state;
}

function requestSlotsAgain(program: Program, state: RunState, startedAt: number): void {
  delete state.admission;
  requestSlots({ program, state, commands: [], trace: undefined }, startedAt);
  if (state.admission === undefined) return;
  // No command is sent before the run has its slots.
  state.backlog = Object.keys(state.openCommands);
  state.sentCount = 0;
  state.commandCounts = countCommands(state);
}
