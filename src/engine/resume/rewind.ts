/**
 * Where a run goes on that has ended (ARCHITECTURE.md §5): a retry arms what failed once more, a fork begins at a visit of its
 * choice. The history is walked again up to its end, but the visits in question are parked: they do not begin, while
 * everything beside them goes as it went. What was parked is then the first that the new run walks.
 *
 * A visit that begins again has the path that it had, and so the same ids and idempotency keys.
 */
import type { GateWanted } from '../../contract/limiter.ts';
import type { Program } from '../../steps/program-types.ts';
import { hasLease, requestSlots } from '../inbound/admission.ts';
import { countSlots } from '../state/command-backlog.ts';
import type { Core } from '../state/core.ts';
import { measure } from '../state/measure.ts';
import type { Frame, OpenVisit, RunState, Work } from '../state/state.ts';
import { DEADLINE, runTimeoutMs } from '../walk/ending.ts';
import { cancelOpened } from '../walk/frames.ts';

/** What begins a visit. */
export type RewindTarget = Extract<Work, { do: 'visit' }>;

/** The open visit of that path, with its frame. */
export function openVisit(state: RunState, path: string): { frame: Frame; visit: OpenVisit } | undefined {
  for (const frame of Object.values(state.frames)) if (frame.visit?.path === path) return { frame, visit: frame.visit };
  return undefined;
}

/** Takes an open visit back, with all that it opened, as if it had not begun; answers what begins it again. */
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

export interface Resumption {
  /** What begins, in this order. */
  readonly work: readonly Work[];
  /** Epoch milliseconds. */
  readonly at: number;
  /** The limits that it is under; it asks those gates that have not let it pass. */
  readonly gates: readonly GateWanted[];
}

/**
 * Makes the state of a run that has ended one that goes on: children are started again where they have failed, and the
 * deadline is as long as a new run's.
 */
export function resumeWith(program: Program, ended: RunState, { work, at, gates }: Resumption): RunState {
  const { gates: _before, ...genesis } = ended.genesis;
  const state: RunState = { ...ended, genesis: gates.length === 0 ? genesis : { ...genesis, gates } };
  state.now = Math.max(state.now, at);
  state.work = [...state.work, ...work];
  state.paused = false;
  delete state.pausedSince;
  // It begins as running, and shows itself anew even where it comes to what the ended run had shown last.
  state.shown = '';
  for (const command of Object.values(state.open)) if (command.type === 'child') delete command.started;
  const limit = runTimeoutMs({ program, state });
  if (limit !== undefined) {
    if (!Object.hasOwn(state.open, DEADLINE)) state.openCount++;
    state.open[DEADLINE] = { type: 'deadline', at: at + limit };
  }
  standBeforeGates(program, state, at);
  // The shell answers a yield with `continue`, and that walks what is to be walked.
  state.yielding = true;
  // It was edited, and what was parked is not in it.
  state.bytes = measure(program, state).bytes;
  delete state.weighings;
  return state;
}

/** The first execution of a retry or a fork: where it starts too late after its slots were taken, it asks for them again. */
export function resumedAt(program: Program, state: RunState, startedAt: number): RunState {
  const gates = state.genesis.gates ?? [];
  if (gates.some((gate) => gate.taken && !hasLease(gate, startedAt))) standBeforeGates(program, state, startedAt);
  return state;
}

function standBeforeGates(program: Program, state: RunState, startedAt: number): void {
  delete state.admission;
  requestSlots({ program, state, commands: [], trace: undefined }, startedAt);
  if (state.admission === undefined) return;
  // Nothing goes out before the gates have let it pass.
  state.backlog = Object.keys(state.open);
  state.openCount = 0;
  state.slots = countSlots(state);
}
