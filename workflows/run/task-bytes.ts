/**
 * Bytes of the current workflow task. The server takes 4 MB with the completion of a task, and terminates a run that
 * sends more (GrpcMessageTooLarge). The completion contains commands and the results of local activities, as markers.
 * So both are counted. Where another local activity has no room, the step runs as a regular activity, which ends the
 * task.
 *
 * A task begins with an event of history. A task that continues only for a local activity begins without one. The SDK
 * does not say where that task ends, and replays it together with the one before. So counting continues there, live and
 * on replay.
 */
import { MIN_BLOB_BYTES } from '../../src/definition/document/limits.ts';
import { MAX_ACTIVATION_BYTES, MAX_PAYLOAD_BYTES } from '../../src/engine/state/limits.ts';

/** Below the server's 4 MiB. */
const MAX_TASK_BYTES = 4_000_000;
/** With more bytes of markers and commands than this, no local activity begins. */
const MAX_LOCAL_BYTES = 1_000_000;
/** Of a marker or a command, besides its payload. */
const PAYLOAD_OVERHEAD_BYTES = 1_000;

export class TaskBytes {
  readonly #hasBlobs: () => boolean;
  #bytes = 0;
  #openLocal = 0;
  #hadSegment = false;

  /** `hasBlobs`: larger payloads are stored apart, and a task sends only their references. */
  constructor(hasBlobs: () => boolean) {
    this.#hasBlobs = hasBlobs;
  }

  /** An event of history came: a new task has begun. */
  reset(): void {
    this.#bytes = 0;
    this.#hadSegment = false;
  }

  /**
   * Whether a segment has room as a local activity: one in each task, since everything else of the run waits for it,
   * and for all that follow it in the task.
   */
  get hasRoomForSegment(): boolean {
    return !this.#hadSegment && this.hasRoomForLocal;
  }

  segmentStarted(): void {
    this.#hadSegment = true;
    this.localStarted();
  }

  /** Whether a local activity has room, with the largest result and the largest command after it. */
  get hasRoomForLocal(): boolean {
    const [result, input] = this.#hasBlobs()
      ? [MIN_BLOB_BYTES, MAX_ACTIVATION_BYTES]
      : [MAX_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES];
    const results = (this.#openLocal + 1) * (result + PAYLOAD_OVERHEAD_BYTES);
    return this.#bytes <= MAX_LOCAL_BYTES && this.#bytes + results + input <= MAX_TASK_BYTES;
  }

  localStarted(): void {
    this.#openLocal++;
  }

  /** `bytes`: of its result or failure. Undefined where the result is ignored. */
  localEnded(bytes = 0): void {
    this.#openLocal--;
    this.#add(bytes);
  }

  /** A regular activity or a child is scheduled. `bytes`: of its input. */
  commandScheduled(bytes: number): void {
    this.#add(bytes);
  }

  #add(bytes: number): void {
    this.#bytes += PAYLOAD_OVERHEAD_BYTES + (this.#hasBlobs() && bytes >= MIN_BLOB_BYTES ? 0 : bytes);
  }
}
