/**
 * The visits of a failed run that a retry opens again (ARCHITECTURE.md §3), found in its history: those whose failure
 * no step caught. A failed effect or child is open again with the config that it had, as if its result had not come.
 * Other visits begin again. A kind with several calls decides how it continues. Visits that were cancelled because of
 * the failure are open again as they were.
 *
 * The history is folded twice: first to find the failures, then without them.
 */

import type { RunError } from '../contract/run/run.ts';
import { requeueForListener } from '../engine/inbound/messages.ts';
import { openVisit, type RewindTarget, rewindOpenVisit } from '../engine/resume/rewind.ts';
import { countUsage } from '../engine/state/costs.ts';
import type { Event } from '../engine/state/protocol.ts';
import type { RunState } from '../engine/state/state.ts';
import { DEADLINE_ID } from '../engine/walk/ending.ts';
import { assert } from '../json/assert.ts';
import { isObject } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import type { Program } from '../steps/program-types.ts';
import type { FoldOptions } from './fold.ts';
import { RequestTargets } from './request-targets.ts';

/** The error codes of containers whose `details` are the errors of their branches. */
const JOIN_ERROR_CODES: ReadonlySet<string> = new Set(['join_failed', 'race_failed']);

/** Thrown for a run whose failure a retry would repeat. */
export class NotRetryable extends Error {
  readonly code = 'not_retryable';
  constructor(message: string) {
    super(message);
    this.name = 'NotRetryable';
  }
}

export class RetryPlan {
  /** The visits that the second fold has parked, which begin again. */
  readonly postponed: RewindTarget[] = [];
  readonly #failed: ReadonlySet<string>;
  readonly #timedOut: boolean;
  /** By path: the place in history where the visit failed, if it is found, and the error code. */
  readonly #places = new Map<string, { readonly at: string; readonly code: string }>();
  readonly #leftOut = new Set<string>();
  readonly #targets = new RequestTargets();

  /** `error`: the error of the run; undefined if the run was ended from outside, so that no visit failed. */
  constructor(error: RunError | undefined) {
    const paths = error === undefined ? [] : failedPaths(error);
    this.#timedOut = error?.code === 'run_timeout';
    if (error !== undefined && paths.length === 0 && !this.#timedOut)
      throw new NotRetryable(
        `The run failed as a whole (${error.code}), and would fail again. Fork it from a step with changed values.`,
      );
    this.#failed = new Set(paths);
  }

  /** Whether the places of all failures are known. */
  get found(): boolean {
    return this.#places.size === this.#failed.size;
  }

  /** The options for the first fold. */
  searchOptions(runId: string): FoldOptions {
    return {
      mapEvent: (event, { program, state, place }) => {
        this.#targets.note(program, state, event, `${runId} ${place}`);
        return event;
      },
      onTraceLine: (line, place) => {
        if (line.t === 'end' && line.status === 'failed' && this.#failed.has(line.path))
          this.#places.set(line.path, { at: `${runId} ${place}`, code: line.error?.code ?? '' });
      },
    };
  }

  /** The options for the second fold. */
  replayOptions(runId: string): FoldOptions {
    const paths = new Set<string>();
    return {
      postpone: (path, work) => {
        if (!paths.has(path)) return false;
        this.postponed.push(work);
        return true;
      },
      mapEvent: (event, { program, state, place }) => {
        if (this.#timedOut && event.type === 'fired' && event.id === DEADLINE_ID) return undefined;
        const failuresHere = [...this.#places].filter(([, { at }]) => at === `${runId} ${place}`);
        const postponeVisit = (path: string): void => void paths.add(path);
        const isKept = failuresHere
          .map(([path, { code }]) => this.#keepsEvent(program, state, event, { path, code }, postponeVisit))
          .every(Boolean);
        return isKept ? this.#targets.withTarget(event, `${runId} ${place}`) : undefined;
      },
    };
  }

  /** Checks the state after the second fold. @throws NotRetryable if a failure could not be left out. */
  checkedState(state: RunState | undefined): RunState {
    const done = this.#leftOut.size + this.postponed.length;
    if (state === undefined || state.ending !== undefined || done < this.#failed.size)
      throw new NotRetryable('The history of the run does not tell how to continue it. Fork it from a step instead.');
    return state;
  }

  #keepsEvent(
    program: Program,
    state: RunState,
    event: Event,
    { path, code }: { readonly path: string; readonly code: string },
    postponeVisit: (path: string) => void,
  ): boolean {
    const open = openVisit(state, path);
    if (open === undefined) {
      // It fails as it begins, and is parked. A loop that fails later has no visit and cannot be parked.
      if (Object.values(state.frames).some(({ loops }) => loops.some((loop) => loop.path === path)))
        throw repeats(path, 'after its body had run');
      postponeVisit(path);
      return true;
    }
    const { visit } = open;
    const step = program.steps.get(visit.key ?? visit.slug);
    if (step?.kind.class === 'container') throw repeats(path, 'after its body had run');
    const command = 'id' in event && event.id !== undefined ? state.openCommands[event.id] : undefined;
    const answeredCommand =
      (command?.type === 'run' || command?.type === 'child') && command.path === path ? command : undefined;
    const suffix = answeredCommand?.suffix;
    const decision = step?.behaviour.onRetry?.(visit.state, { code, ...omitUndefined({ suffix }) });
    if (decision === 'refuse') throw repeats(path, 'after its calls had ended');
    if (decision === undefined && answeredCommand === undefined) {
      const target = rewindOpenVisit(program, state, path);
      assert(target !== undefined, 'The visit is open.');
      this.postponed.push(target);
      if (event.type === 'message') requeueForListener(state, event);
    } else this.#leftOut.add(path);
    if (decision === 'continue') return true;
    // The costs of the result stay counted, although the call is repeated.
    if (answeredCommand !== undefined) countUsage(state, event);
    return false;
  }
}

/** The error for a visit that would repeat all its work. */
function repeats(path: string, after: string): NotRetryable {
  return new NotRetryable(
    `'${path}' failed by itself ${after}, and a retry would repeat all of that. Fork the run from a step instead.`,
  );
}

/** The paths of the visits that failed first. A container fails because of its branches. */
export function failedPaths(error: RunError): string[] {
  const { details, path } = error;
  if (JOIN_ERROR_CODES.has(error.code) && isObject(details)) {
    const inner = Object.values(details).flatMap((one) => (isError(one) ? failedPaths(one) : []));
    if (inner.length > 0) return inner;
  }
  return path === undefined ? [] : [path];
}

function isError(value: unknown): value is RunError {
  return typeof value === 'object' && value !== null && 'code' in value && 'path' in value;
}
