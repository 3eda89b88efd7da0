/**
 * The activity `segment`: walks a copy of a run's state through its light effects (src/engine/segment.ts). It runs the
 * effects as the activities of their steps would be run, and answers with the list of their ends.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { ActivityInput, ActivityOutput } from '../../src/contract/activity.ts';
import { type SegmentConfig, type SegmentEnd, type SegmentList, SegmentWalk } from '../../src/engine/segment.ts';
import type { RunCommand } from '../../src/engine/state/protocol.ts';
import { restore } from '../../src/engine/state/serialize.ts';
import { asJson } from '../../src/json/json.ts';
import { inputOf, keptList, type ResultStore } from '../runtime/keep-result.ts';
import type { Activity } from '../runtime/wrap-activity.ts';
import { type AttemptEnd, attemptOf, type EffectObserver } from './attempt.ts';
import { Programs } from './programs.ts';

/** No effect begins later than this, in milliseconds. A local activity delays everything else of its run. */
const LOCAL_MS = 200;
const REGULAR_MS = 1_000;
/** No effect begins after this many ends, or bytes of the list. */
const MAX_ENDS = 2_000;
const MAX_LIST_BYTES = 400_000;
/** A result with which the list has more bytes than this is not part of it. Its effect is repeated alone. */
const MAX_OUTPUT_BYTES = 800_000;
/** The same for a local segment while the store of large data is away: the list must not need it. */
const AWAY_LIST_BYTES = 100_000;
const AWAY_OUTPUT_BYTES = 240_000;
/** A process that dies repeats the effects that have ended since its last heartbeat. */
const HEARTBEAT_MS = 50;
/** Heartbeats without news. */
const PULSE_MS = 1_000;
/** Many short effects must not keep the process from its other work for longer, in milliseconds. */
const TURN_MS = 20;

export interface SegmentOptions {
  readonly observeEffect?: EffectObserver;
  /** Stores large lists. */
  readonly results?: ResultStore;
}

/** `effects`: the activities of steps, by name. */
export function segmentActivity(
  effects: Readonly<Record<string, Activity>>,
  { observeEffect: observe, results }: SegmentOptions = {},
): Activity {
  const programs = new Programs();
  return async (argument) => {
    // It does not wait for a large state: once all attempts have failed, its effects run by themselves.
    const { cancellationSignal: signal } = Context.current();
    const input = await inputOf(results, argument, { signal, isLocal: true, waits: () => undefined });
    const config = input.config as unknown as SegmentConfig;
    const program = programs.get(config);
    const segment = new Segment(input, new SegmentWalk(program, restore(config.state)), config.at, {
      effects,
      observe,
      results,
    });
    return segment.run();
  };
}

interface SegmentParts {
  readonly effects: Readonly<Record<string, Activity>>;
  readonly observe: EffectObserver | undefined;
  readonly results: ResultStore | undefined;
}

class Segment {
  readonly #input: ActivityInput;
  readonly #walk: SegmentWalk;
  readonly #parts: SegmentParts;
  readonly #context = Context.current();
  readonly #limitMs: number;
  readonly #listBytes: number;
  readonly #outputBytes: number;
  readonly #ends: SegmentEnd[] = [];
  readonly #inFlight = new Map<string, AbortController>();
  readonly #began = performance.now();
  /** The clock of the run when this attempt began. */
  readonly #clockAtStart: number;
  #bytes = 0;
  #lastAt: number;
  #lastTurn = performance.now();
  #lastBeat = performance.now();
  #hasNews = false;
  #isCancelled = false;
  #problem: Error | undefined;
  #wake: () => void = () => undefined;

