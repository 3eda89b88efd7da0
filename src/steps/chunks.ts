/**
 * Long synchronous work in chunks. A worker runs all chunks without a pause; the gateway serves requests between them.
 * The chunks and their order are the same in both.
 */
export type Chunks<T = void> = Generator<undefined, T, undefined>;

/** Steps that are compiled or walked in one chunk: a few milliseconds of work. */
export const CHUNK_STEPS = 16;

/** Runs all chunks without a pause. */
export function runChunks<T>(chunks: Chunks<T>): T {
  for (;;) {
    const chunk = chunks.next();
    if (chunk.done === true) return chunk.value;
  }
}
