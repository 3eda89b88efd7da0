/**
 * The trace of a run as rows: one for each visit of a step, pure steps included, in order of start. The core reports
 * begin and end of visits; history has the real times and the attempts of effects.
 */

import type { MadeDecision, RunError } from '../contract/run/run.ts';
import { type FailureCause, failureOfCause } from '../engine/state/failure-causes.ts';
import type { Place, TraceEvent } from '../engine/state/protocol.ts';
import { jsonBytes } from '../json/bytes.ts';
import { asJson, isPlainObject, type Json } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';

/** Where the visit is, or the visit of an inner row. */
export interface RowPlace extends Place {
  /** A call within a visit, such as an agent's, in the frame of the visit. */
  readonly inner?: true;
}

export interface TraceRow extends RowPlace {
  readonly path: string;
  readonly stepSlug: string;
  /** Absent where the step has no name, or it is its slug. */
  readonly stepName?: string;
  readonly stepType: string;
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'skipped';
  readonly port?: string;
  /** 0 for a skipped step. */
  readonly attempts: number;
  readonly input?: Json;
  /** The envelope `{type, data, meta?}`. */
  readonly output?: Json;
  readonly error?: RunError;
  /** Who completed or failed an activity of the visit by hand (`temporal activity complete`). */
  readonly endedBy?: string;
  /** Of an approval, also of an agent's call: present once it is decided, which may be before the end. */
  readonly decision?: MadeDecision;
  /** Failed attempts that another attempt followed, as far as history has them. */
  readonly failures?: readonly FailedAttempt[];
  /** For an open effect that has failed before or is paused: its attempt, from the server. */
  readonly retrying?: Retrying;
  /** The event of the history that opened the visit's first activity, timer or child. */
  readonly eventId?: number;
  /** The run of the chain whose history has that event. Set where runs are joined. */
  readonly runId?: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly completedAt?: number;
}

/** A visit without its values. */
export type RowOutline = Omit<
  TraceRow,
  'input' | 'output' | 'error' | 'endedBy' | 'decision' | 'failures' | 'retrying'
>;

/** Members that history does not have are absent. */
export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly error?: RunError;
  /** Epoch milliseconds. */
  readonly startedAt?: number;
  readonly completedAt?: number;
}

export interface Retrying {
  readonly lastError?: RunError;
  /** Epoch milliseconds; absent while an attempt runs and while the activity is paused. */
  readonly nextAttemptAt?: number;
  readonly paused?: true;
  /** Absent where there is no limit. */
  readonly maxAttempts?: number;
}

/** What a run adds to the row of a visit that began in an earlier run; open while `completedAt` is absent. */
export type RowEnd = Pick<TraceRow, 'path' | 'status'> &
  Partial<Omit<TraceRow, 'path' | 'status' | 'stepSlug' | 'stepType' | 'startedAt'>> & {
    /** Members of the input that were rendered again. */
    readonly evaluated?: { readonly [member: string]: Json };
  };

/** The rows of a run to keep, by their number in the run. Other rows are only counted. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
  /** The window ends when the kept rows reach this size. Default: no limit. */
  readonly bytes?: number;
}

const ROW_BYTES = 300;
/** A run has fewer: it continues as new. The others are only counted. */
const MAX_BRIEFS = 200_000;

/** The size of a row as JSON, about. */
export function rowBytes(row: Pick<TraceRow, 'input' | 'output' | 'error' | 'decision' | 'failures'>): number {
  const { input, output, error, decision, failures = [] } = row;
  try {
    let bytes = ROW_BYTES;
    if (input !== undefined) bytes += jsonBytes(input);
    if (output !== undefined) bytes += jsonBytes(output);
    if (decision !== undefined) bytes += jsonBytes(asJson(decision));
    if (error?.details !== undefined) bytes += jsonBytes(error.details);
    for (const failed of failures) bytes += ROW_BYTES + jsonBytes(failed.error?.details);
    return bytes;
  } catch {
    // Nested too deeply to be written: readers of the row leave its values out.
    return ROW_BYTES;
  }
}

/** An activity or local activity of a visit, from history. Times are epoch milliseconds. */
interface EffectTimes {
  readonly path: string;
  readonly attempts: number;
  /** Absent if it is not known, or known only for a later attempt. */
  readonly startedAt?: number;
  readonly completedAt: number;
  readonly endedBy?: string;
}

