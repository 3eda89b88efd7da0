/**
 * The activity `segment`: walks a copy of a run's state through its light effects (src/engine/segment.ts). It runs the
 * effects as the activities of their steps would be run, and answers with the list of their ends.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { ActivityInput, ActivityOutput } from '../../src/contract/run/activity.ts';
import { type SegmentConfig, type SegmentEffectEnd, type SegmentList, SegmentWalk } from '../../src/engine/segment.ts';
import type { RunCommand } from '../../src/engine/state/protocol.ts';
import { restore } from '../../src/engine/state/serialize.ts';
import { asJson } from '../../src/json/json.ts';
import { type ResultStore, readStoredInput, storeSegmentList } from '../runtime/store-result.ts';
import type { Activity } from '../runtime/wrap-activity.ts';
import { type AttemptEnd, type EffectObserver, runAttempt } from './attempt.ts';
import { ProgramCache } from './program-cache.ts';

/** No effect begins later than this, in milliseconds. A local activity delays everything else of its run. */
const LOCAL_BUDGET_MS = 200;
const REGULAR_BUDGET_MS = 1_000;
/** No effect begins after this many ends, or bytes of the list. */
const MAX_ENDS = 2_000;
const MAX_LIST_BYTES = 400_000;
/** A result with which the list has more bytes than this is not part of it. Its effect is repeated alone. */
const MAX_OUTPUT_BYTES = 800_000;
/** The same for a local segment while the store of large data is unavailable: the list must not need it. */
const MAX_LIST_BYTES_WITHOUT_STORE = 100_000;
const MAX_OUTPUT_BYTES_WITHOUT_STORE = 240_000;
/** A process that dies repeats the effects that have ended since its last heartbeat. */
const HEARTBEAT_MS = 50;
/** Heartbeats without news. */
const IDLE_HEARTBEAT_MS = 1_000;
/** Many short effects must not keep the process from its other work for longer, in milliseconds. */
const TIME_SLICE_MS = 20;

interface SegmentOptions {
  readonly observeEffect?: EffectObserver;
  /** Stores large lists. */
  readonly results?: ResultStore;
}

/** `effects`: the activities of steps, by name. */
export function segmentActivity(
  effects: Readonly<Record<string, Activity>>,
  { observeEffect: observe, results }: SegmentOptions = {},
): Activity {
  const programs = new ProgramCache();
  return async (argument) => {
    // It does not wait for a large state: once all attempts have failed, its effects run by themselves.
    const { cancellationSignal: signal } = Context.current();
    const input = await readStoredInput(results, argument, { signal, isLocal: true, waits: () => undefined });
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
  readonly #ends: SegmentEffectEnd[] = [];
  readonly #inFlight = new Map<string, AbortController>();
  readonly #startedAt = performance.now();
  /** The clock of the run when this attempt began. */
  readonly #clockAtStart: number;
  #bytes = 0;
  #lastAt: number;
  #lastYield = performance.now();
  #lastHeartbeat = performance.now();
  #hasUnreported = false;
  #isCancelled = false;
  #problem: Error | undefined;
  #wake: () => void = () => undefined;

  /** `at`: the clock of the run. */
  constructor(input: ActivityInput, walk: SegmentWalk, at: number, parts: SegmentParts) {
    const { isLocal, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = this.#context.info;
    this.#input = input;
    this.#walk = walk;
    this.#parts = parts;
    this.#limitMs = isLocal ? LOCAL_BUDGET_MS : REGULAR_BUDGET_MS;
    const isAway = isLocal && parts.results?.isAway === true;
    this.#listBytes = isAway ? MAX_LIST_BYTES_WITHOUT_STORE : MAX_LIST_BYTES;
    this.#outputBytes = isAway ? MAX_OUTPUT_BYTES_WITHOUT_STORE : MAX_OUTPUT_BYTES;
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
    const beating = info.isLocal ? undefined : setInterval(() => this.#sendHeartbeat(), HEARTBEAT_MS);
    try {
      this.#resumeFrom(info.heartbeatDetails);
      while (!this.#isCancelled) {
        if (this.#problem !== undefined) throw this.#problem;
        const runs = this.#mayBegin() ? this.#walk.begin() : [];
        for (const command of runs) this.#begin(command);
        if (this.#inFlight.size === 0) break;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        if (performance.now() - this.#lastYield > TIME_SLICE_MS) {
          await nextTurn();
          this.#lastYield = performance.now();
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
    return results === undefined ? output : storeSegmentList(results, output, this.#context.info);
  }

  /** The ends that the attempt before has reported. */
  #resumeFrom(reported: unknown): void {
    const { ends = [] } = (reported ?? {}) as Partial<SegmentList>;
    for (const end of ends) this.#applyEnd(end);
  }

  #mayBegin(): boolean {
    const isLate = performance.now() - this.#startedAt >= this.#limitMs;
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
      this.#recordEnd({ id, at: this.#now(), startedAt }, end);
      this.#wake();
    };
    const { effects, observe } = this.#parts;
    runAttempt(effects[command.activity], command, this.#input.execution, effect, observe)
      .then(ended)
      .catch((error: unknown) => {
        this.#problem = error instanceof Error ? error : new Error(String(error));
        this.#wake();
      });
  }

  #recordEnd(times: Pick<SegmentEffectEnd, 'id' | 'at' | 'startedAt'>, ended: AttemptEnd): void {
    const text = JSON.stringify({ ...times, ...ended });
    const isTooLarge = this.#bytes + text.length > this.#outputBytes;
    if (isTooLarge) this.#applyEnd({ ...times, again: 'alone' });
    else this.#applyEnd(JSON.parse(text) as SegmentEffectEnd, text.length);
    this.#hasUnreported = true;
    if (performance.now() - this.#lastHeartbeat >= HEARTBEAT_MS && !this.#context.info.isLocal) this.#sendHeartbeat();
  }

  /** `length`: of the end as JSON. */
  #applyEnd(end: SegmentEffectEnd, length = JSON.stringify(end).length): void {
    this.#ends.push(end);
    this.#bytes += length;
    this.#lastAt = Math.max(this.#lastAt, end.at);
    for (const id of this.#walk.applyEnd(end)) {
      this.#inFlight.get(id)?.abort();
      this.#inFlight.delete(id);
    }
  }

  /** The clock of the run: it advances by this process's own, and never goes back. */
  #now(): number {
    const elapsed = Math.round(performance.now() - this.#startedAt);
    return Math.max(this.#lastAt, this.#clockAtStart + elapsed);
  }

  #sendHeartbeat(): void {
    const now = performance.now();
    if (!this.#hasUnreported && now - this.#lastHeartbeat < IDLE_HEARTBEAT_MS) return;
    this.#lastHeartbeat = now;
    this.#hasUnreported = false;
    const list: SegmentList = { ends: [...this.#ends] };
    const { results } = this.#parts;
    this.#context.heartbeat(results === undefined ? list : results.reported(list));
  }
}
