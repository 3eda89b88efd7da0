/**
 * The events of a run's history that the fold needs, with decoded payloads and times in epoch milliseconds. Readers of
 * histories produce them (src/client/runs/trace.ts from the server, tests from a model), so that the fold does not
 * depend on Temporal. `id` is the number of the event in its history.
 */
import type { FailureCause } from '../engine/state/failure-causes.ts';

interface Base {
  readonly id: number;
  readonly time: number;
}

/** Why a stored value cannot be read: a code, and a sentence for people. */
export interface Unreadable {
  readonly code: string;
  readonly message: string;
}

export type HistoryEvent =
  /** `argument` is the first argument of the workflow, `continuedFrom` the previous run of the chain. */
  | (Base & { readonly type: 'workflowStarted'; readonly argument: unknown; readonly continuedFrom?: string })
  /** `sticky`: on the queue of a worker with the run in its cache. Any other worker replays the history. */
  | (Base & { readonly type: 'taskScheduled'; readonly sticky: boolean })
  | (Base & { readonly type: 'taskStarted' | 'taskFailed' | 'taskTimedOut' })
  /** `buildId`: that of the worker, which contains its settings (contract/build-id.ts). */
  | (Base & { readonly type: 'taskCompleted'; readonly buildId?: string })
  | ExternalEvent
  | CommandEvent
  | Closed
  /** An event that cannot be read. Of the events after it only the close of the run can be folded. */
  | (Base & Unreadable & { readonly type: 'unreadable'; readonly continuedFrom?: string })
  /** Any other event, which the fold ignores. */
  | (Base & { readonly type: 'other' });

/** Events from outside of the workflow, which it gets with the next workflow task. */
export type ExternalEvent =
  | (Base & { readonly type: 'signal'; readonly name: string; readonly payload: unknown })
  | (Base & { readonly type: 'cancelRequested' })
  | (Base & {
      readonly type: 'updateAdmitted';
      readonly updateId: string;
      readonly name: string;
      readonly payload: unknown;
    })
  /** Written when the activity ends, for its last attempt. `lastFailure` is the failure of the attempt before. */
  | (Base & {
      readonly type: 'activityStarted';
      readonly scheduledId: number;
      readonly attempt: number;
      readonly lastFailure?: FailureCause;
    })
  /** `by`: who has completed or failed it by hand. */
  | (Base & {
      readonly type: 'activityCompleted';
      readonly scheduledId: number;
      readonly result: unknown;
      readonly by?: string;
    })
  /** `exhausted`: no attempts were left. */
  | (Base & {
      readonly type: 'activityFailed';
      readonly scheduledId: number;
      readonly cause: FailureCause;
      readonly exhausted?: true;
      readonly by?: string;
    })
  | (Base & { readonly type: 'timerFired'; readonly startedId: number })
  /** A child runs; also if a child with its id ran already or had ended. */
  | (Base & { readonly type: 'childStarted'; readonly initiatedId: number });

/** Commands of the workflow, written after the completion of the task. */
export type CommandEvent =
  | (Base & { readonly type: 'activityScheduled'; readonly activityId: string })
  | (Base & { readonly type: 'timerStarted'; readonly summary: string })
  | (Base & { readonly type: 'childInitiated'; readonly executionId: string })
  /**
   * The request came with the task. `sequencingId` is the last event before it. Without a name it was admitted before.
   */
  | (Base & {
      readonly type: 'updateAccepted';
      readonly sequencingId: number;
      readonly updateId: string;
      readonly name?: string;
      readonly payload?: unknown;
    })
  | LocalMarker;

/**
 * The marker of a local activity (TEMPORAL.md §3). `completedAt` is the workflow's clock: when the activity began, plus
 * the time that it took.
 */
export type LocalMarker = Base & {
  readonly type: 'localActivity';
  readonly summary: string;
  readonly attempt: number;
  readonly completedAt?: number;
  readonly result?: unknown;
  readonly cause?: FailureCause;
  /** It has not ended yet: it is retried after a timer. */
  readonly backoff: boolean;
};

export type Closed = Base & {
  readonly type: 'closed';
  readonly how: 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timedOut' | 'continued';
  /** Continued as new: the next run's argument and id. */
  readonly argument?: unknown;
  readonly nextRunId?: string;
};
