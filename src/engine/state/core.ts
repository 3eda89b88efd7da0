/** One call of `advance`: what its parts share. Nothing of it outlives the call. */
import type { Program, Step } from '../../steps/program-types.ts';
import type { Command, TraceEvent } from './protocol.ts';
import type { RunState, Work } from './state.ts';

export interface Core {
  readonly program: Program;
  readonly state: RunState;
  readonly commands: Command[];
  readonly trace: ((event: TraceEvent) => void) | undefined;
  /** Only where a history is walked once more, for a retry or a fork. */
  readonly postpone?: Postpone | undefined;
  /**
   * What becomes of messages that a visit took and did not use. Default: open listeners are shown them. quietly: they are
   * kept for the visit, which begins again. not: the run ends.
   */
  returnsMessages?: 'quietly' | 'not';
}

/** Asked before a visit begins: whether it is not to, but to be kept for later (rewind.ts). */
export type Postpone = (path: string, work: Extract<Work, { do: 'visit' }>) => boolean;

export function stepOf(core: Core, slug: string): Step {
  const step = core.program.steps.get(slug);
  // Compiling has checked every target, and a state is only ever walked with the program it began with.
  if (step === undefined) throw new Error(`The program has no step '${slug}'.`);
  return step;
}
