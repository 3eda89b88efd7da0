/**
 * Bytes of the workflow task at hand. The server takes 4 MB with a task's completion and terminates the run beyond that
 * (GrpcMessageTooLarge), and results of local activities leave with the completion, as markers, like commands do. So both
 * are counted, and where there is no room for another local activity the step goes as a regular one, which ends the task.
 *
 * A task begins with something from history. The SDK does not tell where a task ends that brought nothing and only went on
 * for a local activity, and replays such tasks as one: then counting goes on, which is the same live and on replay.
 */
import { BLOB_BYTES } from '../../src/definition/document/limits.ts';
import { MAX_ACTIVATION_BYTES, MAX_PAYLOAD_BYTES } from '../../src/engine/state/limits.ts';

/** Below the server's 4 MiB. */
const MAX_TASK_BYTES = 4_000_000;
/** Markers and commands so far, above which no local activity begins. */
const MAX_LOCAL_BYTES = 1_000_000;
/** What a marker or a command takes besides its payload. */
const OVERHEAD = 1_000;

export class TaskBytes {
  readonly #hasBlobs: () => boolean;
  #bytes = 0;
  #openLocal = 0;

  /** `hasBlobs`: of larger payloads only references leave with a task. */
  constructor(hasBlobs: () => boolean) {
    this.#hasBlobs = hasBlobs;
  }

  /** Something came that history has, and so a new task has begun. */
  renew(): void {
    this.#bytes = 0;
  }

  /** Whether a local activity has room, whatever it answers and whatever is asked for after it. */
  get takesLocal(): boolean {
    const [result, input] = this.#hasBlobs()
      ? [BLOB_BYTES, MAX_ACTIVATION_BYTES]
      : [MAX_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES];
    const results = (this.#openLocal + 1) * (result + OVERHEAD);
    return this.#bytes <= MAX_LOCAL_BYTES && this.#bytes + results + input <= MAX_TASK_BYTES;
  }

  localBegins(): void {
    this.#openLocal++;
  }

  /** `bytes`: of its result, or of its failure; undefined where its answer is dropped. */
  localEnds(bytes = 0): void {
    this.#openLocal--;
    this.#add(bytes);
  }

  /** A regular activity or a child is asked for, with an input of so many bytes. */
  asks(bytes: number): void {
    this.#add(bytes);
  }

  #add(bytes: number): void {
    this.#bytes += OVERHEAD + (this.#hasBlobs() && bytes >= BLOB_BYTES ? 0 : bytes);
  }
}
