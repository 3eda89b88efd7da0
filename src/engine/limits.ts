/** E10: everything that can grow has a limit and a typed error (language.md §12). Sizes are bytes of JSON. */

/** Commands open at once; the rest wait in the core's backlog (temporal.md, spike 3). */
export const MAX_OPEN_COMMANDS = 500;
/** Bytes of commands in one activation; the rest wait for the next. */
export const MAX_ACTIVATION_BYTES = 1_500_000;
/** One config, output, input or result, encoded. A margin below the server's 2 MB. */
export const MAX_PAYLOAD_BYTES = 1_900_000;
/** Definition and state together. */
export const MAX_STATE_BYTES = 1_800_000;
/** Early messages that nobody has read yet. */
export const MAX_INBOX_BYTES = 1_000_000;
/** Steps walked before the core gives way (temporal.md, spike 4). */
export const STEPS_PER_YIELD = 4_000;
/** Ids of messages, and keys of requests, that are remembered to make repeats harmless. */
export const REMEMBERED_IDS = 1_000;
/** A path above this many characters has its tail hashed (language.md §3.12). */
export const MAX_PATH_LENGTH = 200;
/** Undo entries kept for a rollback. */
export const MAX_ROLLBACKS = 10_000;
/** Waits named in the memo and the current details. */
export const MAX_SHOWN_WAITS = 20;
