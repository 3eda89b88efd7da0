/**
 * Stores a large result before its attempt ends. The effect is done, so an attempt whose store is away waits for it
 * instead of failing: the next attempt would repeat the effect.
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
  STORE_MS,
  TIMEOUT,
  timeoutText,
} from '../../src/contract/activity.ts';
import { BLOB_BYTES } from '../../src/definition/document/limits.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { ActivityError, transientError } from './failure.ts';

/** A result with fewer bytes of JSON is no large payload in any encoding. */
const MAYBE_LARGE_BYTES = BLOB_BYTES - 4_096;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
/** How long a segment waits for the store. */
const LIST_MS = 3_000;
const DAMAGED = 'blob_damaged';

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

export interface Kept {
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
 * @throws ActivityError with the code of the store, or `timeout` for a local one that goes on as a regular one
 */
export async function kept(results: ResultStore, given: Kept): Promise<ActivityOutput> {
  const { output, bytes, owner, signal, isLocal } = given;
  const large = bytes < MAYBE_LARGE_BYTES ? undefined : await results.of(output, owner);
  if (large === undefined) return output;
  // What stands for the output is known to the SDK only.
  return (isLocal ? await storedLocally(large, given) : await stored(large, given, signal)) as ActivityOutput;
}

/**
 * The list of a segment. History always has room for that of a regular one: a run has one of them at a time.
 * @throws ApplicationFailure for a local one
 */
export async function keptList(results: ResultStore, output: ActivityOutput, info: Info): Promise<ActivityOutput> {
  const owner = ownerOf(info);
  const large = owner && (await results.of(output, owner));
  if (large === undefined) return output;
  const storing = large.store(AbortSignal.timeout(LIST_MS));
  return (await (info.isLocal ? storing : storing.catch(() => results.reported(output)))) as ActivityOutput;
}

async function storedLocally(large: LargeResult, { signal, input, details }: Kept): Promise<unknown> {
  try {
    return await large.store(signal);
  } catch (error) {
    // The code by which an effect that may be repeated goes on as a regular activity (engine/walk/next-attempt.ts).
    if (input.repeatable === true && isAway(error)) throw transientError(TIMEOUT, timeoutText(ATTEMPT_LIMIT), details);
    throw failureOf(error, details);
  }
}

function stored(large: LargeResult, { waits, details }: Kept, signal: AbortSignal): Promise<unknown> {
  return persistently(signal, waits, async () => {
    try {
      return await large.store(signal);
    } catch (error) {
      const instead = isAway(error) ? large.inHistory() : undefined;
      if (instead === undefined) throw failureOf(error, details);
      return instead;
    }
  });
}

/**
 * The input of the activity, once the store gives it. `waits`: called when it has not.
 * @throws ApplicationFailure of the store
 */
export async function inputOf(
  results: ResultStore | undefined,
  argument: ActivityInput,
  { signal, isLocal, waits }: Pick<Kept, 'signal' | 'isLocal' | 'waits'>,
): Promise<ActivityInput> {
  const read = results?.late(argument);
  if (read === undefined) return argument;
  const input = isLocal ? read(signal) : persistently(signal, waits, () => read(signal));
  return (await input) as ActivityInput;
}

/** Tries until it succeeds, at most as long as an attempt may wait for the store. */
async function persistently<T>(signal: AbortSignal, waits: () => void, act: () => Promise<T>): Promise<T> {
  const began = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted || !mayPass(error) || performance.now() - began + pauseMs >= STORE_MS) throw error;
    }
    waits();
    await sleep(pauseMs, undefined, { signal });
  }
}

const mayPass = (error: unknown): boolean => (error instanceof ActivityError ? error.retryable : isAway(error));

/** Whether the store may take it later. */
const isAway = (error: unknown): boolean =>
  error instanceof ApplicationFailure && typeof error.type === 'string' && error.type !== DAMAGED;

function failureOf(error: unknown, details: JsonObject): unknown {
  if (!(error instanceof ApplicationFailure)) return error;
  return new ActivityError(error.type ?? 'effect_failed', error.message, { retryable: isAway(error), details });
}
