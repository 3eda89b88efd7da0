/** The context of one call of `advance`. It does not outlive the call. */
import type { Program, Step } from '../../steps/program-types.ts';
import type { EvaluateOptions } from '../../template/types.ts';
import type { Command, TraceEvent } from './protocol.ts';
import type { RunState, Work } from './state.ts';

export interface Core {
  readonly program: Program;
  readonly state: RunState;
  readonly commands: Command[];
  readonly trace: ((event: TraceEvent) => void) | undefined;
  /** Set only while a history is replayed for a retry or a fork. */
  readonly postpone?: Postpone | undefined;
  /**
   * What happens to messages that a visit took and did not use. Default: they are offered to open listeners. quietly:
   * they stay in the inbox for the same visit, which begins again. not: they are dropped, since the run ends.
   */
  returnsMessages?: 'quietly' | 'not';
  /** Undoes the assignments of the current visit, the last first: a visit that fails has written nothing. */
  undoAssignments?: (() => void)[];
}

/** Called before a visit begins: whether to postpone it to the next run (rewind.ts). */
export type Postpone = (path: string, work: Extract<Work, { do: 'visit' }>) => boolean;

/** The member of a trace event that names the step. */
export const stepNameMember = ({ name, slug }: Step): { readonly name?: string } => (name === slug ? {} : { name });

/** How expressions of the run are evaluated now. */
export const evaluateOptions = ({ program, state }: Pick<Core, 'program' | 'state'>): EvaluateOptions => ({
  now: state.now,
  isLegacy: () => !program.isMarked('texts'),
});

export function stepOf(core: Core, slug: string): Step {
  const step = core.program.steps.get(slug);
  // The compiler checks every target, and a state is walked only with the program that it began with.
  if (step === undefined) throw new Error(`The program has no step '${slug}'.`);
  return step;
}
