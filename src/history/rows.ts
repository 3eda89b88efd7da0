/**
 * The trace of a run as rows: one for every visit of a step, pure steps too, in order of start (ARCHITECTURE.md §5, "step").
 * The core says what began and ended; history says when an effect really ran, and how often it was tried.
 */

import type { RunError } from '../contract/run.ts';
import { type FailureCause, failureOfCause } from '../engine/state/causes.ts';
import type { TraceEvent } from '../engine/state/protocol.ts';
import { jsonBytes } from '../json/bytes.ts';
import { defined } from '../json/defined.ts';
import { isPlainObject, type Json } from '../json/json.ts';

export interface TraceRow {
  readonly path: string;
  readonly stepSlug: string;
  readonly stepType: string;
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'skipped';
  readonly port?: string;
  /** 0 for a step that was skipped. */
  readonly attempts: number;
  readonly input?: Json;
  /** The envelope `{type, data, meta?}`. */
  readonly output?: Json;
  readonly error?: RunError;
  /** Attempts that failed and were followed by another one, as far as history tells of them. */
  readonly failures?: readonly FailedAttempt[];
  /** Of an effect in flight that has failed before or is paused: what the server tells of it. */
  readonly retrying?: Retrying;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly completedAt?: number;
}

export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly error: RunError;
}

export interface Retrying {
  readonly lastError?: RunError;
  /** Epoch milliseconds; absent while an attempt runs, and while it is paused. */
  readonly nextAttemptAt?: number;
  readonly paused?: true;
}

/** What a run of the chain adds to the row of a visit that began in an earlier one; open while `completedAt` is absent. */
export type RowEnd = Pick<TraceRow, 'path' | 'status'> &
  Partial<Omit<TraceRow, 'path' | 'status' | 'stepSlug' | 'stepType' | 'startedAt'>> & {
    /** Members of the input that were evaluated anew. */
    readonly evaluated?: { readonly [member: string]: Json };
  };

/** Which rows of a run are kept, by their number in it; the others are counted only. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
  /** When the rows kept have so many bytes, no further one is kept: the window ends there. No limit by default. */
  readonly bytes?: number;
}

const ROW_BYTES = 300;

/** About what a row takes as JSON. */
export function rowBytes(row: Pick<TraceRow, 'input' | 'output' | 'error' | 'failures'>): number {
  const { input, output, error, failures = [] } = row;
  try {
    let bytes = ROW_BYTES;
    if (input !== undefined) bytes += jsonBytes(input);
    if (output !== undefined) bytes += jsonBytes(output);
    if (error?.details !== undefined) bytes += jsonBytes(error.details);
    for (const failed of failures) bytes += ROW_BYTES + jsonBytes(failed.error.details);
    return bytes;
  } catch {
    // Too deep to be written: whoever shows the row leaves its values out.
    return ROW_BYTES;
  }
}

/** An activity or local activity of a visit, as history has it. Times in epoch milliseconds. */
export interface Effort {
  readonly path: string;
  readonly attempts: number;
  /** Absent where it is not known, or is only that of a later attempt. */
  readonly startedAt?: number;
  readonly completedAt: number;
}

/** As PendingAttempt of the fold. */
interface PendingEffort {
  readonly attempt: number;
  readonly lastFailure?: FailureCause;
  readonly nextAttemptAt?: number;
  readonly paused?: true;
}

type Open = { -readonly [K in keyof TraceRow]: TraceRow[K] };
type End = { -readonly [K in keyof RowEnd]: RowEnd[K] };

export class Rows {
  /** Its end comes nearer when the bytes are used up. */
  window: RowWindow;
  /** Bytes of the rows kept, as far as they have ended. */
  bytes = 0;
  /** Rows of the window, by their number less `window.from`. */
  readonly rows: TraceRow[] = [];
  /** Visits that began before this run and went on in it. */
  readonly ends = new Map<string, RowEnd>();
  /** How many visits began. */
  count = 0;
  readonly #open = new Map<string, Open>();
  /** Rows of the window that are open: not weighed yet. */
  readonly #kept = new Set<Open | End>();
  #effort: Effort | undefined;

  constructor(window: RowWindow) {
    this.window = window;
  }

  /** Until the next call: what ended the visit that the core is about to hear of. */
  during(effort: Effort | undefined): void {
    this.#effort = effort;
  }

