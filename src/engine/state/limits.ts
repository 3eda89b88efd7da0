/** E10: everything that can grow has a limit and a typed error (LANGUAGE.md §12). Sizes are bytes of JSON. */

/** Open commands; the others wait in the backlog (TEMPORAL.md §4). */
export const MAX_OPEN_COMMANDS = 500;
/** The most open commands that are not timers, so the timers that are due first always have a slot. */
export const MAX_OPEN_EFFECTS = 490;
/** The most open children. They may stay open for months. */
export const MAX_OPEN_CHILDREN = 390;
/** Bytes of commands in one activation; the rest wait for the next. */
export const MAX_ACTIVATION_BYTES = 1_500_000;
/** One config, output, input or result, encoded. A margin below the server's 2 MB. */
export const MAX_PAYLOAD_BYTES = 1_900_000;
/** Data up to this size may use the spare space (`spareOf`). */
export const SMALL_BYTES = 1_000;
/** An activity starts only if a short result would fit. */
export const SHORT_RESULT_BYTES = 1_000;
/**
 * Space above the limit for data that no step is refused: errors, small outputs, events. Without a blob store, the
 * state that continue-as-new carries stays below MAX_PAYLOAD_BYTES.
 */
export const spareOf = (dataBytes: number): number => (dataBytes > MAX_PAYLOAD_BYTES ? 1_000_000 : 60_000);
/** The largest state that a continued run may start with, including results that wait for the walk. */
export const carriedLimitOf = (dataBytes = 0): number =>
  dataBytes > MAX_PAYLOAD_BYTES ? 2 * dataBytes + spareOf(dataBytes) : MAX_PAYLOAD_BYTES;
/** Unread messages. Beyond either limit the run drops further messages and counts them. */
export const MAX_INBOX_BYTES = 1_000_000;
export const MAX_INBOX_MESSAGES = 5_000;
/** The fraction of both limits at which the gateway refuses messages. The rest is for concurrent senders. */
export const INBOX_REFUSAL_FRACTION = 0.8;
/**
 * Units of work (template/limits.ts) that the events of one activation may use before the core yields. An activation
 * that computes for five seconds fails its task forever (TEMPORAL.md §1). A million units are about a quarter of a
 * second on an idle CPU, and one more evaluation may take four times that.
 */
export const MAX_ACTIVATION_UNITS = 1_000_000;
/** Units of a step besides its expressions: 20,000 steps without expressions fill an activation. */
export const STEP_UNITS = 50;
/** Bytes of a step's entry besides its data. */
export const ENTRY_OVERHEAD = 64;
/** Bytes of a frame, an open visit, a loop or a command besides its data and its path. */
export const RECORD_OVERHEAD = 500;
/** Bytes of an unread message besides its name and payload. */
export const MESSAGE_OVERHEAD = 40;
/** Message ids and request keys that are remembered, so that repeats have no effect. */
export const REMEMBERED_IDS = 1_000;
/** A path above this many characters has its tail hashed (LANGUAGE.md §3.12). */
export const MAX_PATH_LENGTH = 200;
/** Steps recorded for a rollback. */
export const MAX_ROLLBACKS = 10_000;
/** Waits named in the memo and the current details. */
export const MAX_SHOWN_WAITS = 20;
/** Names and keys of subscriptions in the search attribute of a run. */
export const MAX_LISTEN_TAGS = 20;
/** People listed with a wait. */
export const MAX_SHOWN_PEOPLE = 100;
