/** Limits of documents (language.md §12). */

/** Encoded as JSON, in bytes. */
export const MAX_DEFINITION_BYTES = 1_048_576;
export const MAX_STEPS = 10_000;
/** Of a forEach. The core has at most 500 commands open, and the rest waits there: so many fit into what continue-as-new carries. */
export const MOST_ITERATIONS_AT_ONCE = 2_000;
/** Of a secret: a shorter one cannot be told from other text, and so not be taken out of results. */
export const SHORTEST_SECRET_CHARACTERS = 4;
/** Objects and arrays within one another. */
export const MAX_NESTING = 200;
/** A text is not even parsed beyond this many characters. */
export const MAX_TEXT = 2_500_000;
/** Reading YAML takes about two seconds a megabyte. */
export const MAX_YAML = 1_200_000;
/** Values that the aliases of a YAML document may stand for, all together. */
export const MAX_ALIASES = 100;