  /** For the core's third argument. */
  readonly take = (event: TraceEvent): void => {
    switch (event.t) {
      case 'begin':
        this.#begin(event);
        return;
      case 'input':
        this.#touch(event.path).input = event.input;
        return;
      case 'evaluated':
        this.#evaluated(event);
        return;
      // Whether a visit waits is asked of the state, when all is folded.
      case 'wait':
        return;
      case 'end':
        this.#end(event);
    }
  };

  /** What the server tells of an activity that is still in flight, by the path of its visit. */
  attempt(path: string, { attempt, lastFailure, nextAttemptAt, paused }: PendingEffort): void {
    const row = this.#touch(path);
    row.attempts = Math.max(row.attempts ?? 0, attempt);
    const lastError = lastFailure === undefined ? undefined : failureOfCause(lastFailure);
    if (lastError !== undefined && attempt > 1) this.failed(path, attempt - 1, lastError);
    if (lastError === undefined && paused === undefined) return;
    row.retrying = defined({ lastError, nextAttemptAt, paused });
  }

  /** An attempt of the visit's effect failed, and another one followed. */
  failed(path: string, attempt: number, error: RunError): void {
    const row = this.#touch(path);
    row.failures = [...(row.failures ?? []).filter((known) => known.attempt !== attempt), { attempt, error }];
  }

  #begin(event: TraceEvent & { t: 'begin' }): void {
    const row: Open = {
      path: event.path,
      stepSlug: event.slug,
      stepType: event.stepType,
      status: 'running',
      attempts: 1,
      startedAt: event.at,
    };
    const number = this.count++;
    const { from, to, bytes } = this.window;
    if (number >= from && number < to) {
      if (bytes === undefined || this.bytes < bytes || this.rows.length === 0) {
        this.rows.push(row);
        this.#kept.add(row);
      } else this.window = { ...this.window, to: number };
    }
    this.#open.set(event.path, row);
  }

  #evaluated({ path, member, value }: TraceEvent & { t: 'evaluated' }): void {
    const row = this.#touch(path);
    if ('stepSlug' in row) row.input = withMember(row.input, member, value);
    else row.evaluated = { ...row.evaluated, [member]: value };
  }

  #end(event: TraceEvent & { t: 'end' }): void {
    const row = this.#touch(event.path);
    row.status = event.status;
    if (event.port !== undefined) row.port = event.port;
    if (event.output !== undefined) row.output = event.output;
    if (event.status === 'skipped') row.attempts = 0;
    const effort = this.#effort?.path === event.path ? this.#effort : undefined;
    row.completedAt = effort?.completedAt ?? event.at;
    if (effort !== undefined) this.#tried(row, effort);
    // History counts what the run itself cannot know.
    if (event.error !== undefined) row.error = effort ? { attempts: effort.attempts, ...event.error } : event.error;
    if (this.#kept.delete(row)) this.bytes += rowBytes(row);
    this.#open.delete(event.path);
  }

  /** An activity of the visit has ended; the visit itself may go on. */
  tried(effort: Effort): void {
    this.#tried(this.#touch(effort.path), effort);
  }

  #tried(row: Open | End, effort: Effort): void {
    row.attempts = Math.max(row.attempts ?? 0, effort.attempts);
    // Only the first attempt's start is the step's; of several, history keeps the last only.
    if ('startedAt' in row && effort.startedAt !== undefined && effort.attempts === 1) {
      row.startedAt = Math.max(row.startedAt, effort.startedAt);
    }
  }

  #touch(path: string): Open | End {
    const open = this.#open.get(path);
    if (open !== undefined) return open;
    const before = this.ends.get(path) as End | undefined;
    if (before !== undefined) return before;
    const fresh: End = { path, status: 'running' };
    this.ends.set(path, fresh);
    return fresh;
  }
}

/** The input with some of its members as they were evaluated since. */
export function withEvaluated(input: Json | undefined, evaluated: { readonly [member: string]: Json }): Json {
  return Object.entries(evaluated).reduce<Json>(
    (shown, [member, value]) => withMember(shown, member, value),
    input ?? {},
  );
}

function withMember(input: Json | undefined, member: string, value: Json): Json {
  return isPlainObject(input) ? { ...input, [member]: value } : { [member]: value };
}
