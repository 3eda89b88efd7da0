/**
 * The events of one run of a chain, numbered. They are made while its history is folded, and one history always gives
 * the same events with the same numbers, whoever folds it: a stream (event-stream.ts) or a summary that a stream
 * continues (run-summary.ts).
 */
import type { RunError, RunStatus, WaitingFor } from '../../contract/run.ts';
import { statusOf, waitingFor } from '../../engine/inbound/view.ts';
import type { TraceEvent } from '../../engine/state/protocol.ts';
import type { HistoryEvent, Unreadable } from '../../history/events.ts';
import { Fold } from '../../history/fold.ts';
import type { FailedAttempt, RowPlace, RowWindow, TraceRow } from '../../history/trace-rows.ts';
import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import type { Parts } from '../../steps/parts.ts';
import { iso } from '../temporal/timestamps.ts';

/** What is told of one event, before its number. */
export type News =
  | { readonly event: 'step'; readonly data: StepNews }
  | { readonly event: 'attempt'; readonly data: AttemptNews }
  | {
      readonly event: 'status';
      readonly data: { readonly status: RunStatus; readonly waitingFor: readonly WaitingFor[] };
    }
  /** The steps from here on cannot be read. The stream reports only the end. */
  | { readonly event: 'unreadable'; readonly data: Unreadable };

/** A visit has begun, or has ended. */
export interface StepNews extends RowPlace {
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

/** An attempt has failed, and another follows. Members that nothing tells are absent. */
interface AttemptNews {
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

type Named = Pick<StepNews, 'stepSlug' | 'stepName' | 'stepType'> & RowPlace;

export class RunEvents {
  readonly fold: Fold;
  /** How many have been told. */
  told = 0;
  readonly #runId: string;
  readonly #names = new Map<string, Named>();
  #news: News[] = [];
  #lookedAt = -1;
  #shown = '';
  #isUnread = false;

  /** `window`: the rows that the fold keeps. */
  constructor(executionId: string, runId: string, window: RowWindow) {
    this.#runId = runId;
    this.fold = new Fold(executionId, window, {
      heard: (line, _place, row) => this.#hear(line, row),
      failed: (path, failed) => this.#news.push({ event: 'attempt', data: this.attempt(path, failed) }),
      tolerant: true,
    });
  }

  /** The id of the last event that was told. */
  get lastId(): string {
    return idOf(this.#runId, this.told);
  }

  nextId(): string {
    this.told++;
    return this.lastId;
  }

  /** Folds one event of the history. Take the news after it. */
  *push(event: HistoryEvent): Parts {
    yield* this.fold.pushInParts(event);
    this.#look();
  }

  /** Folds what has been pushed so far, as between pages of the history. */
  *settle(): Parts {
    yield* this.fold.settleInParts();
    this.#look();
  }

  /** What has happened since the last call, in order. Each needs its number (`nextId`). */
  takeNews(): readonly News[] {
    const news = this.#news;
    if (news.length > 0) this.#news = [];
    return news;
  }

  /** A failed attempt as it is told. */
  attempt(path: string, { attempt, error, completedAt }: FailedAttempt, nextAttemptAt?: number): AttemptNews {
    const { stepSlug, stepName, stepType } = this.#nameOf(path);
    return {
      path,
      ...defined({ stepSlug, stepName, stepType }),
      attempt,
      status: 'failed',
      ...defined({ error }),
      ...(completedAt === undefined ? {} : { at: iso(completedAt) }),
      ...(nextAttemptAt === undefined ? {} : { nextAttemptAt: iso(nextAttemptAt) }),
    };
  }

  #look(): void {
    const { state, unreadable, groups } = this.fold;
    if (unreadable !== undefined) {
      if (!this.#isUnread) this.#news.push({ event: 'unreadable', data: unreadable });
      this.#isUnread = true;
      return;
    }
    if (groups === this.#lookedAt || state === undefined || state.ending !== undefined) return;
    this.#lookedAt = groups;
    const data = { status: statusOf(state), waitingFor: waitingFor(state) };
    const shown = JSON.stringify(data);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#news.push({ event: 'status', data });
  }

  #hear(line: TraceEvent, row: Readonly<Partial<TraceRow>>): void {
    if (line.t === 'begin') {
      const { path, slug: stepSlug, name: stepName, stepType, at } = line;
      const named: Named = { stepSlug, ...defined({ stepName }), stepType, ...placeOf(row) };
      this.#names.set(path, named);
      this.#news.push({ event: 'step', data: { path, ...named, status: 'running', at: iso(at) } });
    } else if (line.t === 'end') {
      const { t: _t, at, path, ...told } = line;
      const { attempts, eventId } = row;
      const more = defined({ attempts, eventId });
      this.#news.push({ event: 'step', data: { path, ...this.#nameOf(path), ...told, ...more, at: iso(at) } });
      this.#names.delete(path);
    }
  }

  /** Of a visit that began in an earlier run too. */
  #nameOf(path: string): Named {
    const known = this.#names.get(path);
    if (known !== undefined) return known;
    const before = this.fold.inherited.find((row) => row.path === path);
    if (before === undefined) return {};
    const { stepSlug, stepName, stepType } = before;
    const named = { stepSlug, ...defined({ stepName }), stepType, ...placeOf(before) };
    this.#names.set(path, named);
    return named;
  }
}

export const idOf = (runId: string, number: number): string => `${runId}:${number}`;

const placeOf = ({ frame, container, branch, index, tick, visit, inner }: RowPlace): RowPlace =>
  defined({ frame, container, branch, index, tick, visit, inner });
