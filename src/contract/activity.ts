/** What an activity is called with and what it answers: the contract between the shell, which calls, and activities/. */

import type { Json, JsonObject } from '../json/json.ts';
import type { SecretString } from '../template/types.ts';

/** `inline`: it is not stored, whatever its hash is. Without a hash it was started by hand. */
export interface RunsDefinition {
  readonly hash?: string;
  readonly inline?: boolean;
}

/** The one argument of every activity. */
export interface ActivityInput {
  readonly config: Json;
  /** E7: where secrets and callback URLs are to be joined into `config`, right before use. */
  readonly secrets: readonly SecretString[];
  /** The same for all attempts of a visit. */
  readonly idempotencyKey: string;
  readonly path: string;
  readonly stepSlug: string;
  /** Attempts as a local activity, which Temporal does not count when it goes on as a regular one; 0 when absent. */
  readonly earlierAttempts?: number;
  /** Beginning it again is safe, or the author said that it is. */
  readonly repeatable?: true;
  readonly execution: {
    /** The workflow id. */
    readonly id: string;
    /** The definition's slug: secrets may be bound to it. */
    readonly workflow: string;
    /** What the run walks, since any document can call itself by that slug; absent where no run asks, but the host. */
    readonly definition?: RunsDefinition;
    readonly organizationId: string;
  };
}

/**
 * The code by which an activity that was begun as a local one says that it is none: it goes on as a regular one. Only the
 * worker knows which of the host's actions are light, and history then has what it said.
 */
export const NOT_LIGHT = 'not_light';

/**
 * The id of the activity by which a run gives way: one whose walk is long, or that has much to send. In older histories it is a
 * local activity.
 */
export const YIELD = '$yield';

/** Before the step's path: the summary of the timer between a failed local activity and the regular one that it goes on as. */
export const PAUSE = '$pause/';

/** A failure is an ApplicationFailure: type = code, details = [{details?, retryable, attempts?, retryAfterMs?}]. */
export interface ActivityOutput {
  readonly data: Json;
  readonly meta?: JsonObject;
}
