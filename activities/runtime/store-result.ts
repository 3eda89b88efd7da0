/**
 * Stores a large result before its attempt ends. The effect is done, so an attempt whose store is unavailable waits for
 * it instead of failing: the next attempt would repeat the effect.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  type ActivityInput,
  type ActivityOutput,
  ATTEMPT_LIMIT,
  type AttemptOwner,
  type LargeResult,
  STORE_TIMEOUT_MS,
  TIMEOUT_CODE,
  timeoutText,
} from '../../src/contract/run/activity.ts';
import { MIN_BLOB_BYTES } from '../../src/definition/document/limits.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { ActivityError, transientError } from './failure.ts';

/** A result with fewer bytes of JSON is no large payload in any encoding. */
const MAYBE_LARGE_BYTES = MIN_BLOB_BYTES - 4_096;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 5_000;
/** How long a segment waits for the store. */
const SEGMENT_STORE_MS = 3_000;
const DAMAGED_CODE = 'blob_damaged';

export interface ResultStore {
  /** Whether the store has lately failed. */
  readonly isAway: boolean;
  /** Undefined for a result that is not large once it is encoded. */
  of(output: unknown, owner: AttemptOwner): Promise<LargeResult | undefined>;
  /** Reads the input of an activity for which the store did not give it. Undefined where the argument is the input. */
  late(argument: unknown): ((signal: AbortSignal) => Promise<unknown>) | undefined;
  /** A value in a form that is never stored: details of heartbeats. */
  reported(value: unknown): unknown;
}

interface ResultToStore {
  readonly output: ActivityOutput;
  /** Of its JSON. */
  readonly bytes: number;
  readonly owner: AttemptOwner;
  readonly signal: AbortSignal;
  readonly isLocal: boolean;
  readonly input: Pick<ActivityInput, 'repeatable'>;
  /** Details of the failure if it cannot be stored. */
  readonly details: JsonObject;
  /** Called when the store has not taken it. */
  waits(): void;
}

/** Undefined outside of workflows. */
export function ownerOf({ namespace, workflowExecution, workflowType = '' }: Info): AttemptOwner | undefined {
  return workflowExecution && { namespace, type: workflowType, ...workflowExecution };
}

/**
 * What the activity returns for its output. A local activity does not wait, since the rest of its run waits for it, and
 * leaves nothing large in history, since its task sends the results of all of them together (TEMPORAL.md §4).
 * @throws ActivityError with the code of the store, or `timeout` for a local one that is repeated as a regular one
 */
export async function storeResult(results: ResultStore, given: ResultToStore): Promise<ActivityOutput> {
  const { output, bytes, owner, signal, isLocal } = given;
  const large = bytes < MAYBE_LARGE_BYTES ? undefined : await results.of(output, owner);
  if (large === undefined) return output;
  // What stands for the output is known to the SDK only.
  return (
    isLocal ? await storeWithoutWaiting(large, given) : await storeOrWait(large, given, signal)
  ) as ActivityOutput;
}

/**
 * The list of a segment. History always has room for that of a regular one: a run has one of them at a time.
 * @throws ApplicationFailure for a local one
 */
export async function storeSegmentList(
  results: ResultStore,
  output: ActivityOutput,
  info: Info,
): Promise<ActivityOutput> {
  const owner = ownerOf(info);
  const large = owner && (await results.of(output, owner));
  if (large === undefined) return output;
  const storing = large.store(AbortSignal.timeout(SEGMENT_STORE_MS));
  return (await (info.isLocal ? storing : storing.catch(() => results.reported(output)))) as ActivityOutput;
}

async function storeWithoutWaiting(large: LargeResult, { signal, input, details }: ResultToStore): Promise<unknown> {
  try {
    return await large.store(signal);
  } catch (error) {
    // By this code an effect that may be repeated is scheduled again as a regular activity
    // (engine/walk/next-attempt.ts).
    if (input.repeatable === true && isStoreUnavailable(error))
      throw transientError(TIMEOUT_CODE, timeoutText(ATTEMPT_LIMIT), details);
    throw failureOf(error, details);
  }
}

function storeOrWait(large: LargeResult, { waits, details }: ResultToStore, signal: AbortSignal): Promise<unknown> {
  return retryWhileUnavailable(signal, waits, async () => {
    try {
      return await large.store(signal);
    } catch (error) {
      const inline = isStoreUnavailable(error) ? large.inHistory() : undefined;
      if (inline === undefined) throw failureOf(error, details);
      return inline;
    }
  });
}

/**
 * The input of the activity, once the store gives it. `waits`: called when it has not.
 * @throws ApplicationFailure of the store
 */
export async function readStoredInput(
  results: ResultStore | undefined,
  argument: ActivityInput,
  { signal, isLocal, waits }: Pick<ResultToStore, 'signal' | 'isLocal' | 'waits'>,
): Promise<ActivityInput> {
  const read = results?.late(argument);
  if (read === undefined) return argument;
  const input = isLocal ? read(signal) : retryWhileUnavailable(signal, waits, () => read(signal));
  return (await input) as ActivityInput;
}

/** Tries until it succeeds, at most as long as an attempt may wait for the store. */
async function retryWhileUnavailable<T>(signal: AbortSignal, waits: () => void, act: () => Promise<T>): Promise<T> {
  const began = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted || !isTransient(error) || performance.now() - began + pauseMs >= STORE_TIMEOUT_MS) throw error;
    }
    waits();
    await sleep(pauseMs, undefined, { signal });
  }
}

const isTransient = (error: unknown): boolean =>
  error instanceof ActivityError ? error.retryable : isStoreUnavailable(error);

/** Whether the store may take it later. */
const isStoreUnavailable = (error: unknown): boolean =>
  error instanceof ApplicationFailure && typeof error.type === 'string' && error.type !== DAMAGED_CODE;

function failureOf(error: unknown, details: JsonObject): unknown {
  if (!(error instanceof ApplicationFailure)) return error;
  return new ActivityError(error.type ?? 'effect_failed', error.message, {
    retryable: isStoreUnavailable(error),
    details,
  });
}
