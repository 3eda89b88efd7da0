/**
 * Everything in this room that could grow without end has a bound here (E10); reaching one is the error `expression_limit`.
 * They are far above what a person writes and far below what stops a workflow task.
 */

/** Characters of one expression. */
export const MAX_SOURCE_LENGTH = 50_000;
/** Nodes of one parsed expression. */
export const MAX_EXPRESSION_NODES = 10_000;
/** Height of a parsed expression, and depth of its parentheses: parsing and evaluating recurse this far. */
export const MAX_EXPRESSION_DEPTH = 250;
/** Units of work of one `evaluate` or `render`: about one node evaluated, one element visited, or 32 characters copied. */
export const MAX_WORK = 4_000_000;
/** Characters of one string that an expression builds. */
export const MAX_STRING_LENGTH = 2_000_000;
/** Elements of one array that an expression builds. */
export const MAX_ARRAY_LENGTH = 1_000_000;
/** Characters and nodes of everything that one `evaluate` or `render` answers, together. */
export const MAX_RESULT_SIZE = 8_000_000;
/** Characters of a text that is looked for in another: searching a long text for a long text is quadratic at worst. */
export const MAX_NEEDLE_LENGTH = 10_000;
/** Numbers below this are read as seconds since 1970, above it as milliseconds. */
export const EPOCH_SECONDS_BELOW = 10_000_000_000;
