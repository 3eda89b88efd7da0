/**
 * The workflow `fire`, which a schedule starts at each of its times (ARCHITECTURE.md §4), and its activities: the
 * contract between src/client, workflows/jobs/fire.ts and src/client/triggers/fire-schedule.ts. JSON only.
 */
import type { RunStatus } from '../run/run.ts';

export const FIRE_WORKFLOW = 'fire';

export interface FireStart {
  readonly organizationId: string;
  readonly triggerId: string;
  /**
   * The workflow stays open until its run has ended, so that the overlap policy of the schedule applies to the run.
   * When the workflow is cancelled, it ends the run in this way. Absent: it starts the run and completes.
   */
  readonly stays?: 'cancel' | 'terminate';
  /** What the times of the schedule were made from (timesVersion). Absent from schedules of 0.3. */
  readonly asOf?: string;
}

/** The result of `fire`. */
export type FireResult =
  | { readonly executionId: string; readonly status: RunStatus; readonly created: boolean }
  | { readonly refused: { readonly code: string; readonly message: string } };

/** The activity `fireSchedule`. */
export interface FireSchedule {
  readonly organizationId: string;
  readonly triggerId: string;
  /** The tick of the schedule, without jitter: ISO 8601. Each tick starts one run. */
  readonly time: string;
  readonly asOf?: string;
  /** The workflow that receives the end of the run. */
  readonly notify?: string;
}

/** The activity `endFired` asks the run to end. It has no effect on a run that has ended. */
export interface EndFired {
  readonly organizationId: string;
  readonly executionId: string;
  readonly how: 'cancel' | 'terminate';
}

/** The activity `isFiredOpen`: whether the run is open. */
export interface IsFiredOpen {
  readonly organizationId: string;
  readonly executionId: string;
}

export interface FireActivities {
  fireSchedule(request: FireSchedule): Promise<FireResult>;
  endFired(request: EndFired): Promise<void>;
  isFiredOpen(request: IsFiredOpen): Promise<boolean>;
}
