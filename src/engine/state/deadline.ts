import type { Program } from '../../steps/program-types.ts';
import type { RunState } from './state.ts';

/** The run's own limit in milliseconds from its start: what the starter said, else the definition's config.timeout. */
export function durationOf(program: Program, state: RunState): number | undefined {
  return state.genesis.timeoutMs ?? program.timeoutMs;
}