/** The attempts of an open activity, as the server describes it. Times are epoch milliseconds. */
export interface PendingActivity {
  /** The number of the current or the next attempt. */
  readonly attempt: number;
  readonly lastFailure?: FailureCause;
  /** Absent while an attempt runs. */
  readonly nextAttemptAt?: number;
  /** The activity is paused through Temporal, and has no attempts until it is unpaused. */
  readonly paused?: true;
  /** When the last attempt that began did so, and when the last one that ended did. */
  readonly lastStartedAt?: number;
  readonly lastEndedAt?: number;
  /** Absent where there is no limit. */
  readonly maxAttempts?: number;
}

type MutableRow = { -readonly [K in keyof TraceRow]: TraceRow[K] };
type MutableRowEnd = { -readonly [K in keyof RowEnd]: RowEnd[K] };

export class Rows {
  /** Its end moves when the bytes are used up. */
  window: RowWindow;
  /** The size of the kept rows that have ended. */
  bytes = 0;
  /** The rows of the window; the index is their number less `window.from`. */
  readonly rows: TraceRow[] = [];
  /** Visits that began before this run and continued in it. */
  readonly ends = new Map<string, RowEnd>();
  /** The number of visits that began. */
  count = 0;
  /** Every visit that began, up to a limit. */
  readonly briefs: RowOutline[] = [];
  readonly #open = new Map<string, MutableRow>();
  /** The briefs of open visits. */
  readonly #briefOf = new Map<MutableRow | MutableRowEnd, { -readonly [K in keyof RowOutline]: RowOutline[K] }>();
  /** Where the visits are that were open when the run took over. */
  readonly #inherited = new Map<string, RowPlace>();
  /** Open rows of the window, whose size is not counted yet. */
  readonly #unmeasured = new Set<MutableRow | MutableRowEnd>();
  /** Open visits that have had an activity. */
  readonly #visitsWithActivity = new Set<string>();
  #endingEffect: EffectTimes | undefined;

  constructor(window: RowWindow) {
    this.window = window;
  }

  /** The activity that ended the next visit to end; valid for one call. */
  setEndingEffect(effect: EffectTimes | undefined): void {
    this.#endingEffect = effect;
  }

  /** Takes a line of the core's trace. Returns the row of its visit. */
  readonly addLine = (event: TraceEvent): Readonly<Partial<TraceRow>> => {
    switch (event.t) {
      case 'begin':
        return this.#begin(event);
      case 'input': {
        const row = this.#rowAt(event.path);
        row.input = event.input;
        return row;
      }
      case 'evaluated':
        return this.#evaluated(event);
      case 'decided': {
        const row = this.#rowAt(event.path);
        row.decision = event.decision;
        return row;
      }
      // The state at the end of the fold shows whether a visit waits.
      case 'wait':
        return {};
      case 'end':
        return this.#end(event);
    }
  };

  /** Adds the server's description of an open activity, by the path of its visit. */
  addPendingActivity(path: string, pending: PendingActivity): void {
    const { attempt, lastFailure, nextAttemptAt, paused, lastStartedAt, lastEndedAt, maxAttempts } = pending;
    const row = this.#rowAt(path);
    row.attempts = Math.max(row.attempts ?? 0, attempt);
    const lastError = lastFailure === undefined ? undefined : failureOfCause(lastFailure);
    const isRunning = nextAttemptAt === undefined && paused === undefined;
    if (lastError !== undefined && attempt > 1) {
      const startedAt = isRunning ? undefined : lastStartedAt;
      this.addFailedAttempt(path, {
        attempt: attempt - 1,
        error: lastError,
        ...omitUndefined({ startedAt, completedAt: lastEndedAt }),
      });
    }
    this.#updateBrief(row);
    if (lastError === undefined && paused === undefined) return;
    row.retrying = omitUndefined({ lastError, nextAttemptAt, paused, maxAttempts });
  }

  /** Adds a failed attempt of the visit's effect that another attempt followed. */
  addFailedAttempt(path: string, failed: FailedAttempt): void {
    const row = this.#rowAt(path);
    row.failures = [...(row.failures ?? []).filter(({ attempt }) => attempt !== failed.attempt), failed];
  }

  #begin(event: TraceEvent & { t: 'begin' }): MutableRow {
    const row: MutableRow = {
      path: event.path,
      stepSlug: event.slug,
      ...omitUndefined({ stepName: event.name }),
      stepType: event.stepType,
      status: 'running',
      attempts: 1,
      ...(event.within === undefined ? event.place : this.#innerPlace(event.within)),
      startedAt: event.at,
    };
    if (this.briefs.length < MAX_BRIEFS) {
      const brief = { ...row };
      this.briefs.push(brief);
      this.#briefOf.set(row, brief);
    }
    const number = this.count++;
    const { from, to, bytes } = this.window;
    if (number >= from && number < to) {
      if (bytes === undefined || this.bytes < bytes || this.rows.length === 0) {
        this.rows.push(row);
        this.#unmeasured.add(row);
      } else this.window = { ...this.window, to: number };
    }
    this.#open.set(event.path, row);
    return row;
  }

