/**
 * The limits of expressions and templates (E10). Reaching one is the error `expression_limit`. The limits are far above
 * what a person writes, and far below what stops a workflow task.
 */

/** The length of one expression, in characters. */
export const MAX_SOURCE_LENGTH = 50_000;
/** Nodes of one parsed expression. */
export const MAX_EXPRESSION_NODES = 10_000;
/** The height of a parsed expression and the depth of its parentheses, to which parsing and evaluation recurse. */
export const MAX_EXPRESSION_DEPTH = 250;
/** Units of work of one `evaluate` or `render`. A unit is one node, one element, or 32 characters copied. */
export const MAX_WORK = 4_000_000;
/** Characters of one string that an expression builds. */
export const MAX_STRING_LENGTH = 2_000_000;
/** Elements of one array that an expression builds. */
export const MAX_ARRAY_LENGTH = 1_000_000;
/** Characters and nodes in the result of one `evaluate` or `render`. */
export const MAX_RESULT_SIZE = 8_000_000;
/** Characters of a text that is searched for: the search for a long text in a long text is quadratic at worst. */
export const MAX_NEEDLE_LENGTH = 10_000;
/** Numbers below this are seconds since 1970, others are milliseconds. */
export const EPOCH_SECONDS_LIMIT = 10_000_000_000;
