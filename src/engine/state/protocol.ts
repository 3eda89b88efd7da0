/**
 * What goes into the core and what comes out (DESIGN.md). Everything is JSON. Times are epoch milliseconds and come
 * in with events: the core reads no clock (E1).
 */

import type { GateWanted, SlotAnswer } from '../../contract/limiter.ts';
import type { Accepted, Decision, Refusal, RunError, RunStatus, Submission, WaitingFor } from '../../contract/run.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { ChildSpec, EffectResult, FailureShape } from '../../steps/kind.ts';
import type { ResolvedRetryPolicy } from '../../steps/program-types.ts';
import type { SecretString } from '../../template/types.ts';

interface At {
  readonly at: number;
}

/** `id` is that of the command it answers; an event for an id that is not open is ignored (E4). */
export type Event =
  | (At & { readonly type: 'started' })
  | (At & { readonly type: 'completed'; readonly id: string; readonly result: EffectResult })
  | (At & { readonly type: 'failed'; readonly id: string; readonly error: FailureShape })
  | (At & { readonly type: 'fired'; readonly id: string })
  /** The child of that command runs, under the id that the command gave it. */
  | (At & { readonly type: 'childStarted'; readonly id: string })
  | (At & { readonly type: 'childDone'; readonly id: string; readonly output?: Json; readonly error?: FailureShape })
  /** `event`: it was published, and is only for a visit that listens now. */
  | (At & {
      readonly type: 'message';
      readonly name: string;
      readonly payload: Json;
      readonly id?: string;
      readonly event?: { readonly key?: string };
    })
  | (At & Addressed & Decision & { readonly type: 'decide' })
  | (At & Addressed & Submission & { readonly type: 'submit' })
  | (At & Addressed & { readonly type: 'cancelStep' | 'retryStep' | 'skipTimer' })
  | (At & { readonly type: 'pause' | 'resume'; readonly key?: string })
  /** Cancels the whole run. */
  | (At & { readonly type: 'cancel'; readonly reason?: string })
  /** Ends the whole run, and undoes what is to be undone. */
  | (At & { readonly type: 'abort'; readonly reason?: string })
  /** Answers the command `slots`. */
  | (At & { readonly type: 'slots'; readonly answers: readonly SlotAnswer[] })
  /** The gate that the run waited at lets it pass. */
  | (At & { readonly type: 'granted'; readonly gate: string })
  /** Answers the command `yield`: the walk goes on. */
  | (At & { readonly type: 'continue' });

/** For whom: a path, a slug with one open visit, or nobody named when just one fits. The key makes a repeat harmless. */
export interface Addressed {
  readonly step?: string;
  readonly key?: string;
  readonly by?: string;
}

export type Command =
  | RunCommand
  | { readonly type: 'timer'; readonly id: string; readonly at: number }
  /** `executionId`: the workflow id that the child has to have. */
  | ({ readonly type: 'child'; readonly id: string; readonly executionId: string } & Omit<
      ChildSpec,
      'suffix' | 'inner'
    >)
  /** Ends the command with this id: its answer is no longer awaited (E9). */
  | { readonly type: 'cancel'; readonly id: string }
  /** Ask these gates, one after the other, as far as they let the run pass; then send `slots`. */
  | { readonly type: 'slots'; readonly gates: readonly GateWanted[] }
  /** The walk was long: give way to others, then send `continue`. */
  | { readonly type: 'yield' }
  | { readonly type: 'visible'; readonly status: RunStatus; readonly waitingFor: readonly WaitingFor[] }
  | { readonly type: 'complete'; readonly output: Json }
  | { readonly type: 'fail'; readonly error: RunError }
  | { readonly type: 'cancelled'; readonly reason?: string; readonly details?: JsonObject };

export interface RunCommand {
  readonly type: 'run';
  readonly id: string;
  readonly activity: string;
  readonly config: Json;
  /** E7: where secrets and callback URLs are to be joined, by the activity, right before use. */
  readonly secrets: readonly SecretString[];
  /** Offered to the other side; the same for all attempts of a visit. */
  readonly idempotencyKey: string;
  readonly stepSlug: string;
  readonly retry: ResolvedRetryPolicy;
  readonly timeoutMs: number;
  readonly heartbeatMs?: number;
  readonly local: boolean;
  /** Beginning it again is safe: begun as a local activity and not done in time, it goes on as a regular one, whatever `retry` says. */
  readonly repeatable?: true;
}

/** What the run's first event needs to know besides the program. */
export interface Genesis {
  readonly executionId: string;
  readonly organizationId: string;
  readonly input: Json;
  readonly presets: { readonly [slug: string]: Json };
  readonly trigger: { readonly type: string; readonly id?: string; readonly metadata?: JsonObject };
  readonly hash?: string;
  /** The person who started it. */
  readonly initiator?: string;
  readonly parentId?: string;
  readonly depth: number;
  readonly startedAt: number;
  readonly timeoutMs?: number;
  /** Limits that the run is under. */
  readonly gates?: readonly GateWanted[];
}

/** One line of the trace as it happens; the fold in src/history makes rows of them. */
export type TraceEvent =
  | {
      readonly t: 'begin';
      readonly path: string;
      readonly slug: string;
      readonly stepType: string;
      readonly at: number;
    }
  /** The config as evaluated, secrets as placeholders. */
  | { readonly t: 'input'; readonly path: string; readonly input: Json }
  /** A member of the config that was evaluated later than the others, each time anew. */
  | { readonly t: 'evaluated'; readonly path: string; readonly member: string; readonly value: Json }
  | { readonly t: 'wait'; readonly path: string }
  | {
      readonly t: 'end';
      readonly path: string;
      readonly status: 'completed' | 'failed' | 'cancelled' | 'skipped';
      readonly port?: string;
      readonly output?: Json;
      readonly error?: RunError;
      readonly at: number;
    };

export type RequestAnswer = Accepted | Refusal;
