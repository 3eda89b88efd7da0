/** What a fold returns: the trace of one run, and the open activities that are added to it. */
import type { RunState } from '../engine/state/state.ts';
import type { Program } from '../steps/program-types.ts';
import type { Ambiguity } from './ambiguities.ts';
import type { Closed, Unreadable } from './events.ts';
import type { PendingActivity, RowEnd, RowOutline, RowPlace, RowWindow, TraceRow } from './trace-rows.ts';

/** The result of the fold of one run's history. */
export interface RunTrace {
  /** Undefined if the run's argument cannot be walked. Such a run has failed and has no rows. */
  readonly state: RunState | undefined;
  readonly program: Program | undefined;
  readonly window: RowWindow;
  readonly rows: readonly TraceRow[];
  /** The size of the rows as JSON, about. */
  readonly bytes: number;
  /** What this run adds to visits that began in a previous run, by path. */
  readonly ends: ReadonlyMap<string, RowEnd>;
  /** Every visit that began in this run without its values, in the window or not, up to a limit. */
  readonly briefs: readonly RowOutline[];
  /** The number of visits that began in this run, in the window or not. */
  readonly count: number;
  /** The paths of open visits that wait. */
  readonly waiting: ReadonlySet<string>;
  /** Visits that were open when this run took over from the previous one. */
  readonly inherited: readonly Inherited[];
  readonly guesses: readonly Ambiguity[];
  readonly closed: Closed | undefined;
  /** The previous run of the chain, which continued as new or was retried. */
  readonly continuedFrom: string | undefined;
  /** Whether the run is a retry or a fork: it began with a carried state, and its open visits have new rows. */
  readonly restarted: boolean;
  /** Why the rows end before the history ends. */
  readonly unreadable?: Unreadable | undefined;
}

export type Inherited = Pick<TraceRow, 'path' | 'stepSlug' | 'stepName' | 'stepType' | 'startedAt' | keyof RowPlace>;

/** An open activity, as the server describes it. */
export interface PendingAttempt extends PendingActivity {
  readonly activityId: string;
}
