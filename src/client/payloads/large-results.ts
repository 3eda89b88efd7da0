/**
 * Large results of activities, which are stored before the activity ends, and inputs that the store could not deliver
 * when it began. The SDK stores a result after the end: where the store is unavailable then, the attempt fails although
 * its effect is done.
 *
 * What is returned to the SDK is a payload, which it passes on: the reference, or the result with the mark that keeps
 * it in history.
 */

import { type DataConverter, defaultPayloadConverter, type Payload, RawValue } from '@temporalio/common';
import type { AttemptOwner, LargeResult } from '../../contract/run/activity.ts';
import { MAX_TEMPORAL_BYTES, MIN_BLOB_BYTES } from '../../definition/document/limits.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { referenceIn } from '../../temporal-internals/deferred-input.ts';
import {
  decodeFromPayloadsAtIndex,
  ExternalStorageRunner,
  encodeToPayload,
  loadDataConverter,
} from '../../temporal-internals/sdk.ts';
import { markInHistory } from './codec.ts';

/**
 * What this process leaves in the history of one execution while the store is unavailable. Many results of a run can
 * arrive together, and the server terminates a run at 50 MB.
 */
const MAX_IN_HISTORY_BYTES = 5_000_000;
const MAX_RUNS = 1_000;
/** How long after a failure the store counts as unavailable. */
const UNAVAILABLE_MS = 30_000;

/** Results and heartbeats of activities for external storage with these settings. */
export class LargeResults {
  readonly #converter;
  readonly #runner: ExternalStorageRunner | undefined;
  readonly #historyBytes = new BoundedMap<string, number>(MAX_RUNS);
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(converter: DataConverter) {
    this.#converter = loadDataConverter(converter);
    const { externalStorage } = this.#converter;
    this.#runner = externalStorage && new ExternalStorageRunner(externalStorage);
  }

  /** Whether the store has failed recently, and stored nothing since. */
  get isAway(): boolean {
    return performance.now() - this.#failedAt < UNAVAILABLE_MS;
  }

  /** Undefined for a result that is not stored. */
  async of(output: unknown, owner: AttemptOwner): Promise<LargeResult | undefined> {
    const runner = this.#runner;
    const payload = await encodeToPayload(this.#converter, output);
    const bytes = payload.data?.length ?? 0;
    if (runner === undefined || bytes < MIN_BLOB_BYTES) return undefined;
    const { namespace, workflowId: id, runId, type } = owner;
    const target = { kind: 'workflow', namespace, id, runId, type } as const;
    return {
      store: async (signal) => {
        try {
          const [stored = payload] = await runner.store([payload], { target, abortSignal: signal });
          this.#failedAt = Number.NEGATIVE_INFINITY;
          return raw(stored);
        } catch (error) {
          this.#failedAt = performance.now();
          throw error;
        }
      },
      inHistory: () => (this.#reserveHistory(runId, bytes) ? raw(markInHistory(payload)) : undefined),
    };
  }

  /**
   * A value that is never stored, such as details of a heartbeat: the SDK ends the worker where they cannot be stored.
   */
  reported(value: unknown): unknown {
    return raw(markInHistory(defaultPayloadConverter.toPayload(value)));
  }

  /** Reads the input of the activity. Undefined where the argument is the input. @throws ApplicationFailure */
  late(argument: unknown): ((signal: AbortSignal) => Promise<unknown>) | undefined {
    const reference = referenceIn(argument);
    const runner = this.#runner;
    if (reference === undefined || runner === undefined) return undefined;
    return async (abortSignal) =>
      decodeFromPayloadsAtIndex(this.#converter, 0, await runner.retrieve([reference], { abortSignal }));
  }

  #reserveHistory(runId: string, bytes: number): boolean {
    const total = (this.#historyBytes.get(runId) ?? 0) + bytes;
    if (bytes > MAX_TEMPORAL_BYTES || total > MAX_IN_HISTORY_BYTES) return false;
    this.#historyBytes.set(runId, total);
    return true;
  }
}

const raw = (payload: Payload): unknown => RawValue.fromPayload(payload);
