/**
 * A run's history in plain words: what of Temporal's events counts for the fold, payloads decoded, times in epoch
 * milliseconds. Whoever reads a history (src/client/runs/trace.ts from the server, a test from its model) speaks this, so the
 * fold needs no Temporal. `id` is the event's number in its history.
 */
import type { FailureCause } from '../engine/state/causes.ts';

interface Base {
  readonly id: number;
  readonly time: number;
}

/** Why something that is stored cannot be read: a code, and a sentence for people. */
export interface Unreadable {
  readonly code: string;
  readonly message: string;
}

export type HistoryEvent =
  /** `argument` is the workflow's first; `continuedFrom` the run before in the chain. */
  | (Base & { readonly type: 'workflowStarted'; readonly argument: unknown; readonly continuedFrom?: string })
  /** `sticky`: on the queue of a worker that holds the run; else whoever takes it replays the history. */
  | (Base & { readonly type: 'taskScheduled'; readonly sticky: boolean })
  | (Base & { readonly type: 'taskStarted' | 'taskFailed' | 'taskTimedOut' })
  /** `buildId`: of the worker, whose settings stand in it (contract/build-id.ts). */
  | (Base & { readonly type: 'taskCompleted'; readonly buildId?: string })
  | Outside
  | Issued
  | Closed
  /** What this event holds cannot be read: nothing after it can be folded but how the run was closed. */
  | (Base & Unreadable & { readonly type: 'unreadable'; readonly continuedFrom?: string })
  /** Whatever else history holds; it means nothing here. */
  | (Base & { readonly type: 'other' });

/** What comes to the workflow from outside, and is handed over with the next workflow task. */
export type Outside =
  | (Base & { readonly type: 'signal'; readonly name: string; readonly payload: unknown })
  | (Base & { readonly type: 'cancelRequested' })
  | (Base & {
      readonly type: 'updateAdmitted';
      readonly updateId: string;
      readonly name: string;
      readonly payload: unknown;
    })
  /** Written when the activity ends, for its last attempt; `lastFailure` is that of the attempt before. */
  | (Base & {
      readonly type: 'activityStarted';
      readonly scheduledId: number;
      readonly attempt: number;
      readonly lastFailure?: FailureCause;
    })
  | (Base & { readonly type: 'activityCompleted'; readonly scheduledId: number; readonly result: unknown })
  /** `exhausted`: it was not tried again because its attempts were used up. */
  | (Base & {
      readonly type: 'activityFailed';
      readonly scheduledId: number;
      readonly cause: FailureCause;
      readonly exhausted?: true;
    })
  | (Base & { readonly type: 'timerFired'; readonly startedId: number })
  /** A child runs; also where one of its id ran already, or had ended. */
  | (Base & { readonly type: 'childStarted'; readonly initiatedId: number });

/** What the workflow asked for, written behind the task's completion. */
export type Issued =
  | (Base & { readonly type: 'activityScheduled'; readonly activityId: string })
  | (Base & { readonly type: 'timerStarted'; readonly summary: string })
  | (Base & { readonly type: 'childInitiated'; readonly executionId: string })
  /** Its request came with the task; `sequencingId` is the last event before it. No name: it was admitted before. */
  | (Base & {
      readonly type: 'updateAccepted';
      readonly sequencingId: number;
      readonly updateId: string;
      readonly name?: string;
      readonly payload?: unknown;
    })
  | LocalMarker;

/** The marker of a local activity (TEMPORAL.md §3). */
export type LocalMarker = Base & {
  readonly type: 'localActivity';
  readonly summary: string;
  readonly attempt: number;
  readonly scheduledAt?: number;
  readonly completedAt?: number;
  readonly result?: unknown;
  readonly cause?: FailureCause;
  /** No end yet: it is tried again after a timer. */
  readonly backoff: boolean;
};

export type Closed = Base & {
  readonly type: 'closed';
  readonly how: 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timedOut' | 'continued';
  /** Continued as new: the next run's argument and id. */
  readonly argument?: unknown;
  readonly nextRunId?: string;
};
