/** The question of a parent about the runs that it started: the activity `describeChildren`. JSON only. */
import type { Json } from '../../json/json.ts';
import type { RunError } from './run.ts';

/** A child that a parent waits for. */
export interface OpenChild {
  /** The path under which the child reports. */
  readonly id: string;
  readonly executionId: string;
}

/** The end of a child that is no longer open. */
export interface EndedChild {
  readonly id: string;
  readonly output?: Json;
  readonly error?: RunError;
}

/** The ended children, as many as fit, and whether more have ended. */
export interface DescribedChildren {
  readonly ended: readonly EndedChild[];
  readonly more: boolean;
}