  /** `at`: the clock of the run. */
  constructor(input: ActivityInput, walk: SegmentWalk, at: number, parts: SegmentParts) {
    const { isLocal, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = this.#context.info;
    this.#input = input;
    this.#walk = walk;
    this.#parts = parts;
    this.#limitMs = isLocal ? LOCAL_MS : REGULAR_MS;
    const isAway = isLocal && parts.results?.isAway === true;
    this.#listBytes = isAway ? AWAY_LIST_BYTES : MAX_LIST_BYTES;
    this.#outputBytes = isAway ? AWAY_OUTPUT_BYTES : MAX_OUTPUT_BYTES;
    this.#clockAtStart = at + (isLocal ? 0 : Math.max(0, currentAttemptScheduledTimestampMs - scheduledTimestampMs));
    this.#lastAt = at;
  }

  /** Answers with the list. What is in flight when the activity is cancelled is not part of it. */
  async run(): Promise<ActivityOutput> {
    const { cancellationSignal: signal, info } = this.#context;
    const cancelled = (): void => {
      this.#isCancelled = true;
      for (const effect of this.#inFlight.values()) effect.abort();
      this.#wake();
    };
    signal.addEventListener('abort', cancelled, { once: true });
    if (signal.aborted) cancelled();
    const beating = info.isLocal ? undefined : setInterval(() => this.#beat(), HEARTBEAT_MS);
    try {
      this.#takeUp(info.heartbeatDetails);
      while (!this.#isCancelled) {
        if (this.#problem !== undefined) throw this.#problem;
        const runs = this.#mayBegin() ? this.#walk.begin() : [];
        for (const command of runs) this.#begin(command);
        if (this.#inFlight.size === 0) break;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        if (performance.now() - this.#lastTurn > TURN_MS) {
          await nextTurn();
          this.#lastTurn = performance.now();
        }
      }
      return await this.#answer();
    } finally {
      clearInterval(beating);
      signal.removeEventListener('abort', cancelled);
    }
  }

  async #answer(): Promise<ActivityOutput> {
    const output: ActivityOutput = { data: { ends: asJson(this.#ends) } };
    const { results } = this.#parts;
    return results === undefined ? output : keptList(results, output, this.#context.info);
  }

  /** The ends that the attempt before has reported. */
  #takeUp(reported: unknown): void {
    const { ends = [] } = (reported ?? {}) as Partial<SegmentList>;
    for (const end of ends) this.#take(end);
  }

  #mayBegin(): boolean {
    const isLate = performance.now() - this.#began >= this.#limitMs;
    return !isLate && !this.#walk.isOver && this.#ends.length < MAX_ENDS && this.#bytes < this.#listBytes;
  }

  #begin(command: RunCommand): void {
    const { id } = command;
    const effect = new AbortController();
    this.#inFlight.set(id, effect);
    const startedAt = this.#now();
    const ended = (end: AttemptEnd): void => {
      // It was cancelled by the walk, or with the segment.
      if (this.#inFlight.get(id) !== effect || this.#isCancelled) return;
      this.#inFlight.delete(id);
      this.#ended({ id, at: this.#now(), startedAt }, end);
      this.#wake();
    };
    const { effects, observe } = this.#parts;
    attemptOf(effects[command.activity], command, this.#input.execution, effect, observe)
      .then(ended)
      .catch((error: unknown) => {
        this.#problem = error instanceof Error ? error : new Error(String(error));
        this.#wake();
      });
  }

  #ended(times: Pick<SegmentEnd, 'id' | 'at' | 'startedAt'>, ended: AttemptEnd): void {
    const text = JSON.stringify({ ...times, ...ended });
    const isTooLarge = this.#bytes + text.length > this.#outputBytes;
    if (isTooLarge) this.#take({ ...times, again: 'alone' });
    else this.#take(JSON.parse(text) as SegmentEnd, text.length);
    this.#hasNews = true;
    if (performance.now() - this.#lastBeat >= HEARTBEAT_MS && !this.#context.info.isLocal) this.#beat();
  }

  /** `length`: of the end as JSON. */
  #take(end: SegmentEnd, length = JSON.stringify(end).length): void {
    this.#ends.push(end);
    this.#bytes += length;
    this.#lastAt = Math.max(this.#lastAt, end.at);
    for (const id of this.#walk.take(end)) {
      this.#inFlight.get(id)?.abort();
      this.#inFlight.delete(id);
    }
  }

  /** The clock of the run: it goes on by this process's own, and never back. */
  #now(): number {
    const elapsed = Math.round(performance.now() - this.#began);
    return Math.max(this.#lastAt, this.#clockAtStart + elapsed);
  }

  #beat(): void {
    const now = performance.now();
    if (!this.#hasNews && now - this.#lastBeat < PULSE_MS) return;
    this.#lastBeat = now;
    this.#hasNews = false;
    const list: SegmentList = { ends: [...this.#ends] };
    const { results } = this.#parts;
    this.#context.heartbeat(results === undefined ? list : results.reported(list));
  }
}
