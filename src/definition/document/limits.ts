/** Limits of documents and runs (LANGUAGE.md §12). */

/** From this size on a payload of a run leaves history, where there is a blob store. */
export const BLOB_BYTES = 256 * 1024;
/** Definition and state of a run together, encoded as JSON, where there is no blob store. */
export const MAX_STATE_BYTES = 1_800_000;
/** The same with a blob store: history then holds references only. */
export const MAX_BLOB_STATE_BYTES = 16_000_000;
/** What a run's definition and state may take together. The worker stamps it (build-id.ts). */
export const dataLimitOf = (hasBlobs: boolean): number => (hasBlobs ? MAX_BLOB_STATE_BYTES : MAX_STATE_BYTES);

/** What Temporal takes as one payload: a margin below its 2 MB. */
const MAX_TEMPORAL_BYTES = 1_900_000;
/** One config of an effect, or output of a step, where definition and state together may take `dataBytes`. */
export const valueLimitOf = (dataBytes = 0): number => Math.max(dataBytes, MAX_TEMPORAL_BYTES);

/** Encoded as JSON, in bytes. */
export const MAX_DEFINITION_BYTES = 1_048_576;
export const MAX_STEPS = 10_000;
/** Of a forEach. The core has at most 500 commands open, and the rest waits there: so many fit into what continue-as-new carries. */
export const MOST_ITERATIONS_AT_ONCE = 2_000;
/** Of a secret: a shorter one cannot be told from other text, and so not be taken out of results. */
export const SHORTEST_SECRET_CHARACTERS = 4;
/** Of the secrets that one step uses: all of them are looked for in all that it gives back. */
export const MOST_SECRETS_PER_STEP = 50;
export const MOST_SECRET_BYTES_PER_STEP = 256 * 1024;
/** A text is not even parsed beyond this many characters. */
export const MAX_TEXT = 2_500_000;
/** Reading YAML takes about two seconds a megabyte. */
export const MAX_YAML = 1_200_000;
/** Values that the aliases of a YAML document may stand for, all together. */
export const MAX_ALIASES = 100;
