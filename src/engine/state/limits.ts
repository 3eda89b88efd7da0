/** E10: everything that can grow has a limit and a typed error (LANGUAGE.md §12). Sizes are bytes of JSON. */

/** Commands open at once; the rest wait in the core's backlog (TEMPORAL.md §4). */
export const MAX_OPEN_COMMANDS = 500;
/** Of these, the most that are not timers: those due first always find a place. */
export const MAX_OPEN_EFFECTS = 490;
/** And the most that are children, which may stay for months. */
export const MAX_OPEN_CHILDREN = 390;
/** Bytes of commands in one activation; the rest wait for the next. */
export const MAX_ACTIVATION_BYTES = 1_500_000;
/** One config, output, input or result, encoded. A margin below the server's 2 MB. */
export const MAX_PAYLOAD_BYTES = 1_900_000;
/** Data up to this size has the spare room to itself (`spareOf`). */
export const SMALL_BYTES = 1_000;
/** An effect begins only where a short answer would fit. */
export const ANSWER_BYTES = 1_000;
/**
 * Room above the limit for what no step can be refused: errors, small outputs, events. What continue-as-new carries stays
 * below MAX_PAYLOAD_BYTES where there is no blob store.
 */
export const spareOf = (dataBytes: number): number => (dataBytes > MAX_PAYLOAD_BYTES ? 1_000_000 : 60_000);
/** What a run may be started with that goes on, results that wait for the walk included. */
export const carriedLimitOf = (dataBytes = 0): number =>
  dataBytes > MAX_PAYLOAD_BYTES ? 2 * dataBytes + spareOf(dataBytes) : MAX_PAYLOAD_BYTES;
/** Messages that nobody has read yet; beyond either limit the run drops and counts them. */
export const MAX_INBOX_BYTES = 1_000_000;
export const MAX_INBOX_MESSAGES = 5_000;
/** The part of both limits from which the gateway refuses messages: the rest is for several senders at a time. */
export const INBOX_OPEN_PART = 0.8;
/**
 * Units of work (template/limits.ts) that all events of one activation may take together before the core gives way. An
 * activation that computes for five seconds fails its task for ever (TEMPORAL.md §1); a million units are about a
 * quarter of a second on an idle core, and one evaluation more may take four times that.
 */
export const MAX_ACTIVATION_UNITS = 1_000_000;
/** What a step costs besides its expressions: 20,000 steps that evaluate nothing fill an activation. */
export const STEP_UNITS = 50;
/** What a step's entry takes besides its data. */
export const ENTRY_OVERHEAD = 64;
/** What a frame, an open visit, a loop or a command takes in the state besides its data and its path. */
export const RECORD_OVERHEAD = 500;
/** What a message that waits takes in the state besides its name and payload. */
export const MESSAGE_OVERHEAD = 40;
/** Ids of messages, and keys of requests, that are remembered to make repeats harmless. */
export const REMEMBERED_IDS = 1_000;
/** A path above this many characters has its tail hashed (LANGUAGE.md §3.12). */
export const MAX_PATH_LENGTH = 200;
/** Undo entries kept for a rollback. */
export const MAX_ROLLBACKS = 10_000;
/** Waits named in the memo and the current details. */
export const MAX_SHOWN_WAITS = 20;
/** Names and keys listened to, among what a run is found by. */
export const MAX_LISTEN_TAGS = 20;
/** People named beside a wait. */
export const MAX_SHOWN_PEOPLE = 100;
