/** One call of `advance`: what its parts share. Nothing of it outlives the call. */
import type { Program, Step } from '../steps/program-types.ts';
import type { Command, TraceEvent } from './protocol.ts';
import type { Frame, OpenVisit, RunState, Work } from './state.ts';

export interface Core {
  readonly program: Program;
  readonly state: RunState;
  readonly commands: Command[];
  readonly trace: ((event: TraceEvent) => void) | undefined;
  /** Only where a history is walked once more, for a retry or a fork. */
  readonly parking?: Parking | undefined;
}

/** Where the walk is to stop (parking.ts). */
export interface Parking {
  /** Visits that do not begin. */
  readonly paths: ReadonlySet<string>;
  /** Takes what would have begun them. */
  readonly work: Work[];
}

export function stepOf(core: Core, slug: string): Step {
  const step = core.program.steps.get(slug);
  // Compiling has checked every target, and a state is only ever walked with the program it began with.
  if (step === undefined) throw new Error(`The program has no step '${slug}'.`);
  return step;
}

export function visitOf(frame: Frame, path: string): OpenVisit | undefined {
  return frame.visit?.path === path ? frame.visit : undefined;
}
