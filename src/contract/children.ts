/** What a parent asks about the runs that it started: the activity `describeChildren`. JSON only. */
import type { Json } from '../json/json.ts';
import type { RunError } from './run.ts';

/** A child that a parent waits for. */
export interface OpenChild {
  /** The path under which the child was to report. */
  readonly id: string;
  readonly executionId: string;
}

/** How a child that is no longer open has ended. */
export interface EndedChild {
  readonly id: string;
  readonly output?: Json;
  readonly error?: RunError;
}

/** Those that have ended, as many as fit, and whether there are more. */
export interface DescribedChildren {
  readonly ended: readonly EndedChild[];
  readonly more: boolean;
}
