/** The arguments and results of activities: the contract between the workflows, which call them, and activities/. */

import type { Json, JsonObject } from '../../json/json.ts';
import type { SecretString } from '../../template/types.ts';

/** `inline`: the definition is not stored, whatever its hash. Absent hash: the run was started by hand. */
export interface RunDefinitionRef {
  readonly hash?: string;
  readonly inline?: boolean;
}

/** The one argument of every activity. */
export interface ActivityInput {
  readonly config: Json;
  /** E7: where the activity inserts secrets and callback URLs into `config`, right before use. */
  readonly secrets: readonly SecretString[];
  /** The same for all attempts of a visit. */
  readonly idempotencyKey: string;
  readonly path: string;
  readonly stepSlug: string;
  /**
   * Attempts as a local activity. Temporal does not count them when the command becomes a regular activity. Default: 0.
   */
  readonly earlierAttempts?: number;
  /** The limit of the attempt's effect. Absent: Temporal ends the attempt at its limit. */
  readonly timeoutMs?: number;
  /** Repeating the activity is safe, or the author declared it safe. */
  readonly repeatable?: true;
  readonly execution: {
    /** The workflow id. */
    readonly id: string;
    /** The definition's slug: secrets may be bound to it. */
    readonly workflow: string;
    /**
     * The definition that the run walks, since any document may use the slug. Absent where the host asks, and not a
     * run.
     */
    readonly definition?: RunDefinitionRef;
    readonly organizationId: string;
  };
}

/**
 * The limit of an attempt that runs as a local activity or within a segment, in milliseconds: the rest of the run waits
 * for it (ARCHITECTURE.md §3).
 */
export const LOCAL_LIMIT_MS = 2_000;

/**
 * How long an attempt whose effect has ended may wait for the store of large results, in milliseconds. Temporal ends
 * it a little later.
 */
export const STORE_TIMEOUT_MS = 600_000;

/** The member of a heartbeat by which an attempt says that it waits for the store, and since when (ISO 8601). */
export const STORE_WAIT_MEMBER = '$store';

/** The code of an attempt that was not done in time. */
export const TIMEOUT_CODE = 'timeout';

/** `limit`: whose limit it was. */
export const timeoutText = (limit: string): string =>
  `The step did not answer in time (${limit}); raise its timeout, or see why the other side is slow.`;

export const ATTEMPT_LIMIT = 'the limit of one attempt';

/**
 * The failure code of a local activity that must run as a regular one. Only the worker knows which of the host's
 * actions are light, so history has to record its answer.
 */
export const NOT_LIGHT_CODE = 'not_light';

/**
 * The id of the activity by which a run yields to other runs, because its walk is long or it has many commands to send.
 */
export const YIELD_ACTIVITY_ID = '$yield';

/** The id of the activity, and the summary of the local activity, that runs a segment of the walk (segment.ts). */
export const SEGMENT_ACTIVITY_ID = '$segment';

/**
 * Prefix of the step's path. Together they are the summary of the timer between a failed local activity and its next,
 * regular attempt.
 */
export const PAUSE_PREFIX = '$pause/';

/** A failure is an ApplicationFailure: type = code, details = [{details?, retryable, attempts?, retryAfterMs?}]. */
export interface ActivityOutput {
  readonly data: Json;
  readonly meta?: JsonObject;
}

/** The execution that gets the result. */
export interface AttemptOwner {
  readonly namespace: string;
  readonly workflowId: string;
  readonly runId: string;
  /** The type of the workflow. */
  readonly type: string;
}

/** A result that is stored before its attempt ends, so that an absence of the store does not repeat the effect. */
export interface LargeResult {
  /** Stores it. Returns what the activity returns in its place. @throws ApplicationFailure of a retryable code */
  store(signal: AbortSignal): Promise<unknown>;
  /** The same where history holds it. Undefined where it has no room. */
  inHistory(): unknown;
}
