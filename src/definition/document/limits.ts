/** Limits of documents and runs (LANGUAGE.md §12). */

/** With a blob store, payloads of a run from this size on are stored outside of history. */
export const MIN_BLOB_BYTES = 256 * 1024;
/** Definition and state of a run together, as JSON, without a blob store. */
export const MAX_STATE_BYTES = 1_800_000;
/** Definition and state with a blob store: history then has references only. */
export const MAX_BLOB_STATE_BYTES = 16_000_000;
/** The limit for definition and state of a run. The worker puts it into its build id (build-id.ts). */
export const dataLimitOf = (hasBlobs: boolean): number => (hasBlobs ? MAX_BLOB_STATE_BYTES : MAX_STATE_BYTES);

/** The largest payload, with a margin below the 2 MB of Temporal. */
export const MAX_TEMPORAL_BYTES = 1_900_000;
/** The largest config of an effect or output of a step, if definition and state have the limit `dataBytes`. */
export const valueLimitOf = (dataBytes: number): number => Math.max(dataBytes, MAX_TEMPORAL_BYTES);

/** In bytes, as JSON. */
export const MAX_DEFINITION_BYTES = 1_048_576;
export const MAX_STEPS = 10_000;
/**
 * The concurrency of a forEach. At most 500 commands are open, and the state of the others fits into continue-as-new.
 */
export const MAX_FOR_EACH_CONCURRENCY = 2_000;
/** A shorter secret could be ordinary text, and could not be scrubbed from results. */
export const MIN_SECRET_CHARACTERS = 4;
/** The secrets of one step are all searched for in its whole result. */
export const MAX_SECRETS_PER_STEP = 50;
export const MAX_SECRET_BYTES_PER_STEP = 256 * 1024;
/** Longer texts, in characters, are not parsed. */
export const MAX_TEXT_CHARACTERS = 2_500_000;
/** In characters. Parsing YAML takes about two seconds per megabyte. */
export const MAX_YAML_CHARACTERS = 1_200_000;
/** The most values that the aliases and merge keys of a YAML document can stand for. */
export const MAX_ALIASED_VALUES = 50_000;
