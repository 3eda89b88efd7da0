/**
 * The events and commands of the core (DESIGN.md). Everything is JSON. Times are epoch milliseconds and come in with
 * events: the core reads no clock (E1).
 */

import type { AppliedLimit, SlotAnswer } from '../../contract/limits/limiter.ts';
import type { Decision, MadeDecision, RunError, RunStatus, Submission, WaitingFor } from '../../contract/run/run.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { ChildSpec, EffectResult, FailureShape } from '../../steps/kind.ts';
import type { ResolvedRetryPolicy } from '../../steps/program-types.ts';
import type { SecretString } from '../../template/types.ts';

/** When it came, in epoch milliseconds. */
export interface At {
  readonly at: number;
}

/** `id` is the id of the command that the event answers. An event for an id that is not open is ignored (E4). */
export type Event =
  | (At & { readonly type: 'started' })
  | (At & { readonly type: 'completed'; readonly id: string; readonly result: EffectResult })
  | (At & { readonly type: 'failed'; readonly id: string; readonly error: FailureShape })
  | (At & { readonly type: 'fired'; readonly id: string })
  /** The child of that command has started, under the id in the command. */
  | (At & { readonly type: 'childStarted'; readonly id: string })
  | (At & { readonly type: 'childDone'; readonly id: string; readonly output?: Json; readonly error?: FailureShape })
  /**
   * `event`: the message is a published event, and only for a visit that listens now. `only`: the paths of the visits
   * that may take it, where a history is folded again for a retry.
   */
  | (At & {
      readonly type: 'message';
      readonly name: string;
      readonly payload: Json;
      readonly id?: string;
      readonly event?: { readonly key?: string };
      readonly only?: readonly string[];
    })
  | (At & Addressed & Decision & { readonly type: 'decide' })
  | (At & Addressed & Submission & { readonly type: 'submit' })
  | (At & Addressed & { readonly type: 'cancelStep' | 'retryStep' | 'skipTimer' })
  | (At & { readonly type: 'pause' | 'resume'; readonly key?: string })
  /** Cancels the run. */
  | (At & { readonly type: 'cancel'; readonly reason?: string })
  /** Ends the run and rolls it back. */
  | (At & { readonly type: 'abort'; readonly reason?: string })
  /** Answers the command `slots`. */
  | (At & { readonly type: 'slots'; readonly answers: readonly SlotAnswer[] })
  /** The limiter for which the run waited has granted a slot. */
  | (At & { readonly type: 'granted'; readonly gate: string })
  /** Answers the command `yield`: the walk continues. */
  | (At & { readonly type: 'continue' });

/**
 * The target: a path, or a slug with one open visit. Without `step`, the only open visit that can take the event. With
 * a key, a repeat has no effect.
 */
export interface Addressed {
  readonly step?: string;
  readonly key?: string;
  readonly by?: string;
}

export type Command =
  | RunCommand
  | { readonly type: 'timer'; readonly id: string; readonly at: number }
  /** `executionId`: the workflow id of the child. */
  | ({ readonly type: 'child'; readonly id: string; readonly executionId: string } & Omit<
      ChildSpec,
      'suffix' | 'inner'
    >)
  /** Cancels the command with this id; its result is ignored (E9). */
  | { readonly type: 'cancel'; readonly id: string }
  /** Request slots from these limiters in order until one makes the run wait; then send `slots`. */
  | { readonly type: 'slots'; readonly gates: readonly AppliedLimit[] }
  /** The walk was long: yield to other work, then send `continue`. */
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
  /** E7: where the activity inserts secrets and callback URLs, right before use. */
  readonly secrets: readonly SecretString[];
  /** Sent to the other side; the same in all attempts of a visit. */
  readonly idempotencyKey: string;
  readonly stepSlug: string;
  readonly retry: ResolvedRetryPolicy;
  readonly timeoutMs: number;
  readonly heartbeatMs?: number;
  readonly local: boolean;
  /** It may run in a segment (segment.ts). */
  readonly fuse?: true;
  /**
   * Starting it again is safe: a local activity that takes too long continues as a regular one, independently
   * of `retry`.
   */
  readonly repeatable?: true;
}

/** The values that a run starts with, besides its program. */
export interface Genesis {
  readonly executionId: string;
  readonly organizationId: string;
  readonly input: Json;
  readonly presets: { readonly [slug: string]: Json };
  readonly trigger: { readonly type: string; readonly id?: string; readonly metadata?: JsonObject };
  readonly hash?: string;
  /** The person who started it. */
  readonly initiator?: string;
  /** As in RunInput. */
  readonly requesters?: readonly string[];
  readonly parentId?: string;
  readonly depth: number;
  readonly startedAt: number;
  readonly timeoutMs?: number;
  /** The limiters of the run. */
  readonly gates?: readonly AppliedLimit[];
  /** The types of the host's light actions. Absent: only the worker of an action knows whether it is light. */
  readonly light?: readonly string[];
}

/** The place of a visit. At the root of the run all members but `visit` are absent. */
export interface Place {
  /** The innermost scope: an iteration `each[3]`, a branch `par/left`, or a tick `poll~2`. */
  readonly frame?: string;
  /** The path of the visit of the container whose body the frame is. */
  readonly container?: string;
  /** Which frame of the container it is: one of these three. Indices and ticks are from 0. */
  readonly branch?: string;
  readonly index?: number;
  readonly tick?: number;
  /** Which visit of the step within its frame, from 1. Absent for inner rows and rollbacks. */
  readonly visit?: number;
}

/** One event of the trace. The fold in src/history turns them into rows. */
export type TraceEvent =
  | {
      readonly t: 'begin';
      readonly path: string;
      readonly slug: string;
      /** The name of the step, where that is not its slug. */
      readonly name?: string;
      readonly stepType: string;
      /** Absent for inner rows and rollbacks. */
      readonly place?: Place;
      /** The path of the visit whose inner row it is. */
      readonly within?: string;
      readonly at: number;
    }
  /** The config as evaluated, secrets as placeholders. */
  | { readonly t: 'input'; readonly path: string; readonly input: Json }
  /** A member of the config that is evaluated later than the others, possibly several times. */
  | { readonly t: 'evaluated'; readonly path: string; readonly member: string; readonly value: Json }
  /** An approval was decided; its visit may continue. */
  | { readonly t: 'decided'; readonly path: string; readonly decision: MadeDecision }
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
