/**
 * The events of one run of a chain, numbered. They are made while its history is folded, and one history always gives
 * the same events with the same numbers, for each reader: a stream (event-stream.ts) or a summary that a stream
 * continues (run-summary.ts).
 */
import type { RunError, RunStatus, WaitingFor } from '../../contract/run/run.ts';
import { statusOf, waitingFor } from '../../engine/inbound/view.ts';
import type { TraceEvent } from '../../engine/state/protocol.ts';
import type { HistoryEvent, Unreadable } from '../../history/events.ts';
import { Fold } from '../../history/fold.ts';
import type { FailedAttempt, RowPlace, RowWindow, TraceRow } from '../../history/trace-rows.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { Chunks } from '../../steps/chunks.ts';
import { iso } from '../temporal/timestamps.ts';

/** One event of a run, without its id. */
export type RunEvent =
  | { readonly event: 'step'; readonly data: VisitEvent }
  | { readonly event: 'attempt'; readonly data: AttemptEvent }
  | {
      readonly event: 'status';
      readonly data: { readonly status: RunStatus; readonly waitingFor: readonly WaitingFor[] };
    }
  /** The steps from here on cannot be read. The stream reports only the end. */
  | { readonly event: 'unreadable'; readonly data: Unreadable };

/** A visit has begun, or has ended. */
export interface VisitEvent extends RowPlace {
  readonly path: string;
  readonly stepSlug?: string;
  /** Absent where the step has no name, or it is its slug. */
  readonly stepName?: string;
  readonly stepType?: string;
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped';
  readonly port?: string;
  /** Present where the visit has ended. */
  readonly attempts?: number;
  readonly eventId?: number;
  readonly output?: Json;
  readonly error?: RunError;
  /** ISO 8601. */
  readonly at: string;
}

/** An attempt has failed, and another follows. Unknown members are absent. */
interface AttemptEvent {
  readonly path: string;
  readonly stepSlug?: string;
  readonly stepName?: string;
  readonly stepType?: string;
  readonly attempt: number;
  readonly status: 'failed';
  readonly error?: RunError;
  /** ISO 8601. */
  readonly at?: string;
  readonly nextAttemptAt?: string;
}

type StepNames = Pick<VisitEvent, 'stepSlug' | 'stepName' | 'stepType'> & RowPlace;

export class RunEvents {
  readonly fold: Fold;
  /** The number of events emitted so far. */
  emitted = 0;
  readonly #runId: string;
  readonly #names = new Map<string, StepNames>();
  #pending: RunEvent[] = [];
  #checkedGroups = -1;
  #lastStatus = '';
  #isUnreadable = false;

  /** `window`: the rows that the fold keeps. */
  constructor(executionId: string, runId: string, window: RowWindow) {
    this.#runId = runId;
    this.fold = new Fold(executionId, window, {
      onTraceLine: (line, _place, row) => this.#onTraceEvent(line, row),
      onFailedAttempt: (path, failed) => this.#pending.push({ event: 'attempt', data: this.attempt(path, failed) }),
      tolerant: true,
    });
  }

  /** The id of the last emitted event. */
  get lastId(): string {
    return eventIdOf(this.#runId, this.emitted);
  }

  nextId(): string {
    this.emitted++;
    return this.lastId;
  }

  /** Folds one event of the history. Call `takeEvents` after it. */
  *push(event: HistoryEvent): Chunks {
    yield* this.fold.pushInChunks(event);
    this.#checkStatus();
  }

  /** Folds what has been pushed so far, as between pages of the history. */
  *settle(): Chunks {
    yield* this.fold.settleInChunks();
    this.#checkStatus();
  }

  /** The events since the last call, in order. The caller gives each an id (`nextId`). */
  takeEvents(): readonly RunEvent[] {
    const events = this.#pending;
    if (events.length > 0) this.#pending = [];
    return events;
  }

  /** The event of a failed attempt. */
  attempt(path: string, { attempt, error, completedAt }: FailedAttempt, nextAttemptAt?: number): AttemptEvent {
    const { stepSlug, stepName, stepType } = this.#nameOf(path);
    return {
      path,
      ...omitUndefined({ stepSlug, stepName, stepType }),
      attempt,
      status: 'failed',
      ...omitUndefined({ error }),
      ...(completedAt === undefined ? {} : { at: iso(completedAt) }),
      ...(nextAttemptAt === undefined ? {} : { nextAttemptAt: iso(nextAttemptAt) }),
    };
  }

  #checkStatus(): void {
    const { state, unreadable, groups } = this.fold;
    if (unreadable !== undefined) {
      if (!this.#isUnreadable) this.#pending.push({ event: 'unreadable', data: unreadable });
      this.#isUnreadable = true;
      return;
    }
    if (groups === this.#checkedGroups || state === undefined || state.ending !== undefined) return;
    this.#checkedGroups = groups;
    const data = { status: statusOf(state), waitingFor: waitingFor(state) };
    const shown = JSON.stringify(data);
    if (shown === this.#lastStatus) return;
    this.#lastStatus = shown;
    this.#pending.push({ event: 'status', data });
  }

  #onTraceEvent(line: TraceEvent, row: Readonly<Partial<TraceRow>>): void {
    if (line.t === 'begin') {
      const { path, slug: stepSlug, name: stepName, stepType, at } = line;
      const named: StepNames = { stepSlug, ...omitUndefined({ stepName }), stepType, ...rowPlaceOf(row) };
      this.#names.set(path, named);
      this.#pending.push({ event: 'step', data: { path, ...named, status: 'running', at: iso(at) } });
    } else if (line.t === 'end') {
      const { t: _t, at, path, ...ended } = line;
      const { attempts, eventId } = row;
      const more = omitUndefined({ attempts, eventId });
      this.#pending.push({ event: 'step', data: { path, ...this.#nameOf(path), ...ended, ...more, at: iso(at) } });
      this.#names.delete(path);
    }
  }

  /** Of a visit that began in an earlier run too. */
  #nameOf(path: string): StepNames {
    const known = this.#names.get(path);
    if (known !== undefined) return known;
    const before = this.fold.inherited.find((row) => row.path === path);
    if (before === undefined) return {};
    const { stepSlug, stepName, stepType } = before;
    const named = { stepSlug, ...omitUndefined({ stepName }), stepType, ...rowPlaceOf(before) };
    this.#names.set(path, named);
    return named;
  }
}

export const eventIdOf = (runId: string, number: number): string => `${runId}:${number}`;

const rowPlaceOf = ({ frame, container, branch, index, tick, visit, inner }: RowPlace): RowPlace =>
  omitUndefined({ frame, container, branch, index, tick, visit, inner });