  /** The frame of the visit whose inner row begins. */
  #innerPlace(path: string): RowPlace {
    const { frame, container, branch, index, tick } = this.#open.get(path) ?? this.#inherited.get(path) ?? {};
    return { ...omitUndefined({ frame, container, branch, index, tick }), inner: true };
  }

  /** The visits that were open when the run took over. */
  inherit(open: readonly (RowPlace & { readonly path: string })[]): void {
    for (const { path, ...place } of open) this.#inherited.set(path, place);
  }

  /** An activity, timer or child of the visit was opened by this event. */
  opened(path: string, eventId: number): void {
    const row = this.#rowAt(path);
    row.eventId ??= eventId;
    this.#updateBrief(row);
  }

  /** Brings the row's brief up to date. */
  #updateBrief(row: MutableRow | MutableRowEnd): void {
    const brief = this.#briefOf.get(row);
    if (brief === undefined) return;
    const { status, port, attempts, eventId, completedAt } = row as MutableRow;
    const { startedAt } = row as MutableRow;
    Object.assign(brief, omitUndefined({ status, port, attempts, eventId, completedAt, startedAt }));
  }

  #evaluated({ path, member, value }: TraceEvent & { t: 'evaluated' }): MutableRow | MutableRowEnd {
    const row = this.#rowAt(path);
    if ('stepSlug' in row) row.input = withMember(row.input, member, value);
    else row.evaluated = { ...row.evaluated, [member]: value };
    return row;
  }

  #end(event: TraceEvent & { t: 'end' }): MutableRow | MutableRowEnd {
    const row = this.#rowAt(event.path);
    row.status = event.status;
    if (event.port !== undefined) row.port = event.port;
    if (event.output !== undefined) row.output = event.output;
    if (event.status === 'skipped') row.attempts = 0;
    const effect = this.#endingEffect?.path === event.path ? this.#endingEffect : undefined;
    if (effect !== undefined) this.#addEffect(row, effect);
    row.completedAt = Math.max(effect?.completedAt ?? event.at, 'startedAt' in row ? row.startedAt : 0);
    this.#visitsWithActivity.delete(event.path);
    // History has the number of attempts, which the run itself does not know.
    if (event.error !== undefined) row.error = effect ? { attempts: effect.attempts, ...event.error } : event.error;
    if (this.#unmeasured.delete(row)) this.bytes += rowBytes(row);
    this.#updateBrief(row);
    this.#briefOf.delete(row);
    this.#open.delete(event.path);
    return row;
  }

  /** Adds an activity of the visit that has ended; the visit may continue. */
  addEffect(effect: EffectTimes): void {
    this.#addEffect(this.#rowAt(effect.path), effect);
  }

  #addEffect(row: MutableRow | MutableRowEnd, effect: EffectTimes): void {
    row.attempts = Math.max(row.attempts ?? 0, effect.attempts);
    if (effect.endedBy !== undefined) row.endedBy = effect.endedBy;
    // The start of the first attempt is that of the step. Of several attempts history has only the last start.
    const isFirst = effect.attempts === 1 && !this.#visitsWithActivity.has(row.path);
    if ('startedAt' in row && effect.startedAt !== undefined && isFirst) {
      row.startedAt = Math.max(row.startedAt, effect.startedAt);
    }
    this.#visitsWithActivity.add(row.path);
    this.#updateBrief(row);
  }

  #rowAt(path: string): MutableRow | MutableRowEnd {
    const open = this.#open.get(path);
    if (open !== undefined) return open;
    const before = this.ends.get(path) as MutableRowEnd | undefined;
    if (before !== undefined) return before;
    const fresh: MutableRowEnd = { path, status: 'running' };
    this.ends.set(path, fresh);
    return fresh;
  }
}

/** The input with the members that were rendered since. */
export function withEvaluated(input: Json | undefined, evaluated: { readonly [member: string]: Json }): Json {
  return Object.entries(evaluated).reduce<Json>(
    (shown, [member, value]) => withMember(shown, member, value),
    input ?? {},
  );
}

function withMember(input: Json | undefined, member: string, value: Json): Json {
  return isPlainObject(input) ? { ...input, [member]: value } : { [member]: value };
}
