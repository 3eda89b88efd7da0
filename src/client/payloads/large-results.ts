/**
 * Large results of activities, which are stored before the activity ends, and inputs that the store did not give when
 * it began. The SDK stores a result after the end: where the store is away then, the attempt has failed although its
 * effect is done.
 *
 * What is returned to the SDK is a payload, which it passes on: the reference, or the result with the mark that keeps
 * it in history.
 */

import { type DataConverter, defaultPayloadConverter, type Payload, RawValue } from '@temporalio/common';
import {
  decodeFromPayloadsAtIndex,
  ExternalStorageRunner,
  encodeToPayload,
  loadDataConverter,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { AttemptOwner, LargeResult } from '../../contract/activity.ts';
import { BLOB_BYTES, MAX_TEMPORAL_BYTES } from '../../definition/document/limits.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { staysInHistory } from './codec.ts';
import { referenceIn } from './late-input.ts';

/**
 * What this process leaves in the history of one execution while the store is away. Many results of a run can arrive
 * together, and the server terminates a run at 50 MB.
 */
const MOST_IN_HISTORY_BYTES = 5_000_000;
const MOST_RUNS = 1_000;
/** After this time without a failure the store is asked again. */
const AWAY_MS = 30_000;

/** Results and heartbeats of activities for external storage with these settings. */
export class LargeResults {
  readonly #converter;
  readonly #runner: ExternalStorageRunner | undefined;
  readonly #inHistory = new BoundedMap<string, number>(MOST_RUNS);
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(converter: DataConverter) {
    this.#converter = loadDataConverter(converter);
    const { externalStorage } = this.#converter;
    this.#runner = externalStorage && new ExternalStorageRunner(externalStorage);
  }

  /** Whether the store has lately failed, and taken nothing since. */
  get isAway(): boolean {
    return performance.now() - this.#failedAt < AWAY_MS;
  }

  /** Undefined for a result that is not stored. */
  async of(output: unknown, owner: AttemptOwner): Promise<LargeResult | undefined> {
    const runner = this.#runner;
    const payload = await encodeToPayload(this.#converter, output);
    const bytes = payload.data?.length ?? 0;
    if (runner === undefined || bytes < BLOB_BYTES) return undefined;
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
      inHistory: () => (this.#hasRoom(runId, bytes) ? raw(staysInHistory(payload)) : undefined),
    };
  }

  /**
   * A value that is never stored, such as details of a heartbeat: the SDK ends the worker where they cannot be stored.
   */
  reported(value: unknown): unknown {
    return raw(staysInHistory(defaultPayloadConverter.toPayload(value)));
  }

  /** Reads the input of the activity. Undefined where the argument is the input. @throws ApplicationFailure */
  late(argument: unknown): ((signal: AbortSignal) => Promise<unknown>) | undefined {
    const reference = referenceIn(argument);
    const runner = this.#runner;
    if (reference === undefined || runner === undefined) return undefined;
    return async (abortSignal) =>
      decodeFromPayloadsAtIndex(this.#converter, 0, await runner.retrieve([reference], { abortSignal }));
  }

  #hasRoom(runId: string, bytes: number): boolean {
    const all = (this.#inHistory.get(runId) ?? 0) + bytes;
    if (bytes > MAX_TEMPORAL_BYTES || all > MOST_IN_HISTORY_BYTES) return false;
    this.#inHistory.set(runId, all);
    return true;
  }
}

const raw = (payload: Payload): unknown => RawValue.fromPayload(payload);
