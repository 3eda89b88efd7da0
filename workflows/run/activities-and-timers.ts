/**
 * Carries out the core's commands with the SDK: activities, local activities, timers. Each has a cancellation scope of
 * its own, so that each can be cancelled alone. All are shielded from the workflow's cancellation, which the core
 * handles (E9).
 *
 * Order matters (E6): within one activation the results must reach the core in the order of history. The SDK resolves
 * its promises in that order. So every result is taken from the SDK's promise itself, one microtask later, and no path
 * has an additional `await`.
 */

import {
  type ActivityOptions,
  CancellationScope,
  type LocalActivityOptions,
  proxyActivities,
  proxyLocalActivities,
  type RetryPolicy,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { dataBytesOf, hasMark, type Mark } from '../../src/contract/build-id.ts';
import {
  type ActivityInput,
  LOCAL_LIMIT_MS,
  NOT_LIGHT_CODE,
  PAUSE_PREFIX,
  SEGMENT_ACTIVITY_ID,
  STORE_TIMEOUT_MS,
  YIELD_ACTIVITY_ID,
} from '../../src/contract/run/activity.ts';
import { MAX_STATE_BYTES } from '../../src/definition/document/limits.ts';
import type { Inbound, Outbound } from '../../src/engine/runner.ts';
import { completedSegment, failedSegment, type SegmentConfig, type SegmentOutcome } from '../../src/engine/segment.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/engine/state/limits.ts';
import type { RunCommand } from '../../src/engine/state/protocol.ts';
import { assert } from '../../src/json/assert.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import { asJson, isObject, type Json } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import type { EffectResult } from '../../src/steps/kind.ts';
import { failureFrom, lastHeartbeatOf, retryAfterOf } from './failures.ts';
import { TaskBytes } from './task-bytes.ts';

/** At least as long as the activity begins effects, and the last of them takes (activities/segment/segment.ts). */
const SEGMENT_LIMIT_MS = 15_000;
const LOCAL_SEGMENT: LocalActivityOptions = {
  summary: SEGMENT_ACTIVITY_ID,
  startToCloseTimeout: SEGMENT_LIMIT_MS,
  retry: { maximumAttempts: 1 },
  cancellationType: 'ABANDON',
};
/** Temporal takes 400 bytes of a summary. */
const MAX_SUMMARY_CHARACTERS = 100;
/** The last write to the store, and the answer to Temporal. */
const STORE_MARGIN_MS = 30_000;
/** A worker that is busy is late with heartbeats. */
const MIN_HEARTBEAT_MS = 5_000;
const NOOP = 'noop';
const NOOP_OPTIONS: ActivityOptions = {
  activityId: YIELD_ACTIVITY_ID,
  summary: YIELD_ACTIVITY_ID,
  startToCloseTimeout: 10_000,
};

/** Options of an activity that asks for what others know of the run. Without `maximumAttempts` it asks without end. */
export const lookupOptions = (id: string, maximumAttempts?: number): ActivityOptions => ({
  activityId: id,
  summary: id,
  startToCloseTimeout: 30_000,
  retry: {
    initialInterval: 500,
    backoffCoefficient: 2,
    maximumInterval: 30_000,
    ...omitUndefined({ maximumAttempts }),
  },
  cancellationType: 'TRY_CANCEL',
});

type Call = (input: ActivityInput) => Promise<EffectResult>;

/** Takes what has happened. Must not throw. */
export type Receiver = (inbound: Inbound) => void;

/** The run's open activities and timers, by command id. */
export class ActivitiesAndTimers {
  /** Activities whose result this execution awaits, yields included. They cannot be carried to the next execution. */
  inFlight = 0;
  readonly #execution: ActivityInput['execution'];
  readonly #receive: Receiver;
  readonly #nameOf: (slug: string) => string | undefined;
  readonly #shield = new CancellationScope({ cancellable: false });
  readonly #open = new Map<string, CancellationScope>();
  readonly #taskBytes = new TaskBytes(() => dataBytes() > MAX_STATE_BYTES);
  /** The open segment, where it is a regular activity. */
  #segment: CancellationScope | undefined;
  /** The host's actions that are not light, as far as workers have said so. */
  readonly #notLight = new Set<Json>();

  /** `nameOf`: the name of a step, by its slug. */
  constructor(execution: ActivityInput['execution'], receive: Receiver, nameOf: (slug: string) => string | undefined) {
    this.#execution = execution;
    this.#receive = receive;
    this.#nameOf = nameOf;
  }

  /** An event of history came that is no result of these: a signal, an update, an event of a child. */
  noteEvent(): void {
    this.#taskBytes.reset();
  }

  /** `earlierAttempts`: attempts as a local activity. */
  activity(command: RunCommand, earlierAttempts = 0): void {
    const { id } = command;
    const isLocal = command.local && this.#taskBytes.hasRoomForLocal && !this.#isKnownAsNotLight(command);
    const { heartbeatMs, timeoutMs } = command;
    const input = {
      ...this.#input(command),
      ...(earlierAttempts === 0 ? {} : { earlierAttempts }),
      ...(isLocal || heartbeatMs === undefined ? {} : { timeoutMs: Math.max(1, timeoutMs) }),
    };
    if (isLocal) this.#taskBytes.localStarted();
    else this.#taskBytes.commandScheduled(jsonBytes(command.config));
    const ended = (answer?: Json): void => {
      this.inFlight--;
      if (isLocal) this.#taskBytes.localEnded(sizeOf(answer));
      else this.#taskBytes.reset();
    };
    this.inFlight++;
    this.#begin(
      id,
      () => (isLocal ? localCall(command) : regularCall(command, this.#nameOf(command.stepSlug)))(input),
      (result) => {
        ended(asJson(result));
        this.#receive({ type: 'completed', at: Date.now(), id, result });
      },
      (error) => {
        const failure = failureFrom(error, command.local ? undefined : earlierAttempts + command.retry.maxAttempts);
        ended(asJson(failure));
        const failed = { at: Date.now(), id, error: failure };
        if (isLocal) this.#receive({ type: 'attemptFailed', ...failed, retryAfterMs: retryAfterOf(error) });
        else this.#receive({ type: 'failed', ...failed });
      },
      ended,
    );
  }

  /** So that a loop asks once, and not each time. Tasks of workers before segments asked each time. */
  #isKnownAsNotLight(command: RunCommand): boolean {
    return this.#notLight.size > 0 && isMarked('segments') && this.#notLight.has(actionOf(command));
  }

  /** The next attempt after the first, local one, as a regular activity. */
  nextAttempt({ command, failure, earlierAttempts, pauseMs }: Extract<Outbound, { type: 'attempt' }>): void {
    if (failure.code === NOT_LIGHT_CODE) this.#notLight.add(actionOf(command));
    this.#afterPause(pauseMs, command.id, () => this.activity(command, earlierAttempts));
  }

  /**
   * A segment: local where it has room in this task and is the first, otherwise regular. An activity that was cancelled
   * before it began has failed. `first`: the path at which it begins.
   */
  segment(config: SegmentConfig, first: string): void {
    const isLocal = this.#taskBytes.hasRoomForSegment;
    const input = this.#inputOf(SEGMENT_ACTIVITY_ID, asJson(config), first);
    if (isLocal) this.#taskBytes.segmentStarted();
    else this.#taskBytes.commandScheduled(jsonBytes(asJson(input)));
    this.inFlight++;
    const segmentEnded = (outcome: SegmentOutcome, result?: EffectResult): void => {
      this.inFlight--;
      this.#segment = undefined;
      if (isLocal) this.#taskBytes.localEnded(sizeOf(asJson(result)));
      else this.#taskBytes.reset();
      this.#receive({ type: 'segmentEnded', at: Date.now(), outcome });
    };
    const scope = new CancellationScope({ cancellable: true, parent: this.#shield });
    if (!isLocal) this.#segment = scope;
    const call = isLocal ? localActivity('segment', LOCAL_SEGMENT) : regularActivity('segment', segmentOptions(first));
    scope
      .run(async () => {
        call(input).then(
          (result) => segmentEnded(completedSegment(result), result),
          (error: unknown) => {
            // As in #begin: a worker without the activity does not have this version of the workflow.
            if (error instanceof ReferenceError) throw error;
            segmentEnded(failedSegment(lastHeartbeatOf(error)));
          },
        );
      })
      .catch(() => segmentEnded(failedSegment()));
  }

  /** The open segment, if it is a regular activity, ends as soon as it can, with what it has done. */
  endSegmentEarly(): void {
    this.#segment?.cancel();
  }

  /** `at`: epoch milliseconds. A time in the past fires immediately. */
  timer(id: string, at: number): void {
    this.#begin(
      id,
      () => sleep(Math.max(1, at - Date.now()), { summary: id }),
      () => {
        this.#taskBytes.reset();
        this.#receive({ type: 'fired', at: Date.now(), id });
      },
      () => undefined,
      () => undefined,
    );
  }

  /** A pause between two attempts. Like an attempt it cannot be carried to the next execution. */
  #afterPause(pauseMs: number, id: string, proceed: () => void): void {
    if (pauseMs <= 0) {
      proceed();
      return;
    }
    this.#beginUncarried(id, () => sleep(pauseMs, { summary: `${PAUSE_PREFIX}${id}` }), proceed);
  }

  /**
   * Ends the workflow task, so that other tasks run, and then lets the core continue. A timer would take a second
   * (TEMPORAL.md §1). A local activity would end within the same task: all commands of the task would go out in one
   * message, which the server refuses above 4 MB, and a failed task would begin again from its start.
   */
  yieldTask(): void {
    this.#beginUncarried(
      YIELD_ACTIVITY_ID,
      () => regularActivity(NOOP, NOOP_OPTIONS)(this.#inputOf(YIELD_ACTIVITY_ID, null)),
      () => this.#receive({ type: 'completed', at: Date.now(), id: YIELD_ACTIVITY_ID, result: null }),
    );
  }

  /** Cancels a command, and ignores its result if one arrives. */
  cancel(id: string): void {
    this.#open.get(id)?.cancel();
  }

  /** What cannot be carried to the next execution. The run continues also if it fails, but not if it is cancelled. */
  #beginUncarried(id: string, call: () => Promise<unknown>, proceed: () => void): void {
    this.inFlight++;
    const ended = (): void => {
      this.inFlight--;
      this.#taskBytes.reset();
      proceed();
    };
    const cancelled = (): void => {
      this.inFlight--;
    };
    this.#begin(id, call, ended, ended, cancelled);
  }

  #begin<T>(
    id: string,
    call: () => Promise<T>,
    done: (result: T) => void,
    failed: (error: unknown) => void,
    cancelled: () => void,
  ): void {
    const scope = new CancellationScope({ cancellable: true, parent: this.#shield });
    this.#open.set(id, scope);
    const settle = (then: () => void): void => {
      if (this.#open.get(id) === scope) this.#open.delete(id);
      if (scope.consideredCancelled) cancelled();
      else then();
    };
    const running = scope.run(async () => {
      call().then(
        (result) => settle(() => done(result)),
        (error: unknown) => {
          // A local activity that this worker does not have leaves no event in history, so a failure in the core could
          // not be replayed. The task fails instead, until a worker that has the activity takes it.
          if (error instanceof ReferenceError) throw error;
          settle(() => failed(error));
        },
      );
    });
    // The SDK has refused the options.
    running.catch((error: unknown) => settle(() => failed(error)));
  }

  #input(command: RunCommand): ActivityInput {
    const { id, config, secrets, idempotencyKey, stepSlug, repeatable } = command;
    const again = repeatable === undefined ? {} : { repeatable };
    return { config, secrets, idempotencyKey, path: id, stepSlug, ...again, execution: this.#execution };
  }

  /** The input of an activity that is no step's. */
  #inputOf(name: string, config: Json, stepSlug = name): ActivityInput {
    return { config, secrets: [], idempotencyKey: name, path: name, stepSlug, execution: this.#execution };
  }
}

/** The type of an action of the host. */
function actionOf({ config }: RunCommand): Json {
  return isObject(config) ? (config['type'] ?? null) : null;
}

/** Bytes that this task's worker lets a run hold. */
export function dataBytes(): number {
  return dataBytesOf(workflowInfo().currentDeploymentVersion?.buildId);
}

/** Whether the code of this task's worker has a change of commands. */
export function isMarked(mark: Mark): boolean {
  return hasMark(workflowInfo().currentDeploymentVersion?.buildId, mark);
}

/** Activities refuse results that are too deep to measure, but nothing may throw here. */
function sizeOf(answer: Json | undefined): number {
  try {
    return answer === undefined ? 0 : jsonBytes(answer);
  } catch {
    return MAX_PAYLOAD_BYTES;
  }
}

function regularCall(command: RunCommand, name: string | undefined): Call {
  const options: ActivityOptions = {
    activityId: command.id,
    summary: summaryOf(command, name),
    retry: retryOf(command),
    cancellationType: 'TRY_CANCEL',
    ...timeoutsOf(command),
  };
  return regularActivity(command.activity, options);
}

/**
 * With heartbeats, which show that its worker lives, an attempt ends its effect itself (`timeoutMs` of its input), and
 * may then wait for the store of large results.
 */
function timeoutsOf({ timeoutMs, heartbeatMs }: RunCommand): ActivityOptions {
  // Temporal refuses a timeout of 0, and the task with it.
  const limitMs = Math.max(1, timeoutMs);
  if (heartbeatMs === undefined) return { startToCloseTimeout: limitMs };
  return {
    startToCloseTimeout: limitMs + STORE_TIMEOUT_MS + STORE_MARGIN_MS,
    // A worker that dies is missed as soon as the effect would be.
    heartbeatTimeout: Math.min(heartbeatMs, Math.max(limitMs, MIN_HEARTBEAT_MS)),
  };
}

/**
 * The name of the step where it has one of its own, and the path. Timers and local activities have the path alone:
 * their events have no id, and the trace finds their steps by it.
 */
function summaryOf({ id, stepSlug }: RunCommand, name = stepSlug): string {
  const named = `${name} (${id})`;
  return name === stepSlug || named.length > MAX_SUMMARY_CHARACTERS ? id : named;
}

/** Another attempt continues from the heartbeats of the one before. After a cancellation the list still comes. */
function segmentOptions(first: string): ActivityOptions {
  return {
    activityId: SEGMENT_ACTIVITY_ID,
    summary: `from ${first}`.slice(0, MAX_SUMMARY_CHARACTERS),
    startToCloseTimeout: SEGMENT_LIMIT_MS,
    heartbeatTimeout: 5_000,
    retry: { maximumAttempts: 5, initialInterval: 100 },
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  };
}

/** One attempt only: the next one is a regular activity, for which nothing else waits. */
function localCall(command: RunCommand): Call {
  return localActivity(command.activity, {
    summary: command.id,
    startToCloseTimeout: Math.max(1, Math.min(command.timeoutMs, LOCAL_LIMIT_MS)),
    retry: { maximumAttempts: 1 },
    cancellationType: 'TRY_CANCEL',
  });
}

export function regularActivity(activity: string, options: ActivityOptions): Call {
  return callByName(proxyActivities<{ [name: string]: Call }>(options), activity);
}

function localActivity(activity: string, options: LocalActivityOptions): Call {
  return callByName(proxyLocalActivities<{ [name: string]: Call }>(options), activity);
}

export function callByName<T>(calls: { readonly [name: string]: T }, activity: string): T {
  const call = calls[activity];
  assert(call !== undefined, 'The proxy has every name.');
  return call;
}

function retryOf({ retry }: RunCommand): RetryPolicy {
  return {
    maximumAttempts: retry.maxAttempts,
    initialInterval: Math.max(1, retry.initialIntervalMs),
    backoffCoefficient: retry.backoffCoefficient,
    // The SDK refuses an interval of 0, and a maximum below the first interval.
    maximumInterval: Math.max(1, retry.maximumIntervalMs, retry.initialIntervalMs),
    nonRetryableErrorTypes: [...retry.nonRetryable],
  };
}
